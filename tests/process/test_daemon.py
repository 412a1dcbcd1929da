"""The daemon as people run it: a process that follows logs while they are written, and ends when told to."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.lock import WRITER, lock
from tests.dump import differences, dump
from tests.process.watching import CONFIG, DATABASE, LINES, Home, end, say_in_database, say_in_lines, wait_for

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="ended by signals that Windows does not have"),
]
resource = pytest.importorskip("resource", reason="there are no limits of processes")
ODD_ADAPTER = """
from agent_raw_rag.adapters.base import Adapter, Root, digest
from agent_raw_rag.models import Message, Role, Shape, Source, Text

def parse(record, state):
    return [Message(Role.USER, record.data["id"], (Text(record.data["text"]),), None)]

def start(source):
    if "boom" in open(source.path, encoding="utf-8").read():
        raise KeyError("boom")
    return {"session": source.session}

ADAPTER = Adapter(
    agent="odd", title="Odd", roots=lambda env, home: (Root(f"{home}/.odd", ("*.jsonl",)),), parse=parse,
    classify=lambda root, path: Source("odd", f"{root.path}/{path}", root.path, Shape.LINES, session=path),
    start=start,
)
"""
RARELY = ("--interval", "3600")
"""So that what is found is found by events."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.of(tmp_path)


def test_what_is_said_while_it_watches_is_found(home: Home) -> None:
    with home.watching(*RARELY) as daemon:
        say_in_lines(home.path / LINES, "The heron codec drops the last frame.")
        home.finds_soon("The heron codec drops the last frame.")
        lag = wait_for(lambda: home.beat().agents["claude"].sources, "the lag of its source")
        assert list(lag) == [str(home.path / LINES)] and lag[str(home.path / LINES)] >= 0
        say_in_database(home.path / DATABASE, "Use the walnut allocator for parts.")
        home.finds_soon("Use the walnut allocator for parts.")
        assert end(daemon) == 0
    assert home.beat().ended is not None


def test_it_ends_with_all_committed_and_a_plain_run_adds_nothing(home: Home, tmp_path: Path) -> None:
    with home.watching(*RARELY) as daemon:
        for number in range(5):
            say_in_lines(home.path / LINES, f"Remark {number} about the heron codec.")
        home.finds_soon("Remark 4 about the heron codec.")
        assert end(daemon, signal.SIGINT) == 0
    followed = stored(home)
    Runtime.load(None, home.variables).ingest(embed=False)
    assert differences(stored(home), followed) == []
    once = Home({**home.variables, "RAW_RAG_HOME": str(tmp_path / "once")})
    Runtime.load(None, once.variables).ingest(embed=False)
    assert differences(stored(once), followed) == []


def test_a_folder_that_appears_later_is_watched(tmp_path: Path) -> None:
    home = Home.of(tmp_path, logs=False)
    whole = Home.of(tmp_path / "other")
    with home.watching(*RARELY):
        target = (home.path / LINES).parent
        shutil.copytree((whole.path / LINES).parent, target)
        say_in_lines(home.path / LINES, "It appeared late, the ibex said.")
        home.finds_soon("It appeared late, the ibex said.")
        shutil.rmtree(target)
        wait_for(lambda: Runtime.load(None, home.variables).status().agents["claude"].gone_sources, "noticing the end")
        shutil.copytree((whole.path / LINES).parent, target)
        say_in_lines(home.path / LINES, "It came back, the ibex said.")
        home.finds_soon("It came back, the ibex said.")


def test_the_scan_finds_what_no_event_told(home: Home) -> None:
    """Events are lost where a folder is reached by a link that is set anew."""
    real, moved = home.path / ".claude", home.path / "moved"
    shutil.move(real, moved)
    empty = home.path / "empty"
    empty.mkdir()
    real.symlink_to(empty)
    with home.watching("--interval", "1"):
        real.unlink()
        real.symlink_to(moved)
        say_in_lines(home.path / LINES, "Behind the link sits an okapi.")
        home.finds_soon("Behind the link sits an okapi.")


def test_vectors_follow(home: Home) -> None:
    with home.watching(*RARELY):
        say_in_lines(home.path / LINES, "The heron codec drops the last frame.")
        home.finds_soon("The heron codec drops the last frame.")
        wait_for(
            lambda: home.beat().backlog == 0 and not Runtime.load(None, home.variables).status().backlog, "vectors"
        )


def test_a_busy_machine_waits_with_vectors_and_not_with_text(tmp_path: Path) -> None:
    home = Home.of(tmp_path, config=CONFIG.replace("busy_load = 0", "busy_load = 0.000001"))
    with home.watching(*RARELY):
        say_in_lines(home.path / LINES, "The heron codec drops the last frame.")
        home.finds_soon("The heron codec drops the last frame.")
        if os.getloadavg()[0] < 0.1:
            pytest.skip("nobody else uses this machine")
        wait_for(lambda: home.beat().vectors_wait, "a reason to wait")
        assert Runtime.load(None, home.variables).status().embedded == 0


def test_a_second_daemon_says_who_runs(home: Home) -> None:
    with home.watching() as first:
        second = home.start()
        output, complaint = second.communicate(timeout=60)
        assert (second.returncode, output) == (1, "")
        assert f"process {first.pid}, since 20" in complaint
        assert "Traceback" not in complaint


def test_killed_it_leaves_nothing_in_the_way(home: Home) -> None:
    with home.watching(*RARELY) as daemon:
        say_in_lines(home.path / LINES, "Before the kill there was a tapir.")
        end(daemon, signal.SIGKILL)
    assert not home.state().running
    assert home.beat().ended is None
    with home.watching(*RARELY):
        assert home.finds("Before the kill there was a tapir.")


def test_a_changed_configuration_is_taken(home: Home) -> None:
    with home.watching(*RARELY) as daemon:
        (home.store / "config.toml").write_text(f"{CONFIG}\n[sources.claude]\nenabled = false\n", encoding="utf-8")
        os.kill(daemon.pid, signal.SIGHUP)
        wait_for(lambda: "claude" not in home.beat().agents and home.beat().agents, "the new configuration")
        assert end(daemon) == 0


def test_a_bad_configuration_is_refused_and_the_old_one_stays(home: Home) -> None:
    with home.watching(*RARELY) as daemon:
        (home.store / "config.toml").write_text(f"{CONFIG}\n[search]\ntop_q = 3\n", encoding="utf-8")
        os.kill(daemon.pid, signal.SIGHUP)
        problem = wait_for(lambda: home.beat().config_problem, "the refusal")
        assert "search.top_q" in problem
        assert "search.top_q" in home.log()
        say_in_lines(home.path / LINES, "The old rules still hold, said the gnu.")
        (home.store / "config.toml").write_text(CONFIG, encoding="utf-8")
        home.finds_soon("The old rules still hold, said the gnu.")
        os.kill(daemon.pid, signal.SIGHUP)
        wait_for(lambda: home.beat().config_problem is None, "the mended configuration")


def test_a_source_that_fails_stops_no_other(home: Home) -> None:
    (home.path / DATABASE).write_bytes(b"this is no database, whatever its name says" * 100)
    with home.watching(*RARELY):
        failing = wait_for(lambda: home.beat().agents["opencode"].failing, "the failure")
        assert list(failing) == [str(home.path / DATABASE)]
        say_in_lines(home.path / LINES, "All others go on, said the yak.")
        home.finds_soon("All others go on, said the yak.")
        shutil.copy(Home.of(home.path / "other").path / DATABASE, home.path / DATABASE)
        wait_for(lambda: not home.beat().agents["opencode"].failing, "the mended source")


def test_a_store_that_others_write_to_is_tried_again(home: Home) -> None:
    with home.watching(*RARELY):
        with lock(str(home.store), WRITER, wait_seconds=10, purpose="a test"):
            say_in_lines(home.path / LINES, "It waits its turn, like the crane.")
            waiting = wait_for(lambda: home.beat().agents["claude"].waiting, "the wait")
            assert waiting == 1
            assert "a test" in str(home.beat().error)
        home.finds_soon("It waits its turn, like the crane.")
        wait_for(lambda: not home.beat().agents["claude"].waiting, "the end of the wait")


def test_a_bug_met_in_one_source_stops_no_other(home: Home, tmp_path: Path) -> None:
    """A third-party adapter that fails on one of its files."""
    plugin = tmp_path / "plugin"
    (plugin / "odd-1.dist-info").mkdir(parents=True)
    (plugin / "odd-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: odd\nVersion: 1\n", encoding="utf-8"
    )
    points = "[agent_raw_rag.adapters]\nodd = odd_adapter:ADAPTER\n"
    (plugin / "odd-1.dist-info" / "entry_points.txt").write_text(points, encoding="utf-8")
    (plugin / "odd_adapter.py").write_text(ODD_ADAPTER, encoding="utf-8")
    logs = home.path / ".odd"
    logs.mkdir()
    for name, text in (("a", "The puma speaks."), ("b", "boom"), ("c", "The lynx answers.")):
        (logs / f"{name}.jsonl").write_text(f'{{"text": "{text}", "id": "{name}"}}\n', encoding="utf-8")
    home = Home({**home.variables, "PYTHONPATH": str(plugin)})
    with home.watching(*RARELY):
        failing = wait_for(lambda: home.beat().agents["odd"].failing, "the failure")
        assert failing == {str(logs / "b.jsonl"): "KeyError: 'boom'"}
        home.finds_soon("The puma speaks.")
        home.finds_soon("The lynx answers.")
        assert "Traceback" in home.log()
        (logs / "b.jsonl").write_text('{"text": "The bug is gone, said the ocelot.", "id": "b"}\n', encoding="utf-8")
        home.finds_soon("The bug is gone, said the ocelot.")
        wait_for(lambda: not home.beat().agents["odd"].failing, "the mended source")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limit of another process can be set on Linux only")
def test_a_full_disk_is_told_and_tried_again(home: Home) -> None:
    """A limit on the size of files stands for it."""
    with home.watching(*RARELY) as daemon:
        biggest = max(path.stat().st_size for path in home.store.rglob("*"))
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (biggest, resource.RLIM_INFINITY))
        long = "no room for the bison here, it said. " * 200

        def say_and_see() -> str | None:
            say_in_lines(home.path / LINES, long)
            return home.beat().error

        wait_for(say_and_see, "the error")
        assert daemon.poll() is None
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        say_in_lines(home.path / LINES, "Quagga dune again.")
        home.finds_soon("Quagga dune again.")
        assert end(daemon) == 0
    followed = stored(home)
    Runtime.load(None, home.variables).ingest(embed=False)
    assert differences(stored(home), followed) == []


@pytest.mark.timeout(300)
def test_told_to_end_in_the_middle_of_a_large_log_it_does_and_goes_on_next_time(home: Home, tmp_path: Path) -> None:
    remarks = (f"Remark {number} of a very long talk with the moose." for number in range(6_000))
    say_in_lines(home.path / LINES, *remarks)
    daemon = home.start(*RARELY)
    wait_for(lambda: home.turns() > 1000, "the first batches")
    assert end(daemon) == 0
    daemon.communicate()
    assert not home.beat().caught_up
    Runtime.load(None, home.variables).ingest(embed=False)
    once = Home({**home.variables, "RAW_RAG_HOME": str(tmp_path / "once")})
    Runtime.load(None, once.variables).ingest(embed=False)
    assert stored(once) == stored(home)


def test_the_store_stays_the_users_alone(home: Home) -> None:
    with home.watching() as daemon:
        end(daemon)
    open_to_others = [path for path in home.store.rglob("*") if path.stat().st_mode & 0o077]
    assert open_to_others == []


def stored(home: Home) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(home.store / "raw_rag.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return dump(connection)


def test_a_store_that_was_removed_is_made_again_from_all_logs(home: Home) -> None:
    with home.watching("--interval", "1") as daemon:
        stored_before = home.turns()
        for file in home.store.glob("raw_rag.db*"):
            file.unlink()
        wait_for(lambda: home.turns() == stored_before, "all turns again")
        assert home.beat().pid == daemon.pid and "was removed or replaced" in home.log()
        assert end(daemon) == 0


def test_a_folder_that_was_removed_is_watched_for_by_one_daemon_still(home: Home) -> None:
    with home.watching("--interval", "1") as daemon:
        stored_before, config = home.turns(), (home.store / "config.toml").read_bytes()
        moved = home.store.rename(home.store.with_name("moved"))
        home.store.mkdir(mode=0o700)
        (home.store / "config.toml").write_bytes(config)
        wait_for(lambda: home.turns() == stored_before, "all turns again")
        wait_for(lambda: home.state().running, "its lock in the new folder")
        second = home.start()
        said = second.communicate(timeout=60)[1]
        assert second.returncode == 1 and f"process {daemon.pid}" in said
        assert end(daemon) == 0
    assert moved.is_dir() and "Traceback" not in home.log()


def test_what_could_not_be_read_at_first_is_not_said_to_be_read(home: Home) -> None:
    with lock(str(home.store), WRITER, wait_seconds=0, purpose="a test"):
        daemon = home.start(*RARELY)
        beat = wait_for(
            lambda: (one := home.state().heartbeat) and any(a.waiting for a in one.agents.values()) and one, "it"
        )
        assert beat and not beat.caught_up
    wait_for(lambda: home.beat().caught_up, "the logs")
    assert end(daemon) == 0
    daemon.communicate()


def test_a_log_that_cannot_be_written_is_said_once_on_stderr(home: Home) -> None:
    (home.store / "log" / "daemon.log").mkdir(parents=True)
    with home.watching(*RARELY) as daemon:
        assert end(daemon) == 0
        assert daemon.stderr is not None
        said = daemon.stderr.read()
    assert said.count("cannot be written") == 1 and "Traceback" not in said and "ended" in said
