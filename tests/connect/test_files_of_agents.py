"""Every agent's real files: only our entry changes, twice is once, and undoing gives back the very bytes."""

from __future__ import annotations

import difflib
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.connect import files
from agent_raw_rag.connect.jsonc import parse
from agent_raw_rag.errors import WiringError
from tests.cli.commands import Environment, run
from tests.connect.agents import FILES, Case

VARIANTS = {
    "as it is": lambda data: data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "no final newline": lambda data: data.rstrip(b"\n"),
}
each = pytest.mark.parametrize("case", FILES.values(), ids=FILES.keys())
shapes = pytest.mark.parametrize("variant", VARIANTS)


@pytest.fixture
def home(tmp_path: Path) -> Environment:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "RAW_RAG_HOME": str(tmp_path / "store")}


def laid(home: Environment, case: Case, variant: str = "as it is") -> tuple[Path, bytes]:
    """The file, and its bytes."""
    path = Path(home["HOME"]) / case.path
    path.parent.mkdir(parents=True, exist_ok=True)
    data = VARIANTS[variant](case.text.encode())
    path.write_bytes(data)
    return path, data


def done(home: Environment, *words: str, status: int = 0) -> list[dict[str, Any]]:
    """What a connect says it did."""
    result = run(home, "connect", *words, "--json")
    assert result.exit_code == status, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["agents"]
    return found


def value_of(path: Path) -> Any:
    text = path.read_bytes().decode("utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    return parse(text, lenient="opencode" in path.name).value


def without_ours(value: Any) -> Any:
    """The value without our entry and the tables that were made for it."""
    if not isinstance(value, dict):
        return value
    inner = {key: without_ours(one) for key, one in value.items() if key != "raw-rag"}
    return {key: one for key, one in inner.items() if one != {}}


@each
@shapes
def test_the_difference_is_our_entry_alone(home: Environment, case: Case, variant: str) -> None:
    path, before = laid(home, case, variant)
    (outcome,) = done(home, case.name)
    after = path.read_bytes()
    assert outcome["change"] == "added" and outcome["file"] == str(path)
    assert without_ours(value_of(path)) == without_ours(
        tomllib.loads(case.text) if path.suffix == ".toml" else parse(case.text, lenient=True).value
    )
    lines = difflib.ndiff(before.decode().splitlines(keepends=True), after.decode().splitlines(keepends=True))
    gone = [line[2:] for line in lines if line.startswith("- ")]
    assert len(gone) <= 1, "at most one line gets a comma, a line end or (in one line) the entry"
    ends = {line[-2:] == "\r\n" for line in after.decode().splitlines(keepends=True)[:-1]}
    assert len(ends) <= 1, "line ends are those of the file"
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")


@each
@shapes
def test_twice_is_the_same_as_once(home: Environment, case: Case, variant: str) -> None:
    path, _ = laid(home, case, variant)
    done(home, case.name)
    once, beside = path.read_bytes(), sorted(path.parent.iterdir())
    (outcome,) = done(home, case.name)
    assert outcome["change"] == "unchanged" and outcome["backup"] is None
    assert path.read_bytes() == once and sorted(path.parent.iterdir()) == beside


@each
@shapes
def test_undoing_gives_back_the_very_bytes(home: Environment, case: Case, variant: str) -> None:
    path, before = laid(home, case, variant)
    beside = sorted(path.parent.iterdir())
    done(home, case.name)
    assert path.read_bytes() != before
    assert "restored" in [one["change"] for one in done(home, case.name, "--undo")]
    assert path.read_bytes() == before and sorted(path.parent.iterdir()) == beside


@each
def test_undoing_after_a_change_takes_out_our_entry_only(home: Environment, case: Case) -> None:
    path, before = laid(home, case)
    done(home, case.name)
    added = b"\n" if case.path.endswith(("toml", "c")) else b" "
    path.write_bytes(path.read_bytes() + added)
    (outcome,) = [one for one in done(home, case.name, "--undo") if one["part"] == "server"]
    assert outcome["change"] == "removed" and "changed since" in outcome["note"] and outcome["backup"]
    assert b"raw-rag" not in path.read_bytes()
    assert without_ours(value_of(path)) == without_ours(value_of_bytes(path, before))


def value_of_bytes(path: Path, data: bytes) -> Any:
    text = data.decode()
    return tomllib.loads(text) if path.suffix == ".toml" else parse(text, lenient=True).value


@each
def test_a_dry_run_shows_the_difference_and_writes_nothing(home: Environment, case: Case) -> None:
    path, before = laid(home, case)
    result = run(home, "connect", case.name, "--dry-run")
    assert "+++ " in result.stdout and "raw-rag" in result.stdout
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1
    assert not (Path(home["RAW_RAG_HOME"]) / "connect.json").exists()


@each
def test_the_backup_holds_the_old_bytes_for_its_owner_only(home: Environment, case: Case) -> None:
    path, before = laid(home, case)
    path.chmod(0o640)
    (outcome,) = done(home, case.name)
    backup = Path(outcome["backup"])
    assert backup.parent == path.parent and backup.read_bytes() == before
    assert backup.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_mode & 0o777 == 0o640


@each
def test_a_linked_file_is_written_where_it_lies(home: Environment, case: Case, tmp_path: Path) -> None:
    path, before = laid(home, case)
    real = tmp_path / "dotfiles" / path.name
    real.parent.mkdir()
    path.rename(real)
    path.symlink_to(real)
    done(home, case.name)
    assert path.is_symlink() and b"raw-rag" in real.read_bytes()
    done(home, case.name, "--undo")
    assert path.is_symlink() and real.read_bytes() == before


@each
def test_a_read_only_file_is_left_alone(home: Environment, case: Case) -> None:
    path, before = laid(home, case)
    path.chmod(0o444)
    (outcome,) = done(home, case.name, status=1)
    assert outcome["change"] == "failed" and "read-only" in outcome["error"]
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1


@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "omp", "pi", "antigravity"])
@pytest.mark.parametrize("text", [None, "", "\n"], ids=["missing", "empty", "blank"])
def test_a_file_that_holds_nothing_gets_our_entry(home: Environment, name: str, text: str | None) -> None:
    case = next(one for one in FILES.values() if one.name == name)
    path = Path(home["HOME"]) / case.path
    if text is not None:
        laid(home, Case(name, case.path, text))
    (outcome,) = done(home, name)
    written = Path(outcome["file"])
    assert b"raw-rag" in written.read_bytes() and written.read_bytes().endswith(b"\n")
    assert value_of(written)
    done(home, name, "--undo")
    assert path.read_bytes() == text.encode() if text is not None else list(Path(home["HOME"]).iterdir()) == []


BROKEN = [
    ("claude", '{\n  "a": 1,\n  "b": }\n', "line 3, column 8"),
    ("claude", '{"a": 1, // note\n}', "line 1, column 10"),
    ("antigravity", '{\n  "mcpServers": {},\n}', "line 2, column 19"),
    ("opencode", '{"mcp": {"a": [1, 2}}', "line 1, column 20"),
    ("opencode", '{"mcp": {"a": 1', "line 1, column 16"),
    ("codex", "a = 1\nb = = 2\n", "line 2, column 5"),
    ("claude", '{"mcpServers": []}', "line 1"),
    ("claude", "[1]", "no table"),
    ("codex", "mcp_servers = 3\n", "no table"),
]


@pytest.mark.parametrize(("name", "text", "said"), BROKEN)
def test_a_file_that_cannot_be_parsed_is_left_alone_and_the_others_are_done(
    home: Environment, name: str, text: str, said: str
) -> None:
    case = next(one for one in FILES.values() if one.name == name)
    path, before = laid(home, Case(name, case.path, text))
    laid(home, FILES["pi"])
    outcomes = {one["name"]: one for one in done(home, name, "pi", status=1)}
    assert outcomes["pi"]["change"] == "added" and outcomes[name]["change"] == "failed"
    assert said in outcomes[name]["error"] and str(path) in outcomes[name]["error"]
    assert path.read_bytes() == before and not list(path.parent.glob("*.bak"))


@pytest.mark.parametrize("shape", ["a folder", "below a file", "a link to itself"])
def test_what_is_no_file_is_an_error_and_no_traceback(home: Environment, shape: str) -> None:
    path = Path(home["HOME"]) / ".codex" / "config.toml"
    if shape == "below a file":
        path.parent.write_text("", encoding="utf-8")
    else:
        path.parent.mkdir()
        path.mkdir() if shape == "a folder" else path.symlink_to(path)
    (outcome,) = done(home, "codex", status=1)
    assert outcome["change"] == "failed" and str(path) in outcome["error"]


def test_a_link_to_nowhere_gets_its_file(home: Environment, tmp_path: Path) -> None:
    path = Path(home["HOME"]) / ".claude.json"
    path.symlink_to(tmp_path / "dotfiles" / "claude.json")
    done(home, "claude")
    assert path.is_symlink() and (tmp_path / "dotfiles" / "claude.json").exists()
    done(home, "claude", "--undo")
    assert path.is_symlink() and not (tmp_path / "dotfiles").exists()


def test_a_file_that_somebody_writes_meanwhile_is_not_overwritten(home: Environment) -> None:
    path, _ = laid(home, FILES["claude"])
    old = files.read(str(path))
    path.write_bytes(b"{}")
    with pytest.raises(WiringError, match="changed meanwhile"):
        files.replace(old, b"ours")
    assert path.read_bytes() == b"{}"


def test_a_file_that_is_not_utf8_is_left_alone(home: Environment) -> None:
    path = Path(home["HOME"]) / ".claude.json"
    path.write_bytes(b'{\n"a": "\xff"}')
    (outcome,) = done(home, "claude", status=1)
    assert "line 2: not UTF-8" in outcome["error"]


def test_two_backups_of_one_second_do_not_meet(home: Environment) -> None:
    path, before = laid(home, FILES["claude"])
    backups = set()
    for number in range(3):
        (outcome,) = done(home, "claude")
        backups.add(outcome["backup"])
        path.write_bytes(before + b" " * (number + 1))
    assert len(backups) == 3 and all(Path(one).exists() for one in backups)


def test_what_a_user_added_to_our_entry_stays_and_the_command_is_brought_up_to_date(home: Environment) -> None:
    entry = {
        "command": "/old/agent-raw-rag-mcp",
        "args": ["--x"],
        "timeout": 9,
        "env": {"MINE": "1", "RAW_RAG_HOME": "/o"},
    }
    path, _ = laid(home, Case("pi", ".pi/agent/mcp.json", json.dumps({"mcpServers": {"raw-rag": entry}}, indent=2)))
    (outcome,) = done(home, "pi")
    new = value_of(path)["mcpServers"]["raw-rag"]
    assert outcome["change"] == "updated" and new["command"] != entry["command"] and new["args"] == []
    assert new["timeout"] == 9 and new["env"] == {"MINE": "1", "RAW_RAG_HOME": home["RAW_RAG_HOME"]}
    assert list(new) == ["command", "args", "timeout", "env"]


def test_a_change_of_settings_is_written_into_every_form(home: Environment) -> None:
    for name in ("codex", "opencode"):
        laid(home, FILES[name])
        done(home, name)
    path = Path(home["HOME"]) / ".codex/config.toml"
    moved = {**home, "RAW_RAG_LOG": "INFO"}
    assert {one["change"] for one in done(moved, "codex", "opencode")} == {"updated"}
    entry = tomllib.loads(path.read_text(encoding="utf-8"))["mcp_servers"]["raw-rag"]
    assert entry["env"] == {"RAW_RAG_HOME": home["RAW_RAG_HOME"], "RAW_RAG_LOG": "INFO"}
    before = FILES["codex"].text
    done(moved, "codex", "--undo")
    assert path.read_text(encoding="utf-8") == before
