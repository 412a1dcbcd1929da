"""Reading everything again changes nothing: for every agent and generation, also where a source's order is not that of bytes."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest
import zstandard

from tests.dump import differences, dump
from tests.store_support import Ingest

ARCHIVE = Path(__file__).parents[1] / "logs/fixtures.tar.zst"
PLACES = {
    "claude": {"claude_code": ".claude"},
    "codex": {"codex": ".codex"},
    "omp": {"pi_omp/omp": ".omp", "pi_omp/pi": ".pi"},
    "antigravity": {"antigravity": ".gemini"},
    **{
        f"opencode {generation}": {f"opencode/{generation}": ".local/share/opencode"}
        for generation in ("current", "v2", "v2_only", "v1_2", "json_v1_1", "json_v0_5")
    },
}


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    with tarfile.open(fileobj=io.BytesIO(zstandard.decompress(ARCHIVE.read_bytes()))) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", PLACES)
def test_reading_everything_again_changes_nothing(name: str, fixtures: Path, tmp_path: Path) -> None:
    for source, place in PLACES[name].items():
        shutil.copytree(fixtures / source, tmp_path / "home" / place)
    ingest = Ingest(tmp_path / "home", tmp_path / "store")
    ingest.run()
    before = dump(ingest.connection)
    ingest.run(again=True)
    assert differences(before, dump(ingest.connection)) == []
    assert ingest.added().turns == 0


def test_steps_between_others_keep_their_place(tmp_path: Path) -> None:
    logs = tmp_path / "home/.gemini/antigravity-cli/brain/aaaa/.system_generated/logs"
    logs.mkdir(parents=True)
    steps = [("0", "first"), ("2", "third"), ("1", "second")]
    (logs / "transcript_full.jsonl").write_text(
        "".join(
            f'{{"step_index":{number},"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","content":"{words}"}}\n'
            for number, words in steps
        ),
        encoding="utf-8",
    )
    ingest = Ingest(tmp_path / "home", tmp_path / "store")
    for again in (False, True):
        ingest.run("antigravity", again=again)
        texts = [row["text"] for row in ingest.connection.execute("SELECT text FROM turns ORDER BY ordinal")]
        assert texts == ["first", "second", "third"]


def test_a_rebuild_that_was_killed_before_a_log_was_read_is_ended_by_the_next_run(
    fixtures: Path, tmp_path: Path
) -> None:
    shutil.copytree(fixtures / "claude_code", tmp_path / "home/.claude")
    ingest = Ingest(tmp_path / "home", tmp_path / "store")
    ingest.run("claude")
    before = dump(ingest.connection)
    for source_id in [row[0] for row in ingest.connection.execute("SELECT id FROM sources")]:
        ingest.committer().start_again(source_id, trusted=True)
    ingest.run("claude")
    assert differences(before, dump(ingest.connection)) == []
