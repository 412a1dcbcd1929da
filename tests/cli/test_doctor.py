"""raw-rag doctor: each thing that can be wrong is found, with a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.adapters.registry import adapter
from agent_raw_rag.cli.retention import retention
from tests.cli.commands import Environment, run, run_ingest
from tests.samples import sample_environment


def findings(environment: Environment, status: int = 0) -> dict[tuple[str, str], list[dict[str, Any]]]:
    result = run(environment, "doctor", "--json")
    assert result.exit_code == status, result.output
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in json.loads(result.stdout):
        found.setdefault((one["check"], one["level"]), []).append(one)
    return found


def test_all_is_well_after_an_ingest(stored: Environment) -> None:
    found = findings(stored)
    assert {level for _, level in found} == {"ok"}, found
    said = run(stored, "doctor").stdout
    assert "ok: store" in said


def test_every_finding_that_is_not_well_has_a_remedy(unread: Environment) -> None:
    for one in json.loads(run(unread, "doctor", "--json").stdout):
        assert one["level"] == "ok" or one["remedy"]


def test_a_missing_store_is_an_error(unread: Environment) -> None:
    assert ("store", "error") in findings(unread, 1)


def test_files_that_others_can_read_are_an_error(own: Environment) -> None:
    (Path(own["RAW_RAG_HOME"]) / "raw_rag.db").chmod(0o644)
    problem = findings(own, 1)[("permissions", "error")][0]
    assert "raw_rag.db" in problem["text"] and "chmod" in problem["remedy"]


def test_a_damaged_store_is_an_error(own: Environment) -> None:
    store = Path(own["RAW_RAG_HOME"]) / "raw_rag.db"
    content = bytearray(store.read_bytes())
    content[20_000:60_000] = b"\xa5" * 40_000
    store.write_bytes(content)
    assert any(level == "error" for _, level in findings(own, 1))


def test_a_store_that_is_no_database_is_an_error_with_a_way_out(own: Environment) -> None:
    (Path(own["RAW_RAG_HOME"]) / "raw_rag.db").write_bytes(b"garbage " * 1000)
    assert "Move the file away" in run(own, "status").stderr
    assert any("Move the file away" in one["remedy"] for one in findings(own, 1)[("store", "error")])


def test_chunks_without_a_vector_are_a_warning(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path, config='[encoder]\nname = "hashing"\n')
    assert run_ingest(environment, "--no-embed", "-q").exit_code == 0
    assert ("vectors", "warn") in findings(environment)
    assert run_ingest(environment, "-q").exit_code == 0
    assert ("vectors", "ok") in findings(environment)


def test_logs_that_nobody_has_read_are_a_warning(own: Environment) -> None:
    assert run(own, "status").exit_code == 0
    environment = {**own, "RAW_RAG_DB_PATH": ""}
    assert run_ingest(environment, "--agent", "codex", "-q").exit_code == 0
    assert not [one for one in findings(own) if one[1] == "error"]


def test_unknown_records_are_a_warning_with_type_and_version(own: Environment) -> None:
    log = next(Path(own["HOME"]).glob(".claude/projects/*/7c1e*.jsonl"))
    with log.open("a", encoding="utf-8") as stream:
        stream.write('{"type":"hologram","sessionId":"7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001","uuid":"h1"}\nnot json\n')
    assert run_ingest(own, "-q").exit_code == 0
    warnings = findings(own)[("claude", "warn")]
    assert any("hologram" in one["text"] and "2.1.332" in one["text"] for one in warnings)
    assert any("json" in one["text"] for one in warnings)


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ("{}", 30),
        ('{"cleanupPeriodDays": 365}', 365),
        ("not json", 30),
        ('{"cleanupPeriodDays": true}', 30),
    ],
)
def test_how_long_an_agent_keeps_its_logs_is_read_from_its_settings(
    tmp_path: Path, settings: str | None, days: int
) -> None:
    if settings is not None:
        (tmp_path / "settings.json").write_text(settings, encoding="utf-8")
    rule = adapter("claude").retention
    assert rule is not None and retention(rule, str(tmp_path / "projects")).days == days
