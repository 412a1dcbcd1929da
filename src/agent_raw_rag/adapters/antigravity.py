"""Antigravity: the command line, the desktop app and the IDE, each with a folder of its own under ``~/.gemini``.

A conversation lies there up to four times: a full transcript, a clipped one, a database with protobuf, and the prompt history.
A step is the same step in all of them, so its key is made of the conversation and the step's number. Each copy says less than
the one before it, so of a lesser copy nothing is read while there is a better one. Documents that the agent wrote (plan,
tasks, walkthrough) are something it said: one turn a file, which is written over when the file is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_raw_rag.adapters import _antigravity_proto as proto
from agent_raw_rag.adapters._antigravity_arrange import CLIPPED, FULL, arrange
from agent_raw_rag.adapters._antigravity_steps import Step, artifact, history_prompt, step_events
from agent_raw_rag.adapters._antigravity_text import human_words
from agent_raw_rag.adapters._antigravity_wiring import WIRING
from agent_raw_rag.adapters.base import Adapter, Family, Root, State, mapping, string
from agent_raw_rag.models import Event, Record, Role, SessionInfo, Shape, Source, Text

AGENT = "antigravity"

FOLDERS = ("antigravity-cli", "antigravity", "antigravity-ide")
LOGS = ".system_generated/logs"


def roots(environment: Mapping[str, str], home: str) -> tuple[Root, ...]:
    """One folder for all three programs: they share the list of projects."""
    return folder(f"{home}/.gemini")


def folder(path: str) -> tuple[Root, ...]:
    """A folder that stands for ``~/.gemini``, or for that of one of the programs in it."""
    parent, _, name = path.rpartition("/")
    base, programs = (parent, (name,)) if name in FOLDERS else (path, FOLDERS)
    inside = (f"brain/*/{LOGS}{FULL}", f"brain/*/{LOGS}{CLIPPED}", "conversations/*.db", "brain/*/*.md")
    return (Root(base, tuple(f"{program}/{pattern}" for program in programs for pattern in inside)),)


def classify(root: Root, path: str) -> Source | None:
    """A transcript, a conversation's database, or a document that the agent wrote."""
    program, *inside = path.split("/")
    if program not in FOLDERS:
        return None
    match inside:
        case ["brain", conversation, ".system_generated", "logs", name] if f"/{name}" == FULL:
            return _document(root, path, conversation, "full", "0")
        case ["brain", conversation, ".system_generated", "logs", name] if f"/{name}" == CLIPPED:
            better = (path.replace(CLIPPED, FULL), f"{program}/conversations/{conversation}.db")
            return _document(root, path, conversation, "clipped", "1", better)
        case ["brain", conversation, name] if name.endswith(".md"):
            return _document(root, path, conversation, "artifact", "3")
        case ["conversations", name] if name.endswith(".db"):
            conversation = name.removesuffix(".db")
            logs = f"{program}/brain/{conversation}/{LOGS}"
            better = (f"{logs}{FULL}", f"{logs}{CLIPPED}")
            return Source(
                AGENT, f"{root.path}/{path}", root.path, Shape.DATABASE,
                variant="database", session=conversation, companions=better, order="2",
            )  # fmt: skip
    return None


def _document(
    root: Root, path: str, conversation: str, variant: str, order: str, better: tuple[str, ...] = ()
) -> Source:
    """A transcript with the documents beside it, or one of these documents with the others."""
    program = path.partition("/")[0]
    documents = f"{program}/brain/{conversation}/*.md"
    around = (
        f"{documents}.metadata.json",
        f"{program}/history.jsonl",
        f"{program}/cache/last_conversations.json",
        f"{program}/log/*.log",
        "config/projects/*.json",
    )
    return Source(
        AGENT, f"{root.path}/{path}", root.path, Shape.DOCUMENT,
        variant=variant, session=conversation, members=(documents,), companions=(*better, *around), order=order,
    )  # fmt: skip


def start(source: Source) -> State:
    """Nothing was said yet."""
    return {
        "session": source.session,
        "version": None,
        "variant": source.variant,
        "cwd": None,
        "started": False,  # the time of the first step was told
        "asked": False,  # there was a prompt
        "task": False,  # and the first one came from another agent
        "thoughts": (),  # of steps that did nothing but think: they go with the next one
        "calls": (),  # [call id, tool] of the calls without a result
    }


def parse(record: Record, state: State) -> Iterable[Event]:
    """Events of one arranged record."""
    piece = record.data
    match piece.get("kind"):
        case "place":
            state["cwd"] = string(piece.get("cwd"))
            return (SessionInfo(session=state["session"], cwd=state["cwd"]),) if state["cwd"] else ()
        case "step":
            return step_events(Step(piece, state))
        case "row":
            return _row(piece, state)
        case "prompt":
            return history_prompt(mapping(piece.get("data")), piece.get("newest"), state)
        case "artifact":
            return artifact(piece, state)
    return ()


def _row(row: dict[str, Any], state: State) -> Iterator[Event]:
    """A step of the database: its words, best effort."""
    step = Step({"number": row.get("idx"), "time": proto.step_time(row.get("metadata"))}, state)
    payload = row.get("step_payload")
    if row.get("step_type") == proto.USER_STEP:
        words = human_words(proto.prompt_words(payload))
        yield from step.asked(Role.USER, words)
    elif row.get("step_type") == proto.ANSWER_STEP:
        words = proto.answer_words(payload)
        yield from step.answered(proto.answer_thoughts(payload), (Text(words),) if words else ())


_STAMP = (
    "count(*) || '.' || sum(coalesce(status, 0)) || '.' || sum(length(coalesce(step_payload, ''))) || '.' || max(idx)"
)
_STEPS = "SELECT 'row' AS kind, * FROM steps ORDER BY idx"
_BLOB = "SELECT 'metadata' AS kind, data AS blob FROM trajectory_metadata_blob"

FAMILIES = (
    Family(
        name="steps",
        tables=("steps", "trajectory_metadata_blob"),
        sessions=f"SELECT '' AS session, {_STAMP} AS stamp FROM steps HAVING count(*) > 0",
        records=(_BLOB, _STEPS),
    ),
    Family(
        name="bare",
        tables=("steps",),
        sessions=f"SELECT '' AS session, {_STAMP} AS stamp FROM steps HAVING count(*) > 0",
        records=(_STEPS,),
    ),
)
"""One conversation a database; the sizes of the payloads are in the rows' heads, so that they need not be read."""

ADAPTER = Adapter(
    agent=AGENT,
    title="Antigravity",
    roots=roots,
    classify=classify,
    parse=parse,
    start=start,
    formats=(
        "transcript_full.jsonl",
        "transcript.jsonl (clipped)",
        "conversations/<id>.db (SQLite with protobuf; words only)",
        "documents in brain/<id>/",
        "history.jsonl (prompts only)",
    ),
    arrange=arrange,
    families=FAMILIES,
    folder=folder,
    resume=lambda conversation, path: ("agy", "--conversation", conversation),
    wirings=(WIRING,),
)
