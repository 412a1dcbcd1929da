"""The release audit finds what must not be published, and passes what may."""

from __future__ import annotations

import importlib.util
import io
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import zstandard

from agent_raw_rag.sanitize.rule import plant
from agent_raw_rag.sanitize.rules import RULES

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "agent_raw_rag/py.typed": b"",
    "agent_raw_rag/data/README.md": b"# Shipped data\n",
    "agent_raw_rag/data/cl100k_base.tiktoken.gz": b"\x1f\x8b\0\0",
    "agent_raw_rag/data/bge-small-en-v1.5-int8/model_quantized.onnx": b"\x08\0",
    "agent_raw_rag/data/bge-small-en-v1.5-int8/tokenizer.json": b"{}",
    "agent_raw_rag/data/sample_logs/a/session.jsonl": b'{"cwd":"/home/dev/uploader"}\n',
    "agent_raw_rag/server/http/assets/index.html": b'<link href="assets/app.css"><script src="assets/app-1.js"></script>',
    "agent_raw_rag/server/http/assets/LICENSES.txt": b"MIT\n",
    "agent_raw_rag/server/http/assets/app.css": b"",
    "agent_raw_rag/server/http/assets/app-1.js": b"",
    "agent_raw_rag_mcp-0.3.0.dist-info/METADATA": b"Name: agent-raw-rag-mcp\n",
}
SOURCES = {f"src/{name}": data for name, data in GOOD.items() if not name.endswith("METADATA")}
HOMES = "/" + "home"
TOKEN = plant(next(rule.example for rule in RULES if rule.kind.startswith("github")))[0]


def _audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


audit = _audit()


def wheel(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "agent_raw_rag_mcp-0.3.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def sdist(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "agent_raw_rag_mcp-0.3.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"agent_raw_rag_mcp-0.3.0/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_a_clean_wheel_and_sdist_pass(tmp_path: Path) -> None:
    assert list(audit.audit(wheel(tmp_path, GOOD))) == []
    good = {"README.md": b"# x\n", "tests/logs/claude/1/s.jsonl": b"{}\n", **SOURCES}
    assert list(audit.audit(sdist(tmp_path, good))) == []
    assert audit.main([str(tmp_path)]) == 0


@pytest.mark.parametrize("name", ["index.html", "LICENSES.txt", "app.css", "app-1.js"])
def test_a_file_of_the_page_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    path = f"agent_raw_rag/server/http/assets/{name}"
    without = {other: data for other, data in GOOD.items() if other != path}
    assert f"{path}: missing" in list(audit.audit(wheel(tmp_path, without)))
    without = {other: data for other, data in SOURCES.items() if other != f"src/{path}"}
    assert f"src/{path}: missing" in list(audit.audit(sdist(tmp_path, without)))


def test_a_page_that_names_a_file_elsewhere_is_no_good(tmp_path: Path) -> None:
    page = {"agent_raw_rag/server/http/assets/index.html": b"<script src=https://cdn.example/x.js></script>"}
    assert any("https://cdn.example/x.js: missing" in one for one in audit.audit(wheel(tmp_path, {**GOOD, **page})))


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("agent_raw_rag/raw_rag.db", b"x", "database"),
        ("agent_raw_rag/raw_rag.db-wal", b"x", "database"),
        ("agent_raw_rag/data/cache.bin", b"SQLite format 3\0...", "database"),
        ("agent_raw_rag/data/session.jsonl", b"{}\n", "a log"),
        ("agent_raw_rag/data/sample/transcript_full.json", b"{}", "a log"),
        ("agent_raw_rag/debug.log", b"", "a log"),
        ("agent_raw_rag/__pycache__/a.pyc", b"", "does not belong"),
        ("agent_raw_rag/.env", b"", "does not belong"),
        ("agent_raw_rag/a.py", f"path = '{HOMES}/jdoe/work'".encode(), "home folder of 'jdoe'"),
        ("agent_raw_rag/a.py", b"path = '/Users" + b"/jdoe/work'", "home folder of 'jdoe'"),
        ("agent_raw_rag/a.py", b"path = 'C:\\Users" + b"\\jdoe'", "home folder of 'jdoe'"),
        ("agent_raw_rag/a.py", TOKEN.encode(), "looks like a secret"),
        ("agent_raw_rag/big.bin", b"\0" * (audit.LARGEST + 1), "MB"),
        ("scratch/notes.md", b"", "top-level"),
        ("agent_raw_rag_extra.pth", b"", "top-level"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else value,
)
def test_what_must_not_be_in_a_wheel_is_named(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    problems = list(audit.audit(wheel(tmp_path, {**GOOD, name: data})))
    assert len(problems) == 1
    assert why in problems[0]
    assert audit.main([str(tmp_path)]) == 1


@pytest.mark.parametrize("name", [name for name in GOOD if "data" in name and "dist-info" not in name])
def test_a_wheel_without_its_data_is_not_published(tmp_path: Path, name: str) -> None:
    problems = list(audit.audit(wheel(tmp_path, {other: data for other, data in GOOD.items() if other != name})))
    assert len(problems) == 1
    assert "missing" in problems[0]


def test_a_log_beside_the_tests_logs_is_named_in_an_sdist(tmp_path: Path) -> None:
    problems = list(
        audit.audit(
            sdist(tmp_path, {**SOURCES, "tests/own/session.jsonl": b"{}", "docs/private/x.md": b"", "x.txt": b""})
        )
    )
    assert problems == [
        "x.txt: not on the list of top-level names",
        "tests/own/session.jsonl: a log outside the sample logs and the tests' logs",
    ]


def test_what_is_packed_inside_is_looked_at_too(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        member = tarfile.TarInfo("claude/session.jsonl")
        member.size = len(TOKEN)
        archive.addfile(member, io.BytesIO(TOKEN.encode()))
    files = {
        "tests/logs/all.tar.zst": zstandard.compress(inner.getvalue()),
        "tests/logs/codex/a.jsonl.zst": zstandard.compress(f"{HOMES}/jdoe/x".encode()),
    }
    problems = list(audit.audit(sdist(tmp_path, files)))
    assert [
        problem
        for problem in problems
        if "all.tar.zst: claude/session.jsonl: holds what looks like a secret" in problem
    ]
    assert "tests/logs/codex/a.jsonl.zst: unpacked: names the home folder of 'jdoe'" in problems


def test_the_folders_of_the_machine_that_builds_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    problems = list(audit.audit(wheel(tmp_path, {**GOOD, "agent_raw_rag/a.py": str(checkout).encode()})))
    assert [problem for problem in problems if "machine that builds" in problem]


def test_an_empty_folder_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main([str(tmp_path)]) == 1
    assert "Nothing to audit" in capsys.readouterr().err
    assert "audit" not in sys.modules
