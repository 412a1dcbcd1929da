"""Reading everything again: nothing that is stored is lost, whatever has become of the logs; the order stays."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.chunker import Windows
from agent_raw_rag.encode.tokens import tokenizer
from agent_raw_rag.ingest.commit import Committer
from agent_raw_rag.ingest.sync import Sync
from agent_raw_rag.store.sources import Sources
from agent_raw_rag.store.writer import Writer
from tests.dump import differences, dump
from tests.ingest.claude_log import AGENT, folder, in_order, line, lines, said
from tests.store_support import Ingest

LOGS = Path(__file__).parents[1] / "logs"


@pytest.fixture
def ingest(tmp_path: Path) -> Ingest:
    return Ingest(tmp_path / "home", tmp_path / "store")


@pytest.mark.parametrize("kept", [slice(0, 4), slice(6, 10), slice(3, 7), slice(0, 10, 4)])
def test_what_a_log_has_lost_keeps_its_place(ingest: Ingest, kept: slice) -> None:
    log = folder(ingest.home) / "s1.jsonl"
    log.write_text("".join(lines(10)), encoding="utf-8")
    ingest.run(AGENT)
    log.write_text("".join(lines(10)[kept]), encoding="utf-8")
    ingest.run(AGENT)
    for _ in range(2):
        ingest.run(AGENT, again=True)
        assert said(ingest) == in_order(10)


def test_a_log_that_was_rewritten_right_before_loses_nothing(ingest: Ingest) -> None:
    log = folder(ingest.home) / "s1.jsonl"
    log.write_text("".join(lines(10)), encoding="utf-8")
    ingest.run(AGENT)
    log.write_text("".join(lines(10)[:4]), encoding="utf-8")
    ingest.run(AGENT, again=True)
    assert said(ingest) == in_order(10)


def test_a_log_that_cannot_be_read_any_more_loses_nothing(ingest: Ingest) -> None:
    day = ingest.home / ".codex/sessions/2026/09/01"
    day.mkdir(parents=True)
    (plain,) = (LOGS / "codex/0.171").rglob("*.jsonl.zst")
    packed = day / plain.name
    packed.write_bytes(plain.read_bytes())
    ingest.run("codex")
    before = dump(ingest.connection)["turns"]
    packed.write_bytes(b"no zstd data" * 100)
    report = ingest.run("codex", again=True)["codex"]
    assert "unpacked" in report.failed[str(packed)]
    held = [(*row[:13], *row[15:]) for row in dump(ingest.connection)["turns"]]
    assert held == [(*row[:13], *row[15:]) for row in before] != []
    packed.write_bytes(zstandard.compress(zstandard.decompress(plain.read_bytes(), 1 << 24)))
    assert ingest.run("codex")["codex"].failed == {}
    assert dump(ingest.connection)["turns"] == before


def test_two_logs_of_one_session_keep_their_order(ingest: Ingest) -> None:
    (folder(ingest.home, "-a") / "s1.jsonl").write_text("".join(lines(6)), encoding="utf-8")
    (folder(ingest.home, "-b") / "s1.jsonl").write_text("".join(line(n) for n in range(6, 12)), encoding="utf-8")
    ingest.run(AGENT)
    before = dump(ingest.connection)
    for _ in range(2):
        ingest.run(AGENT, again=True)
        assert differences(dump(ingest.connection), before) == []
    assert said(ingest) == in_order(12)


def test_windows_of_another_size_take_effect(ingest: Ingest) -> None:
    log = folder(ingest.home) / "s1.jsonl"
    log.write_text("".join(line(n, text="word " * 100 + str(n)) for n in range(10)), encoding="utf-8")
    ingest.run(AGENT)
    log.write_text("".join(line(n, text="word " * 100 + str(n)) for n in range(5, 10)), encoding="utf-8")
    ingest.run(AGENT)
    committer = Committer(Writer(ingest.connection), Sources(ingest.connection), tokenizer(), Windows(64, 8))
    row = adapters()[AGENT]
    Sync(committer, committer.sources).run(row, row.roots({}, str(ingest.home)), again=True)
    chunks = ingest.connection.execute("SELECT start_token, end_token FROM chunks ORDER BY place").fetchall()
    assert len(chunks) > 15
    assert [start for start, _ in chunks] == [place * 56 for place in range(len(chunks))]
    assert {end - start for start, end in chunks[:-1]} == {64}
