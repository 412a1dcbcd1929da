"""Exports of chat services -> store, one conversation a transaction, through the logs' own pipeline.

A conversation that is stored as it stands in the export is passed over, so importing again adds nothing. One that has grown or
was edited is brought up to date. All exports of a service are one source, whatever their files are called: of two versions of a
conversation the one changed last is kept.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from agent_raw_rag.adapters.base import digest
from agent_raw_rag.adapters.exports import DOOR, Conversation, Export, Stretch, export_of, stretches
from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.commit import Added, Committer
from agent_raw_rag.ingest.prepare import Prepared
from agent_raw_rag.ingest.reading import Mark
from agent_raw_rag.models import CleanTurn, Rollback, SessionInfo, Shape, Source, Tokenizer, Turn
from agent_raw_rag.sanitize import Options, clean
from agent_raw_rag.sources.exported import BadEntry, Entry, read_entries
from agent_raw_rag.store.sources import CursorRow, Sources
from agent_raw_rag.turns import Assembler

TAKEN = "Import takes an export of raw-rag, a chat service's zip or conversations.json, or an agent's JSONL log."
NAMED = 20
"""So many of the malformed entries are named."""


@dataclass
class Imported:
    """What an import found and added."""

    kinds: list[str] = field(default_factory=list)
    """Of what services the conversations were; for a log: its agent."""
    sessions: int = 0
    """Conversations in the file."""
    unchanged: int = 0
    """Of these, stored already as they stand in the file, or in a later version."""
    added: Added = field(default_factory=Added)
    malformed: dict[str, int] = field(default_factory=dict)
    """Reason -> how many entries were passed over."""
    named: list[str] = field(default_factory=list)
    """The first of them."""
    unknown: dict[str, int] = field(default_factory=dict)
    """Kind of content never seen before -> how often."""
    files_left_out: int = 0
    """Attached files in the export of which only the name is kept."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        content = asdict(self)
        del content["kinds"]
        return {**content, "added": self.added.as_json()}

    def pass_over(self, reason: str, name: str) -> None:
        """Count what could not be taken."""
        self.malformed[reason] = self.malformed.get(reason, 0) + 1
        if len(self.named) < NAMED:
            self.named.append(f"{name}: {reason}")


def import_export(committer: Committer, path: str, on_chunks: Callable[[int], None] = lambda count: None) -> Imported:
    """Store the conversations of an export. The caller holds the writer lock. Killed in between, it is run again.

    Raises:
        SourceError: it cannot be opened, or holds no conversation that is known.
    """
    result = Imported()
    sources: dict[str, int] = {}
    for entry in read_entries(path):
        row = None if isinstance(entry, BadEntry) else export_of(entry.data)
        if isinstance(entry, BadEntry) or row is None:
            result.pass_over(entry.reason if isinstance(entry, BadEntry) else "no-conversation", entry.name)
            continue
        if row.name not in sources:
            sources[row.name] = committer.sources.add(_source(row))
            result.kinds.append(row.name)
        _one(committer, row, sources[row.name], entry, result, on_chunks)
    if not sources:
        raise _nothing_in(path, result)
    for number in sources.values():
        _saw(committer.sources, number)
    return result


def _nothing_in(path: str, result: Imported) -> SourceError:
    """The error of a file without any conversation. What a parser says of a text that is no JSON helps nobody."""
    if not result.malformed:
        return SourceError(f"{path} holds no conversations.", hint="Ask the service for the export again.")
    if all(reason.startswith("json") for reason in result.malformed):
        return SourceError(f"{path} is no export and no log: it is not JSON.", hint=TAKEN)
    return SourceError(
        f"{path} holds no conversation of a service that is known.", hint=f"{TAKEN} Of its entries: {result.named[0]}."
    )


def _source(row: Export) -> Source:
    return Source(DOOR, f"{row.name} export", "", Shape.DOCUMENT)


def _saw(sources: Sources, number: int) -> None:
    tally: Counter[str] = sum((Counter(one) for one in sources.part_tallies(number)), Counter())
    sources.saw(number, (0, 0, 0, 0), dict(tally), int(time.time() * 1000))


def _one(
    committer: Committer, row: Export, source_id: int, entry: Entry, result: Imported,
    on_chunks: Callable[[int], None],
) -> None:  # fmt: skip
    try:
        conversation = row.read(entry.data)
    except ValueError:
        result.pass_over("no-identity", entry.name)
        return
    except Exception as error:
        # An entry that breaks its reader costs that entry. It is counted and named.
        result.pass_over(f"parse-{type(error).__name__}", entry.name)
        return
    result.sessions += 1
    for reason in conversation.skipped:
        result.pass_over(reason, entry.name)
    result.files_left_out += conversation.left_out
    for kind in conversation.unknown:
        result.unknown[kind] = result.unknown.get(kind, 0) + 1
    stamp = f"{conversation.changed or 0:015d}:{digest(repr(conversation))}"
    saved = committer.sources.cursor(source_id, conversation.session)
    if saved is not None and (saved.stamp == stamp or saved.stamp[:15] > stamp[:15]):
        result.unchanged += 1
        return
    batch = prepared_conversation(conversation, stamp, committer.tokenizer, committer.options)
    added = committer.commit(_source(row), source_id, batch, conversation.session)
    result.added.add(added)
    on_chunks(added.chunks)


def prepared_conversation(conversation: Conversation, stamp: str, tokens: Tokenizer, options: Options) -> Prepared:
    """A conversation, cleaned, as one transaction stores it."""
    turns: list[CleanTurn] = []
    marks: list[Mark] = []
    for stretch, assembled in _assembled(conversation):
        cleaned = [one for turn in assembled if (one := clean(turn, tokens, options)) is not None]
        turns += cleaned
        if stretch.abandoned and cleaned:
            marks.append(_abandoned(conversation.session, cleaned))
    info = SessionInfo(conversation.session, title=conversation.title, started=conversation.started)
    names = [f"unknown||{kind}" for kind in conversation.unknown] + [f"skipped||{one}" for one in conversation.skipped]
    tally = dict(Counter(names))
    cursor = CursorRow(stamp, tally=tally)
    return Prepared(turns, {conversation.session: info}, marks, [], tally, cursor, whole=True)


def _assembled(conversation: Conversation) -> Iterator[tuple[Stretch, list[Turn]]]:
    """Turns of each stretch. Each is assembled on its own: nobody goes on with what was edited away."""
    place = 0
    for stretch in stretches(conversation):
        assembler: Assembler[None] = Assembler()
        for message in stretch.messages:
            assembler.feed(message, conversation.session, place, place + 1, None)
            place += 1
        turns = [*assembler.take_settled(), *assembler.open_turns()]
        for turn in turns:
            turn.settled = True
        yield stretch, turns


def _abandoned(session: str, turns: list[CleanTurn]) -> Mark:
    first, last = turns[0], turns[-1]
    return Mark(session, Rollback(from_record=first.record_ids[0]), last.key, first.start)
