"""What ``doctor`` looks at. Each check reads, and changes nothing; what it finds comes with a remedy."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_raw_rag.adapters.base import Adapter
from agent_raw_rag.adapters.base import Retention as Rule
from agent_raw_rag.cli.retention import retention
from agent_raw_rag.encode.choice import TOY
from agent_raw_rag.errors import RawRagError
from agent_raw_rag.runtime import Runtime, expected

if TYPE_CHECKING:
    from agent_raw_rag.search.status import StatusReport

_REMEDY = "Move the file away and run `raw-rag-ingest`: what the agents' logs still hold comes back."
LEVELS = ("ok", "warn", "error")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    level: str
    check: str
    text: str
    remedy: str = ""


def examine(runtime: Runtime) -> list[Finding]:
    """All checks, the cheap ones first."""
    findings = [_settings(runtime), *_permissions(runtime)]
    status = None
    try:
        status = runtime.status()
        findings += [_integrity(runtime, status), _words(status), _vectors(status)]
    except Exception as error:
        known = expected(error)
        if known is None:
            raise
        findings.append(Finding("error", "store", known.message, _REMEDY if status else known.hint or _REMEDY))
    findings += [_model(runtime), _reranker(runtime)]
    for name, (adapter, roots) in runtime.agents().items():
        folders = [root.path for root in roots if os.path.isdir(root.path)]
        findings += _agent(name, adapter.title, [root.path for root in roots], folders, status)
        if adapter.retention is not None:
            findings += [_retention(adapter, adapter.retention, folder, status) for folder in folders]
    return findings


def _settings(runtime: Runtime) -> Finding:
    file = runtime.settings.file
    return Finding("ok", "configuration", file or "no file, all by default")


def _permissions(runtime: Runtime) -> Iterator[Finding]:
    if not os.path.isdir(runtime.home) or sys.platform == "win32":
        return
    open_to_others = [
        path
        for folder, _, files in os.walk(runtime.home)
        for path in (folder, *(os.path.join(folder, file) for file in files if file != "config.toml"))
        if _mode(path) & 0o077
    ]
    if open_to_others:
        count = len(open_to_others)
        text = f"{count} of the store's files can be read by others: {', '.join(sorted(open_to_others)[:3])}"
        yield Finding("error", "permissions", text, f"chmod -R go= {runtime.home}")
    else:
        yield Finding("ok", "permissions", f"only you can read {runtime.home}")


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:  # another process cleaned up
        return 0


def _integrity(runtime: Runtime, status: StatusReport) -> Finding:
    problems = runtime.check_store()
    if problems:
        return Finding("error", "store", f"{status.store} is damaged: {'; '.join(problems[:3])}", _REMEDY)
    return Finding("ok", "store", f"{status.store} is sound: {status.sessions} sessions, {status.turns} turns")


def _words(status: StatusReport) -> Finding:
    if status.indexed:
        return Finding("ok", "words", f"the lexical index is up with {status.chunks} chunks")
    return Finding("warn", "words", "the lexical index lags; the rest is searched directly", "raw-rag-ingest")


def _vectors(status: StatusReport) -> Finding:
    if status.encoder is None:
        return Finding("ok", "vectors", "no encoder is set: search goes by words")
    if status.backlog:
        text = f"{status.backlog} of {status.embedded + status.backlog} chunks have no vector yet ({status.encoder})"
        return Finding("warn", "vectors", text, "raw-rag-ingest")
    return Finding("ok", "vectors", f"all {status.embedded} chunks have one ({status.encoder})")


def _model(runtime: Runtime) -> Finding:
    if runtime.settings.encoder.name == "none":
        return Finding("ok", "model", "none is set")
    try:
        encoder = runtime.spaces.encoder()
        if encoder is not None:
            encoder.encode_query("Is it there?")
    except RawRagError as error:
        return Finding("error", "model", error.message, error.hint or "Install agent-raw-rag-mcp again.")
    if (why := runtime.spaces.wanted_problem()) is not None:
        return Finding(
            "error", "model", why, "Correct [encoder] in the configuration, or make what it names available."
        )
    if encoder is not None and encoder.space.model == TOY:
        return Finding(
            "warn", "model", "the toy encoder for tests ranks", 'Set encoder.name = "embedded"; raw-rag-ingest.'
        )
    return Finding("ok", "model", f"{encoder.space.name if encoder else 'none'}: it answers")


def _reranker(runtime: Runtime) -> Finding:
    from agent_raw_rag.encode.late import Late

    try:
        reranker = runtime.models.reranker(runtime.spaces.active())
        if reranker is None:
            return Finding("ok", "reranker", "none is set")
        if not isinstance(reranker, Late):
            reranker.score("Is it there?", ["It is there."])
    except RawRagError as error:
        return Finding("error", "reranker", error.message, error.hint or "Check [reranker] in the configuration.")
    return Finding("ok", "reranker", f"{reranker.name}: it answers")


def _agent(
    name: str, title: str, roots: list[str], folders: list[str], status: StatusReport | None
) -> Iterator[Finding]:
    one = status.agents.get(name) if status else None
    if one is None:
        if folders:
            yield Finding(
                "warn", name, f"{title} has a folder, but nothing of it is stored", f"raw-rag-ingest --agent {name}"
            )
        else:
            yield Finding("ok", name, f"{title} is not here (looked in {', '.join(roots)})")
        return
    gone = f", {one.gone_sources} of them gone and kept in the store" if one.gone_sources else ""
    yield Finding("ok", name, f"{title}: {one.sessions} sessions from {one.sources} sources{gone}")
    for path, why in one.failed_sources.items():
        yield Finding("error", name, f"{path} could not be read: {why}", f"raw-rag-ingest --agent {name}")
    if one.unknown_records:
        kinds = ", ".join(
            f"{kind} ({count}, version {version})"
            for version, found in one.unknown_by_version.items() for kind, count in found.items()
        )  # fmt: skip
        remedy = "A newer agent may write what this version cannot read: update, or report the types."
        yield Finding("warn", name, f"records of unknown types were passed over: {kinds}", remedy)
    if one.skipped_records:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in one.skipped_records.items())
        yield Finding("warn", name, f"stretches of logs that are no records were passed over: {kinds}",
                      "Nothing to do: the rest of those logs is stored.")  # fmt: skip


def _retention(adapter: Adapter, rule: Rule, folder: str, status: StatusReport | None) -> Finding:
    name, found = adapter.agent, retention(rule, folder)
    read = status.agents[name].last_read if status and name in status.agents else None
    text = (
        f"{adapter.title} deletes its logs after {found.days} days ({found.source}); what was read before stays stored"
    )
    if read is None:
        return Finding("warn", name, f"{text}; nothing was read yet", f"raw-rag-ingest --agent {name}")
    return Finding("ok", name, f"{text}; last read {read[:10]}")
