"""Laws of connecting over real files: whatever JSON with comments a file holds, and however often it is done."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.connect.command import Command
from agent_raw_rag.connect.journal import Journal
from agent_raw_rag.connect.jsonc import parse
from agent_raw_rag.connect.parts import Instructions, Part, Server
from agent_raw_rag.connect.plan import wirings
from agent_raw_rag.connect.wire import Place, Wirer
from tests.connect.test_splice import comments_of, documents

OPENCODE = wirings()["opencode"][1]
SERVER = Server(OPENCODE, Command(("/x/agent-raw-rag-mcp", "--config", "/c"), {"RAW_RAG_HOME": "/h"}))
MARKS = st.sampled_from([b"", b"\xef\xbb\xbf"])


def wirer(folder: str) -> Wirer:
    return Wirer(Journal(f"{folder}/home"), lambda: datetime(2026, 11, 30, tzinfo=UTC))


def place(folder: str, part: Part = SERVER) -> Place:
    return Place("opencode", part, f"{folder}/opencode.jsonc")


@settings(max_examples=60)
@given(documents(), MARKS)
def test_connecting_adds_our_entry_and_undoing_gives_back_the_bytes(
    document: tuple[str, dict[str, Any]], mark: bytes
) -> None:
    text, value = document
    value.pop("mcp", None)
    before = mark + text.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "opencode.jsonc")
        path.write_bytes(before)
        assert wirer(folder).connect(place(folder)).change == "added"
        after = path.read_bytes().removeprefix(mark).decode()
        entry = parse(after, lenient=True).value["mcp"]
        assert parse(after, lenient=True).value == {**value, "mcp": entry} and set(entry) == {"raw-rag"}
        assert comments_of(after) == comments_of(text)
        assert wirer(folder).connect(place(folder)).change == "unchanged"
        assert wirer(folder).undo(place(folder)).change == "restored"
        assert path.read_bytes() == before and sorted(Path(folder).iterdir()) == [Path(folder, "home"), path]


STEPS = st.lists(st.sampled_from(["a on", "a off", "b on", "b off", "user"]), max_size=8)


@settings(max_examples=60)
@given(STEPS, st.sampled_from(["# Mine\n", "", "# Mine\r\n\r\nMore"]))
def test_whatever_comes_between_what_the_user_wrote_is_never_lost(steps: list[str], text: str) -> None:
    """Two agents that read one instruction file, and a user who writes into it."""
    part = Instructions(OPENCODE.files)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "opencode.jsonc")
        path.write_bytes(text.encode())
        written = 0
        for step in steps:
            where = Place("a" if step.startswith("a ") else "b", part, str(path))
            if step.endswith("on"):
                wirer(folder).connect(where)
            elif step.endswith("off"):
                wirer(folder).undo(where)
            else:
                written += 1
                with path.open("ab") as stream:
                    stream.write(f"\nuser line {written}\n".encode())
        for name in ("a", "b", "a"):
            wirer(folder).undo(Place(name, part, str(path)))
        left = path.read_bytes().decode()
        assert "raw-rag" not in left and left.startswith(text.rstrip())
        assert all(f"user line {number + 1}\n" in left for number in range(written))
        if not written:
            assert left == text
