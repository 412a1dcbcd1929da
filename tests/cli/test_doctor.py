"""raw-rag doctor: each thing that can be wrong is found, with a remedy that works, and what is safe is mended."""

from __future__ import annotations

import gc
import json
import os
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer.main

from agent_raw_rag import __version__
from agent_raw_rag.adapters.registry import adapter
from agent_raw_rag.cli import ingest
from agent_raw_rag.cli.app import app
from agent_raw_rag.cli.checks.finding import Finding, mended
from agent_raw_rag.cli.checks.retention import retention
from agent_raw_rag.runtime import Runtime, heartbeat
from agent_raw_rag.runtime.heartbeat import AgentBeat, Heartbeat
from agent_raw_rag.service.systemd import UNIT
from agent_raw_rag.store.lock import DAEMON, lock
from tests.cli.commands import Environment, run, run_ingest
from tests.samples import sample_environment
from tests.service.fakes import Fake

SYSTEM = {"chmod", "date", "export", "kill", "ls", "mv", "rm", "sudo", "unset", "uv"}
"""Commands of others that a remedy may name."""
HASHING = '[encoder]\nname = "hashing"\n'
DAY = 86_400


def listed(environment: Environment, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(environment, "doctor", "--json", *options).stdout)
    return found


def findings(environment: Environment, status: int = 0) -> dict[tuple[str, str], list[dict[str, Any]]]:
    result = run(environment, "doctor", "--json")
    assert result.exit_code == status, result.output
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in json.loads(result.stdout):
        found.setdefault((one["check"], one["level"]), []).append(one)
    return found


def bad(environment: Environment) -> set[str]:
    """The checks that are not well. That no agent is connected, and that a toy ranks, is so in these tests."""
    return {one["check"] for one in listed(environment) if one["level"] != "ok"} - {"connected", "model"}


def test_trigger_rules_that_are_broken_are_found_with_file_and_line(bare: Environment) -> None:
    own = home(bare) / "triggers.toml"
    own.write_text("\nnonsense = 1\n", encoding="utf-8")
    (found,) = findings(bare, 1)[("triggers", "error")]
    assert f"{own}, line 2: unknown key 'nonsense'" in found["text"]
    assert "raw-rag triggers list" in found["remedy"]
    own.write_text("off = []\n", encoding="utf-8")
    assert "triggers" not in bad(bare)


def home(environment: Environment) -> Path:
    return Path(environment["RAW_RAG_HOME"])


def store(environment: Environment) -> Path:
    return home(environment) / "raw_rag.db"


def parsed(command: str) -> None:
    """Fails if a command of ours would not be understood, or one of others is not known here."""
    words = shlex.split(command)
    if words[0] not in ("raw-rag", "raw-rag-ingest"):
        assert words[0] in SYSTEM, command
        return
    current: Any = typer.main.get_command(app if words[0] == "raw-rag" else ingest.app)
    rest = words[1:]
    while hasattr(current, "commands"):
        current, rest = current.commands[rest[0]], rest[1:]
    current.make_context(words[0], rest)


def told_commands(remedy: str) -> list[str]:
    return remedy.split("`")[1::2]


@pytest.fixture
def filled(tmp_path: Path) -> Environment:
    """A home whose store has vectors and a lexical index."""
    environment = sample_environment(tmp_path, config=HASHING)
    log = next(Path(environment["HOME"]).glob(".claude/projects/*/7c1e*.jsonl"))
    template = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    with log.open("a", encoding="utf-8") as stream:
        for number in range(90):
            said = {**template, "type": "user", "uuid": f"u{number}", "timestamp": "2026-09-22T13:50:00.000Z"}
            said["message"] = {
                "role": "user",
                "content": f"Case {number}: " + " ".join(f"w{number}x{n}" for n in range(60)),
            }
            stream.write(json.dumps(said) + "\n")
    assert run_ingest(environment, "-q").exit_code == 0
    return environment


# ---------------------------------------------------------------- all is well


def test_all_is_well_after_an_ingest_and_a_connection(own: Environment) -> None:
    assert run(own, "connect", "claude").exit_code == 0
    found = findings(own)
    assert {level for _, level in found} == {"ok"}, found
    said = run(own, "doctor").stdout
    assert "ok: store" in said


def test_a_filled_store_agrees_with_all_that_is_derived_from_it(filled: Environment) -> None:
    found = findings(filled)
    assert "agree" in found[("words", "ok")][0]["text"] and "agree" in found[("vector cache", "ok")][0]["text"]
    assert not found[("words", "ok")][0]["text"].startswith("the lexical index holds 0")


def test_every_finding_has_the_same_keys(unread: Environment) -> None:
    for one in listed(unread):
        assert list(one) == ["level", "check", "text", "remedy", "fixable", "fixed"]


def test_nothing_is_changed_by_looking(filled: Environment) -> None:
    gc.collect()  # connections that the ingest in this process left are closed now, and not while we look
    before = {path: (path.stat().st_mode, path.stat().st_mtime_ns) for path in home(filled).rglob("*")}
    run(filled, "doctor")
    after = {path: (path.stat().st_mode, path.stat().st_mtime_ns) for path in home(filled).rglob("*")}
    assert {path for path in before if path.suffix not in (".lock", ".db-shm")} <= set(after)
    assert [
        path for path in before if "-shm" not in path.name and path != home(filled) and after[path] != before[path]
    ] == []


# ---------------------------------------------------------------- hostile states


def _garbage(environment: Environment) -> None:
    store(environment).write_bytes(b"garbage " * 1000)


def _damage(environment: Environment) -> None:
    content = bytearray(store(environment).read_bytes())
    content[20_000:60_000] = b"\xa5" * 40_000
    store(environment).write_bytes(content)


def _empty_store(environment: Environment) -> None:
    for path in home(environment).glob("raw_rag.db*"):
        path.unlink()
    store(environment).touch(0o600)


def _store_is_a_folder(environment: Environment) -> None:
    for path in home(environment).glob("raw_rag.db*"):
        path.unlink()
    store(environment).mkdir(0o700)


def _no_home(environment: Environment) -> None:
    shutil.rmtree(home(environment))


def _home_is_a_file(environment: Environment) -> None:
    shutil.rmtree(home(environment))
    home(environment).write_text("x", encoding="utf-8")


def _readable(environment: Environment) -> None:
    store(environment).chmod(0o644)
    (home(environment) / "vectors").chmod(0o755)


def _cache(environment: Environment) -> Path:
    return next(home(environment).glob("vectors/*.cache"))


def _replaced(path: Path, content: bytes | bytearray) -> None:
    """Another file in its place: this process may have the old one mapped, and would die of its end."""
    draft = path.with_name("draft")
    draft.write_bytes(content)
    draft.chmod(0o600)
    draft.replace(path)


def _cut_cache(environment: Environment) -> None:
    _replaced(_cache(environment), _cache(environment).read_bytes()[:9000])


def _no_cache(environment: Environment) -> None:
    _cache(environment).unlink()


def _garbled_block(environment: Environment) -> None:
    with _cache(environment).open("r+b") as stream:
        stream.seek(4096 + 1024 * 52 + 5 * 256)  # codes of the fifth row: the header is sound
        stream.write(b"\x55" * 300)


def _vectors_is_a_file(environment: Environment) -> None:
    shutil.rmtree(home(environment) / "vectors")
    (home(environment) / "vectors").write_text("x", encoding="utf-8")


def _no_index(environment: Environment) -> None:
    shutil.rmtree(home(environment) / "lexical")


def _index_is_a_file(environment: Environment) -> None:
    _no_index(environment)
    (home(environment) / "lexical").write_text("x", encoding="utf-8")


def _garbled(suffix: str) -> Callable[[Environment], None]:
    def garble(environment: Environment) -> None:
        path = next(home(environment).glob(f"lexical/*/*.{suffix}"))
        content = bytearray(path.read_bytes())
        middle = len(content) // 2
        content[middle : middle + 20] = b"\xa5" * len(content[middle : middle + 20])
        _replaced(path, content)

    return garble


def _garbled_state(environment: Environment) -> None:
    (home(environment) / "lexical" / "meta.json").write_text("{", encoding="utf-8")


def _left_socket(environment: Environment) -> None:
    left = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(home(environment))  # its own path may be too long for a socket
    left.bind("daemon.sock")
    os.chdir(before)
    left.close()
    (home(environment) / "daemon.sock").chmod(0o600)


def _left_address(environment: Environment) -> None:
    (home(environment) / "daemon.address").write_text('{"port": 1, "token": "x"}', encoding="utf-8")
    (home(environment) / "daemon.address").chmod(0o600)


def _broken_heartbeat(environment: Environment) -> None:
    (home(environment) / "daemon.json").write_text("[", encoding="utf-8")
    (home(environment) / "daemon.json").chmod(0o600)


def _lock_is_a_folder(environment: Environment) -> None:
    (home(environment) / "daemon.lock").mkdir(0o700)


def _broken_json(environment: Environment) -> None:
    (Path(environment["HOME"]) / ".claude.json").write_text('{"mcpServers": ', encoding="utf-8")


def _broken_toml(environment: Environment) -> None:
    (Path(environment["HOME"]) / ".codex" / "config.toml").write_text("[[[", encoding="utf-8")


def _vanished_command(environment: Environment) -> None:
    entry = {"mcpServers": {"raw-rag": {"command": "/nowhere/agent-raw-rag-mcp", "args": []}}}
    (Path(environment["HOME"]) / ".claude.json").write_text(json.dumps(entry), encoding="utf-8")


def _vanished_config(environment: Environment) -> None:
    entry = {"mcpServers": {"raw-rag": {"command": "true", "args": ["--config", "/nowhere/config.toml"]}}}
    (Path(environment["HOME"]) / ".claude.json").write_text(json.dumps(entry), encoding="utf-8")


def _broken_config(environment: Environment) -> None:
    (home(environment) / "config.toml").write_text("[search\n", encoding="utf-8")


def _unknown_key(environment: Environment) -> None:
    (home(environment) / "config.toml").write_text("[searches]\n", encoding="utf-8")


STATES: list[tuple[Callable[[Environment], None], str, str, bool]] = [
    (_garbage, "store", "error", False),
    (_damage, "store", "error", False),
    (_empty_store, "store", "error", False),
    (_store_is_a_folder, "store", "error", False),
    (_no_home, "store", "error", False),
    (_home_is_a_file, "home", "error", False),
    (_readable, "permissions", "error", True),
    (_cut_cache, "vector cache", "error", True),
    (_no_cache, "vector cache", "warn", True),
    (_garbled_block, "vector cache", "error", True),
    (_vectors_is_a_file, "vector cache", "warn", True),
    (_no_index, "words", "warn", True),
    (_index_is_a_file, "words", "error", True),
    (_garbled_state, "words", "error", True),
    *((_garbled(suffix), "words", "error", True) for suffix in ("fast", "fieldnorm", "idx", "pos", "store", "term")),
    (_left_socket, "socket", "warn", True),
    (_left_address, "socket", "warn", True),
    (_broken_heartbeat, "daemon", "ok", False),
    (_lock_is_a_folder, "daemon", "error", False),
    (_broken_json, "connected", "error", False),
    (_broken_toml, "connected", "error", False),
    (_vanished_command, "connected", "error", False),
    (_vanished_config, "connected", "error", False),
    (_broken_config, "configuration", "error", False),
    (_unknown_key, "configuration", "error", False),
]
"""How it is made, which check finds it, at which level, and whether --fix mends it."""


def _name(value: object) -> str:
    return getattr(value, "__name__", str(value)).strip("_")


@pytest.mark.parametrize(("spoil", "check", "level", "fixable"), STATES, ids=_name)
def test_a_hostile_state_is_found_with_a_remedy_and_never_a_traceback(
    filled: Environment, spoil: Callable[[Environment], None], check: str, level: str, fixable: bool
) -> None:
    spoil(filled)
    found = findings(filled, 1 if level == "error" else 0)
    assert (check, level) in found, found
    for one in (one for ones in found.values() for one in ones if one["level"] != "ok"):
        assert one["remedy"]
        for command in told_commands(one["remedy"]):
            parsed(command)
    one = found[(check, level)][0]
    assert one["fixable"] is fixable
    assert ("(raw-rag doctor --fix mends this)" in run(filled, "doctor").stdout) is fixable


@pytest.mark.parametrize(("spoil", "check"), [(one[0], one[1]) for one in STATES if one[3]], ids=_name)
def test_fix_mends_it_says_so_and_a_second_time_finds_nothing(
    filled: Environment, spoil: Callable[[Environment], None], check: str
) -> None:
    turns = json.loads(run(filled, "status", "--json").stdout)["turns"]
    spoil(filled)
    mended = [one for one in listed(filled, "--fix") if one["fixed"]]
    assert check in {one["check"] for one in mended}
    assert bad(filled) == set()
    assert not [one for one in listed(filled, "--fix") if one["fixed"]]
    assert json.loads(run(filled, "status", "--json").stdout)["turns"] == turns
    assert "w7x7" in run(filled, "search", "w7x7", "--project", "*").stdout


@pytest.mark.parametrize(
    "spoil", [_garbage, _damage, _empty_store, _store_is_a_folder, _no_home, _home_is_a_file], ids=_name
)
def test_the_remedy_of_a_lost_store_works_as_it_is_pasted(
    filled: Environment, spoil: Callable[[Environment], None]
) -> None:
    spoil(filled)
    for _ in range(3):
        for one in [one for one in listed(filled) if one["level"] == "error"]:
            for command in told_commands(one["remedy"]):
                words = shlex.split(command)
                if words[0] == "raw-rag-ingest":
                    assert run_ingest(filled, *words[1:], "--no-embed", "-q").exit_code == 0
                elif words[0] == "mv" and os.path.exists(words[1]):
                    subprocess.run(words, check=True)
    assert not [one for one in listed(filled) if one["level"] == "error"]


def test_fix_says_what_is_wrong_before_it_and_what_was_done_after_it(filled: Environment) -> None:
    _garbled_block(filled)
    said = run(filled, "doctor", "--fix")
    assert said.exit_code == 0
    before, _, after = said.stdout.partition("made anew with ")
    assert "mending vector cache: " in before and "hold something else than the store" in before
    assert "ok: vector cache" in after


def test_fix_waits_for_a_writer_and_then_says_who_it_is(filled: Environment) -> None:
    _no_index(filled)
    upkeep = replace(Runtime.load(None, filled).upkeep, wait_seconds=0.0)
    finding = Finding("warn", "words", "it is gone", "", lambda: str(upkeep.rebuild_words()))
    with lock(str(home(filled)), "writer", wait_seconds=1, purpose="a test"):
        said = mended(finding)
    assert "could not be mended" in said.text and "a test" in said.text and said.level == "warn"
    assert bad(filled) == {"words"}


def test_nobody_elses_file_is_closed(filled: Environment) -> None:
    notes = home(filled) / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    notes.chmod(0o644)
    home(filled).chmod(0o755)
    Path(filled["HOME"]).chmod(0o755)
    (home(filled) / "log").symlink_to(filled["HOME"])
    assert bad(filled) == set()
    _readable(filled)
    run(filled, "doctor", "--fix")
    assert bad(filled) == set()
    assert (notes.stat().st_mode & 0o777, Path(filled["HOME"]).stat().st_mode & 0o777) == (0o644, 0o755)


def test_a_store_elsewhere_does_not_close_its_folder(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path)
    environment["RAW_RAG_DB_PATH"] = str(tmp_path / "shared" / "history.db")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "theirs").touch(0o644)
    (tmp_path / "shared").chmod(0o755)
    assert run_ingest(environment, "-q").exit_code == 0
    (tmp_path / "shared" / "history.db").chmod(0o644)
    assert [one["check"] for one in listed(environment, "--fix") if one["fixed"]] == ["permissions"]
    assert (tmp_path / "shared" / "history.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o755


def test_a_remedy_is_for_the_configuration_that_was_examined(own: Environment, tmp_path: Path) -> None:
    config = tmp_path / "other name.toml"
    config.write_text('[encoder]\nname = "hashing"\n', encoding="utf-8")
    found = json.loads(run(own, "doctor", "--json", "--config", str(config)).stdout)
    remedies = [one["remedy"] for one in found if one["check"] == "vectors"]
    assert remedies and f"--config '{config}'" in remedies[0]


def test_an_agents_configuration_is_never_written(own: Environment) -> None:
    _broken_json(own)
    _broken_toml(own)
    before = {path: path.read_bytes() for path in Path(own["HOME"]).rglob("*") if path.is_file()}
    run(own, "doctor", "--fix")
    assert {path: path.read_bytes() for path in Path(own["HOME"]).rglob("*") if path.is_file()} == before


# ---------------------------------------------------------------- the models and vectors


def test_chunks_without_a_vector_are_a_warning(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path, config=HASHING)
    assert run_ingest(environment, "--no-embed", "-q").exit_code == 0
    assert ("vectors", "warn") in findings(environment)
    assert run_ingest(environment, "-q").exit_code == 0
    assert ("vectors", "ok") in findings(environment)


# ---------------------------------------------------------------- the logs


def test_logs_that_nobody_has_read_are_a_warning(own: Environment) -> None:
    environment = {**own, "RAW_RAG_DB_PATH": str(home(own) / "second.db")}
    assert run_ingest(environment, "--agent", "codex", "-q").exit_code == 0
    found = findings(environment)
    assert "--agent claude" in found[("claude", "warn")][0]["remedy"] and ("codex", "warn") not in found


def test_a_log_that_changed_is_a_warning_when_it_has_been_at_rest(own: Environment) -> None:
    log = next(Path(own["HOME"]).glob(".claude/projects/*/7c1e*.jsonl"))
    with log.open("a", encoding="utf-8") as stream:
        stream.write('{"type":"summary","summary":"x","leafUuid":"y"}\n')
    assert "just now" in findings(own)[("claude", "ok")][1]["text"]
    os.utime(log, (time.time() - 3600,) * 2)
    late = findings(own)[("claude", "warn")][0]
    assert str(log) in late["text"] and not late["fixable"]
    assert run_ingest(own, "-q").exit_code == 0
    assert bad(own) == set()


@pytest.mark.parametrize(("age_days", "level"), [(20, "ok"), (24, "warn"), (29, "error"), (40, "error")])
def test_a_log_that_its_agent_deletes_before_it_is_stored_is_named_and_fix_stores_it(
    own: Environment, age_days: int, level: str
) -> None:
    log = next(Path(own["HOME"]).glob(".claude/projects/*/7c1e*.jsonl"))
    copy = log.with_name("0b0b0b0b-3b0f-4d57-9a58-2f6d1c90e0aa.jsonl")
    copy.write_text(log.read_text(encoding="utf-8").replace("7c1e5a52", "0b0b0b0b"), encoding="utf-8")
    os.utime(copy, (time.time() - age_days * DAY,) * 2)
    due = time.strftime("%Y-%m-%d", time.localtime(copy.stat().st_mtime + 30 * DAY))
    found = findings(own, int(level == "error"))
    if level == "ok":
        return
    one = next(one for one in found[("claude", level)] if "deletes" in one["text"])
    assert str(copy) in one["text"] and due in one["text"] and one["fixable"]
    assert any(one["fixed"].startswith("stored") for one in listed(own, "--fix"))
    assert bad(own) == set()


def test_unknown_records_are_a_warning_with_type_and_version(own: Environment) -> None:
    log = next(Path(own["HOME"]).glob(".claude/projects/*/7c1e*.jsonl"))
    with log.open("a", encoding="utf-8") as stream:
        stream.write('{"type":"hologram","sessionId":"7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001","uuid":"h1"}\nnot json\n')
    assert run_ingest(own, "-q").exit_code == 0
    warnings = findings(own)[("claude", "warn")]
    assert any("hologram" in one["text"] and "2.1.332" in one["text"] for one in warnings)
    assert any("json" in one["text"] for one in warnings)


def test_a_log_that_is_none_is_an_error(own: Environment) -> None:
    foreign = next(Path(own["HOME"]).glob(".local/share/opencode/*.db"))
    foreign.write_bytes(b"no database " * 500)
    assert run_ingest(own, "-q").exit_code == 1
    assert str(foreign) in findings(own, 1)[("opencode", "error")][0]["text"]


def test_what_lies_in_the_future_is_told_of(own: Environment) -> None:
    log = next(Path(own["HOME"]).glob(".claude/projects/*/7c1e*.jsonl"))
    log.write_text(log.read_text(encoding="utf-8").replace('"2026-', '"2093-'), encoding="utf-8")
    os.utime(log, (time.time() + DAY,) * 2)
    assert run_ingest(own, "-q").exit_code == 0
    texts = [one["text"] for one in findings(own)[("clock", "warn")]]
    assert any("turns lie in the future" in text and "2093" in text for text in texts)
    assert any("a log of" in text for text in texts)


def test_a_time_zone_that_is_none_is_told_of(own: Environment) -> None:
    assert ("time zone", "warn") in findings({**own, "TZ": "Mars/Phobos"})


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ("{}", 30),
        ('{"cleanupPeriodDays": 365}', 365),
        ("not json", 30),
        ('{"cleanupPeriodDays": true}', 30),
        ('{"cleanupPeriodDays": -1}', 30),
        ("[" * 100_000, 30),
    ],
)
def test_how_long_an_agent_keeps_its_logs_is_read_from_its_settings(
    tmp_path: Path, settings: str | None, days: int
) -> None:
    if settings is not None:
        (tmp_path / "settings.json").write_text(settings, encoding="utf-8")
    rule = adapter("claude").retention
    assert rule is not None and retention(rule, str(tmp_path / "projects")).days == days


# ---------------------------------------------------------------- the daemon


def _beat(environment: Environment, **facts: Any) -> Heartbeat:
    now = time.time()
    beat = Heartbeat(os.getpid(), __version__, started=now - 60, beat=now, caught_up=True)
    for name, value in facts.items():
        setattr(beat, name, value)
    heartbeat.write(str(home(environment)), beat)
    return beat


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"serving": "no place for a socket"}, "no place for a socket"),
        ({"config_problem": "config.toml: not TOML", "serving": "x"}, "keeps its old configuration"),
        ({"watching": "/home is not watched", "serving": "x"}, "is not watched"),
        ({"beat": 1_700_000_000.0, "serving": "x"}, "has said nothing since"),
        ({"version": "0.1"}, "it is version 0.1"),
        ({"error": "the disk is full", "error_at": time.time(), "serving": "x"}, "the disk is full"),
        ({"agents": {"codex": AgentBeat(waiting=3, waiting_since=1_700_000_000.0)}, "serving": "x"}, "3 logs of codex"),
        ({}, "does not answer"),
    ],
)
def test_what_is_wrong_with_a_running_daemon_is_a_warning(own: Environment, facts: dict[str, Any], said: str) -> None:
    _beat(own, **facts)
    with lock(str(home(own)), DAEMON, wait_seconds=1, purpose="a test"):
        found = findings(own)
    assert any(said in one["text"] and one["remedy"] for one in found[("daemon", "warn")]), found


def test_a_daemon_that_died_is_a_warning_and_one_that_ended_is_not(own: Environment) -> None:
    _beat(own)
    assert "it died after" in findings(own)[("daemon", "warn")][0]["text"]
    _beat(own, ended=time.time())
    assert ("daemon", "ok") in findings(own)


def test_a_service_that_starts_no_daemon_is_a_warning(own: Environment, tmp_path: Path) -> None:
    systemctl = Fake(tmp_path, "systemctl")
    systemctl.answer((["--user", "show", UNIT], {"out": "ActiveState=failed\nSubState=failed\nExecMainStatus=3\n"}))
    environment = {**own, **systemctl.environment(Path(own["HOME"]))}
    unit = Path(environment["HOME"]) / ".config" / "systemd" / "user" / UNIT
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/nowhere\n", encoding="utf-8")
    one = findings(environment)[("daemon", "warn")][0]
    assert "the service is stopped" in one["text"] and "last exit status 3" in one["text"]
    assert "--install-daemon" in one["remedy"]


def test_servers_of_models_that_lack_a_key_or_do_not_answer_are_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        config = f"""{HASHING}
[llm]
url = "http://127.0.0.1:9/v1"
[proxy.upstreams.here]
url = "http://127.0.0.1:{there.getsockname()[1]}/v1"
key_variable = "NO_SUCH_KEY"
"""
        found = listed(sample_environment(tmp_path, config=config, logs=False))
    said = [(one["check"], one["level"], one["text"]) for one in found]
    assert ("llm", "warn", "no model is named: there is no chat") in said
    assert any(check == "llm" and level == "warn" and "cannot be reached" in text for check, level, text in said)
    assert any(check == "proxy.upstreams.here" and level == "ok" for check, level, _ in said)
    assert any("$NO_SUCH_KEY" in text for check, level, text in said if level == "warn")
