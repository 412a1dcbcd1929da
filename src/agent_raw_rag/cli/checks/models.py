"""The models that are configured: each is asked once."""

from __future__ import annotations

from collections.abc import Iterator

from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted
from agent_raw_rag.encode.choice import TOY
from agent_raw_rag.errors import RawRagError

_LISTED = f"{pasted('raw-rag', 'models', 'list')} shows what is here."


def encoder(subject: Subject) -> Iterator[Finding]:
    """The model that makes vectors."""
    runtime = subject.runtime
    if runtime.settings.encoder.name == "none":
        yield Finding("ok", "model", "none is set")
        return
    try:
        active = runtime.spaces.active() if subject.status else None
        made = runtime.models.searching_encoder(active)
        if made is not None:
            made.encode_query("Is it there?")
    except RawRagError as error:
        yield Finding(
            "error", "model", error.message, error.hint or f"Correct [encoder] in the configuration. {_LISTED}"
        )
        return
    if subject.status and (why := runtime.spaces.wanted_problem()) is not None:
        remedy = f"Correct [encoder] in the configuration, or make what it names available. {_LISTED}"
        yield Finding("error", "model", why, remedy)
    elif made is not None and made.space.model == TOY:
        remedy = f'Set encoder.name = "embedded" in the configuration; then {subject.command("raw-rag-ingest")}.'
        yield Finding("warn", "model", "the toy encoder for tests ranks", remedy)
    else:
        yield Finding("ok", "model", f"{made.space.name if made else 'none'}: it answers")


def reranker(subject: Subject) -> Iterator[Finding]:
    """The model that reads the best candidates once more."""
    from agent_raw_rag.encode.late import Late

    try:
        active = subject.runtime.spaces.active() if subject.status else None
        made = subject.runtime.models.reranker(active)
        if made is None:
            yield Finding("ok", "reranker", "none is set")
            return
        if not isinstance(made, Late):
            made.score("Is it there?", ["It is there."])
    except RawRagError as error:
        remedy = error.hint or f"Correct [reranker] in the configuration. {_LISTED}"
        yield Finding("error", "reranker", error.message, remedy)
        return
    yield Finding("ok", "reranker", f"{made.name}: it answers")
