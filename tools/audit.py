"""Looks into a wheel and an sdist for what must not be published. Prints what it finds; exits 1 if there is anything.

Usage: ``python tools/audit.py FOLDER_OR_FILE...``
"""

# ruff: noqa: T201 - a command; what it prints is its result

from __future__ import annotations

import io
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import zstandard

from agent_raw_rag.sanitize.redact import redact

LARGEST = 40 << 20
"""The model has 34 MB; nothing else should come near it."""

WHEEL_TOP = re.compile(r"agent_raw_rag|agent_raw_rag_mcp-[\w.]+\.dist-info")
SDIST_TOP = frozenset(
    [
        ".ci",
        ".gitignore",
        "AGENTS.md",
        "CHANGELOG.md",
        "CLAUDE.md",
        "EXAMPLE.md",
        "LICENSE",
        "Makefile",
        "PKG-INFO",
        "PLAN.md",
        "README.md",
        "README.zh-TW.md",
        "benchmarks",
        "docs",
        "launchd",
        "pyproject.toml",
        "reports",
        "src",
        "tests",
        "tools",
        "uv.lock",
        "web",
    ]
)
NEEDED = (
    "agent_raw_rag/py.typed",
    "agent_raw_rag/data/README.md",
    "agent_raw_rag/data/cl100k_base.tiktoken.gz",
    "agent_raw_rag/data/bge-small-en-v1.5-int8/model_quantized.onnx",
    "agent_raw_rag/data/bge-small-en-v1.5-int8/tokenizer.json",
    "agent_raw_rag/data/sample_logs/",
    "agent_raw_rag/server/http/assets/index.html",
    "agent_raw_rag/server/http/assets/LICENSES.txt",
)
SOURCES = "src/"
ASSETS = "agent_raw_rag/server/http/assets/"
PAGE = "index.html"
ASKED_FOR = re.compile(r"""<[^>]*?\s(?:src|href)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
"""What a page's tag names; every such tag of ours asks for a file."""

DATABASE_NAME = re.compile(r"\.(?:db|sqlite3?|duckdb)(?:-wal|-shm|-journal)?$|\.(?:wal|shm)$", re.IGNORECASE)
DATABASE_HEAD = b"SQLite format 3\0"
LOG_NAME = re.compile(
    r"\.(?:jsonl|ndjson|log|trace)(?:\.(?:zst|gz))?$|(?:^|/)(?:transcript|rollout|history)[\w.-]*\.json", re.IGNORECASE
)
LOG_HOMES = (
    "src/agent_raw_rag/data/sample_logs/",
    "agent_raw_rag/data/sample_logs/",
    "tests/logs/",
    "benchmarks/coding/",
    "tests/evals/bakery/",
)
JUNK_NAME = re.compile(
    r"(?:^|/)(?:__pycache__|\.DS_Store|\.env(?:\..+)?|\.git|\.venv|\.[a-z_]+_cache)(?:/|$)|\.(?:pyc|pem|key|p12|orig|rej|swp)$"
)

HOME = re.compile(r"(?:/home|/Users|/Volumes|[A-Za-z]:\\{1,4}Users)[/\\]{1,4}([A-Za-z0-9][\w.-]*)")
INVENTED = frozenset(("dev", "me", "you", "user", "x", "NAME", "runner", "alice", "bob"))
"""Whose homes may be named: nobody's."""
RULES_OWN = (
    "src/agent_raw_rag/sanitize/",
    "agent_raw_rag/sanitize/",
    "docs/reference/redaction-rules.md",
    "tests/sanitize/",
    "tests/logs/import/",
)
"""Where examples of secrets stand; they are made up from templates."""


class Entry(NamedTuple):
    """One file of an archive, its path without the archive's own top folder."""

    path: str
    data: bytes


def main(arguments: list[str]) -> int:
    """Audit every wheel and sdist named, or in the folders named."""
    archives = [archive for name in arguments for archive in _archives(Path(name))]
    if not archives:
        print("Nothing to audit: no wheel and no sdist there.", file=sys.stderr)
        return 1
    found = 0
    for archive in archives:
        problems = list(audit(archive))
        found += len(problems)
        print(f"{archive.name}: {f'{len(problems)} problems' if problems else 'clean'}")
        for problem in problems:
            print(f"  {problem}")
    return 1 if found else 0


def audit(archive: Path) -> Iterator[str]:
    """Everything that is wrong with one archive."""
    entries = list(_wheel(archive) if archive.suffix == ".whl" else _sdist(archive))
    allowed = WHEEL_TOP.fullmatch if archive.suffix == ".whl" else SDIST_TOP.__contains__
    for top in sorted({entry.path.partition("/")[0] for entry in entries}):
        if not allowed(top):
            yield f"{top}: not on the list of top-level names"
    wanted = (*NEEDED, *_named_by_the_page(entries, ""))
    if archive.suffix != ".whl":
        wanted = (
            *(f"{SOURCES}{name}" for name in (f"{ASSETS}{PAGE}", f"{ASSETS}LICENSES.txt")),
            *_named_by_the_page(entries, SOURCES),
        )
    for name in wanted:
        if not any(entry.path.startswith(name) for entry in entries):
            yield f"{name}: missing"
    for entry in entries:
        for problem in _problems(entry):
            yield f"{entry.path}: {problem}"


def _named_by_the_page(entries: list[Entry], under: str) -> list[str]:
    """Paths of the files that the page asks for, below the folder that holds the package. Addresses elsewhere are named as they
    are: no package holds such a file."""
    page = next((entry.data for entry in entries if entry.path == f"{under}{ASSETS}{PAGE}"), b"")
    return [
        f"{under}{ASSETS}{name.removeprefix('assets/')}" for name in ASKED_FOR.findall(page.decode("utf-8", "replace"))
    ]


def _problems(entry: Entry) -> Iterator[str]:
    if DATABASE_NAME.search(entry.path) or entry.data.startswith(DATABASE_HEAD):
        yield "a database"
    if LOG_NAME.search(entry.path) and not entry.path.startswith(LOG_HOMES):
        yield "a log outside the sample logs and the tests' logs"
    if JUNK_NAME.search(entry.path):
        yield "does not belong in a package"
    if len(entry.data) > LARGEST:
        yield f"{len(entry.data) / 1e6:.0f} MB"
    for inner in _packed(entry):
        yield from (f"{inner.path}: {problem}" for problem in _words(inner))
    yield from _words(entry)


def _words(entry: Entry) -> Iterator[str]:
    text = entry.data.decode("utf-8", "replace")
    for name in sorted(set(HOME.findall(text)) - INVENTED):
        yield f"names the home folder of {name!r}"
    for place in _this_machine():
        if place in text:
            yield f"names {place}, a folder of the machine that builds"
    readable = b"\0" not in entry.data[:8192] or entry.data.startswith(DATABASE_HEAD)
    if readable and not entry.path.startswith(RULES_OWN):
        for kind in sorted(set(redact(text)[1])):
            yield f"holds what looks like a secret ({kind})"


def _this_machine() -> Iterable[str]:
    """Folders of whoever builds, where their names are telling: ``/tmp/x`` is not."""
    return {place for place in (str(Path.home()), os.getcwd()) if place.count("/") >= 2 and len(place) >= 12}


def _packed(entry: Entry) -> Iterator[Entry]:
    """The files of an archive inside an archive."""
    if entry.path.endswith((".tar.zst", ".tar.gz", ".tgz")):
        packed = io.BytesIO(entry.data)
        if entry.path.endswith(".zst"):
            packed = io.BytesIO(zstandard.ZstdDecompressor().stream_reader(packed).read())
        with tarfile.open(fileobj=packed) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                yield Entry(member.name, stream.read() if stream else b"")
    elif entry.path.endswith(".zst"):
        yield Entry("unpacked", zstandard.ZstdDecompressor().stream_reader(io.BytesIO(entry.data)).read())


def _archives(place: Path) -> list[Path]:
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    return [file for file in files if file.name.endswith((".whl", ".tar.gz"))]


def _wheel(archive: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(archive) as wheel:
        for info in wheel.infolist():
            if not info.is_dir():
                yield Entry(info.filename, wheel.read(info))


def _sdist(archive: Path) -> Iterator[Entry]:
    with tarfile.open(archive, "r:gz") as sdist:
        for member in sdist:
            path = member.name.partition("/")[2]
            if member.isfile():
                stream = sdist.extractfile(member)
                assert stream is not None
                yield Entry(path, stream.read())
            elif not member.isdir():
                yield Entry(path, b"")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
