"""``/store``, ``/memory/{memory}``, ``/delete_batch``: notes, as clients know them that have one sort of memory."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from agent_raw_rag.errors import BadArgumentError, ForbiddenError, NotFoundError, RawRagError
from agent_raw_rag.memory.finding import CONVERSATION, DEFAULT_COLLECTION, metadata_of
from agent_raw_rag.memory.keeping import as_configured
from agent_raw_rag.memory.notes import Save
from agent_raw_rag.memory.results import History, NoteItem
from agent_raw_rag.memory.statements import KINDS, RULE
from agent_raw_rag.memory.values import tags_of
from agent_raw_rag.models import Capture
from agent_raw_rag.server import memory_wire
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation
from agent_raw_rag.server.http.scopes import CURATE
from agent_raw_rag.store.notes import NoteRows

MOST_AT_ONCE = 1000
"""Ids of one request."""
DELETED = "deleted over HTTP"
"""The reason of whoever gives none."""
_OF_A_NOTE = frozenset({"category", "collection", "tags", "source", "timestamp"})
"""Metadata that a note has places of its own for."""
_OF_A_TURN = frozenset({"category", "collection", "source", "timestamp", "session_id"})


class StoreForm(Form):
    """A memory to keep."""

    text: str = Field(
        description="A statement, complete by itself; or what was said, with the collection `conversation`."
    )
    metadata: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="`category` (fact, decision, preference, lesson, task, rule; another one makes a fact and is kept), "
        "`collection` (a label; default `memory`), `tags` (a list, or words with commas), `source`, `timestamp`; and whatever "
        "else is to be kept.",
    )
    common: bool | None = Field(None, description="Taken and ignored: a space is what is shared.")


class Stored(TypedDict):
    """What became of it."""

    id: str | None
    """Of the note; of the turn with the collection `conversation`. None: nothing is stored."""
    status: str
    """``stored``; ``disabled``: turns are not stored here (`[capture] store_turns`)."""
    created: bool
    """False: the same is kept already, under this id."""
    ignored: NotRequired[list[str]]
    """Keys of the metadata of a turn, which has no place for them."""


def store(call: Call) -> Stored:
    """Keep a memory: a note, found by /search and recalled by agents. The same text twice is one note.

    With the category or collection `conversation` it is a turn of the raw history (session: `session_id` of the metadata), and
    stays as long as `[capture] store_turns` says."""
    asked = call.asked(StoreForm)
    said = asked.metadata
    if not asked.text.strip():
        raise BadArgumentError("The text is blank.", hint="Give the statement to keep.")
    if CONVERSATION in (said.get("category"), said.get("collection")):
        return _captured(call, asked.text, said)
    kind = _word(said, "category") or "fact"
    more = {key: value for key, value in said.items() if key not in _OF_A_NOTE}
    if kind not in KINDS:
        kind, more["category"] = "fact", kind
    if kind == RULE:
        _rules_must_be_on(call)
    topic = _word(said, "collection")
    ask = Save(
        asked.text, _word(said, "source") or call.source, None if topic == DEFAULT_COLLECTION else topic, kind,
        tags=tuple(tags_of(said.get("tags") or [])), metadata=more, time=_time(call, said),
    )  # fmt: skip
    saved = call.runtime.memory.notes.save(ask, call.actor)
    return {"id": saved.node_id, "status": "stored", "created": saved.created}


class Remembered(TypedDict):
    """A note with its history."""

    id: str
    text: str
    metadata: dict[str, JsonValue]
    timestamp: str | None
    note: NoteItem
    """All that is known of it; its `status` says whether it holds."""
    history: list[NoteItem]
    """It with all that it replaced and all that replaced it, oldest first. Empty for a token without the scope `curate`."""


def get_memory(call: Call) -> Remembered:
    """A note, whether it still holds or not; with its history for a token of the scope `curate`."""
    memory, wanted = call.runtime.memory, call.path["memory"]
    history: History = memory.notes.history(wanted)
    row = NoteRows(memory.store.read().connection).get(wanted)
    if row is None:  # it went meanwhile
        raise NotFoundError(f"There is no note {wanted[:80]!r} in this space.")
    item = next(one for one in history.notes if one.id == row.id)
    before_and_after = history.notes if CURATE in call.bearer.scopes else []
    told: Any = {
        "id": row.id, "text": row.statement, "metadata": metadata_of(row), "timestamp": item.created,
        "note": item.as_json(), "history": [one.as_json() for one in before_and_after],
    }  # fmt: skip
    remembered: Remembered = told
    return remembered


class UpdateForm(Form):
    """What holds now."""

    content: str = Field(description="The statement that takes the note's place.")
    source: str | None = Field(None, description="Default: the token's label.")
    note: str | None = Field(None, description="Why, in a few words.")


class Updated(memory_wire.Updated):
    """A note that replaced another."""

    id: str
    """Of the note that holds now; the same as ``new_node_id``."""


def update_memory(call: Call) -> Updated:
    """Put a new statement in an active note's place. It takes over collection, category, tags and metadata."""
    _rules_must_be_on(call)
    asked = call.asked(UpdateForm)
    source = call.source if asked.source is None else asked.source
    wanted = _note_id(call, call.path["memory"])
    updated = call.runtime.memory.notes.update(wanted, asked.content, source, call.actor, asked.note)
    told: Any = {"id": updated.new_node_id, **updated.as_json()}
    answer: Updated = told
    return answer


class DeleteQuery(Form):
    """Why."""

    reason: str | None = Field(None, description="Stands in the journal.")


class Deleted(TypedDict):
    """A note that was retired."""

    id: str
    status: str
    """``deleted``."""


def delete_memory(call: Call) -> Deleted:
    """Retire a note: it is found no more. It stays in the history; a turn is forgotten by the owner only.

    409 `protected`: it is tagged `keep`. 409 `not_active`: it no longer held."""
    reason = call.asked(DeleteQuery).reason
    return {"id": _retire(call, call.path["memory"], reason), "status": "deleted"}


class BatchForm(Form):
    """What is to be retired."""

    ids: Annotated[list[str], Field(min_length=1, max_length=MOST_AT_ONCE)]
    reason: str | None = None


class Failed(TypedDict):
    """A note that was not retired, and why."""

    id: str
    code: str
    message: str


class BatchDeleted(TypedDict):
    """What became of each."""

    deleted: int
    failed: list[Failed]


def delete_batch(call: Call) -> BatchDeleted:
    """Retire several notes, each by itself: one that cannot be retired holds up no other."""
    asked, failed = call.asked(BatchForm), list[Failed]()
    ids = list(dict.fromkeys(asked.ids))
    for one in ids:
        try:
            _retire(call, one, asked.reason)
        except RawRagError as error:
            failed.append({"id": one, "code": error.code, "message": error.message})
    return {"deleted": len(ids) - len(failed), "failed": failed}


def _retire(call: Call, wanted: str, reason: str | None) -> str:
    told = reason if reason and reason.strip() else DELETED
    return call.runtime.memory.notes.deprecate(_note_id(call, wanted), told, call.actor).id


def _note_id(call: Call, wanted: str) -> str:
    """The id. Raises BadArgumentError: it is a turn's, which nothing here changes."""
    memory = call.runtime.memory
    if wanted.startswith("e") and memory.store.exists():
        try:
            memory.raw.event(wanted)
        except NotFoundError:
            return wanted
        raise BadArgumentError(
            f"{wanted[:40]} is a turn: what was said is not changed.", hint="`raw-rag forget` forgets sessions."
        )
    return wanted


def _captured(call: Call, text: str, said: dict[str, JsonValue]) -> Stored:
    memory, source = call.runtime.memory, _word(said, "source") or call.source
    time = _time(call, said)
    capture = Capture(
        text, source, door="http", session=_word(said, "session_id"), time=memory.store.now() if time is None else time
    )
    told = as_configured(capture, call.runtime.settings.capture.store_turns)
    if told is None:
        return {"id": None, "status": "disabled", "created": False}
    captured = memory.raw.capture(told, call.actor)
    if captured.event_id is None:
        raise BadArgumentError(captured.note)
    stored: Stored = {"id": captured.event_id, "status": "stored", "created": not captured.duplicate}
    ignored = sorted(said.keys() - _OF_A_TURN)
    return {**stored, "ignored": ignored} if ignored else stored


def _word(said: dict[str, JsonValue], key: str) -> str | None:
    """A text of the metadata; blank is none. Raises BadArgumentError: it is something else."""
    value = said.get(key)
    if value is not None and not isinstance(value, str):
        raise BadArgumentError(f"metadata.{key} is no text.")
    return value.strip() or None if value else None


def _time(call: Call, said: dict[str, JsonValue]) -> int | None:
    told = _word(said, "timestamp")
    return call.runtime.memory.instant(told) if told else None


def _rules_must_be_on(call: Call) -> None:
    if not call.runtime.settings.memory.rules_enabled:
        raise ForbiddenError(
            "Rules and updates are switched off here.", hint="[memory] rules_enabled in the configuration."
        )


OPERATIONS = (
    Operation("POST", "/store", "memory", store, Stored, scope="write", body=StoreForm, errors=(409,)),
    Operation("GET", "/memory/{memory}", "memory", get_memory, Remembered),
    Operation(
        "PUT", "/memory/{memory}", "memory", update_memory, Updated, scope="write", body=UpdateForm, errors=(409,)
    ),
    Operation(
        "DELETE", "/memory/{memory}", "memory", delete_memory, Deleted, scope="write", query=DeleteQuery, errors=(409,)
    ),
    Operation("POST", "/delete_batch", "memory", delete_batch, BatchDeleted, scope="write", body=BatchForm),
)
