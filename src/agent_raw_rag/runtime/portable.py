"""Taking a space elsewhere, as the commands use it: export, import, backup, restore."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any

from agent_raw_rag import __version__
from agent_raw_rag.errors import NotFoundError, StoreError, UsageError
from agent_raw_rag.models import Actor, Ask
from agent_raw_rag.store.homes import DEFAULT_SPACE, spaces_with_store

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import IngestReport, IngestRun, Note
    from agent_raw_rag.memory.portable.backup import BackedUp
    from agent_raw_rag.memory.portable.export import Exported
    from agent_raw_rag.memory.portable.restore import Restored
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.store.connection import Connection
    from agent_raw_rag.store.portable import Part

OWNER = Actor("owner", "cli")
FORMS = ("jsonl", "md")
WAIT_SECONDS = 10.0
OnNote = Callable[["Note"], None]


@dataclass
class Portable:
    """One space, to be taken elsewhere or brought back."""

    runtime: Runtime
    root: Runtime
    """The default space's: the locks of its hosts are there."""

    # ------------------------------------------------------------ export

    def export(self, give: IO[bytes] | str, form: str = "jsonl", session: str | None = None, since: str | None = None
               ) -> Exported:  # fmt: skip
        """Write the space, or a part of it, to a stream, or to a file (0600, whole or not at all).

        Args:
            give: Where to.
            form: One of ``FORMS``.
            session: Only this session, with its sub-agents.
            since: Only what was said, noted or proposed from this day or instant on.

        Raises:
            UsageError: an unknown form or date.
            NotFoundError: no such session.
            StoreError: there is no store yet, or the file cannot be written.
        """
        from agent_raw_rag.memory.portable.export import Exported, export_jsonl, export_markdown
        from agent_raw_rag.store.connection import connect

        if form not in FORMS:
            raise UsageError(f"There is no format {form!r}.", hint=f"Formats: {', '.join(FORMS)}.")
        part, chosen = self._part(session, since)
        with closing(connect(self._store, write=False)) as connection, _target(give) as out:
            if form == "md":
                counts = export_markdown(connection, part, out.write)
            else:
                counts = export_jsonl(connection, part, chosen, out.write)
        self._note("export", {"format": form, "counts": counts, "filter": chosen})
        return Exported(give if isinstance(give, str) else None, form, counts)

    def _part(self, session: str | None, since: str | None) -> tuple[Part, dict[str, Any]]:
        from agent_raw_rag.store.portable import Part

        scope = self.runtime.forget_scope(Ask(session=session, after=since))
        chosen = {
            **({"session": self.runtime.reader.session(session).public_id} if session else {}),
            **({"since": scope.after} if scope.after is not None else {}),
        }
        return Part(scope.sessions if session else None, scope.after, notes=session is None), chosen

    # ------------------------------------------------------------ import

    def import_file(self, path: str, agent: str | None = None, *, embed: bool = True,
                    on_note: OnNote = lambda note: None) -> dict[str, Any]:  # fmt: skip
        """Store what a file tells: an export of ours, of a chat service, or an agent's log. Importing it again adds nothing.

        Args:
            path: The file; of a chat service's export also its zip, or the folder it was unpacked to.
            agent: A log's agent, where it cannot be told from what the log says.
            embed: Make vectors too; without, they stay a backlog.
            on_note: Called with progress.

        Raises:
            NotFoundError: there is no such file.
            UsageError, SourceError, StoreError: it is of no kind that is known, cannot be read, is cut or was changed.
        """
        from agent_raw_rag.ingest.run import IngestRun
        from agent_raw_rag.sources.kinds import Kind, kind_of

        if not os.path.exists(path):
            raise NotFoundError(f"There is no file {path}.")
        kind = Kind.LOG if agent else kind_of(path)
        with self._writing("import") as connection:
            run = IngestRun(connection, self.runtime.home, self.runtime.tokenizer, self.runtime.ingest_options, on_note)
            take = {Kind.EXPORT: self._ours, Kind.CHATS: self._chats, Kind.LOG: self._log}[kind]
            result = take(run, os.path.abspath(path), agent)
            run.index()
        return {**result, **self._embedded(embed, on_note)}

    def _ours(self, run: IngestRun, path: str, agent: str | None) -> dict[str, Any]:
        from agent_raw_rag.memory.portable.arrive import arrive

        arrived = arrive(run.committer, path, actor=OWNER, now=_now(), on_chunks=_indexing(run))
        return {"kind": "export", **arrived.as_json()}

    def _chats(self, run: IngestRun, path: str, agent: str | None) -> dict[str, Any]:
        from agent_raw_rag.ingest.exported import import_export

        result = import_export(run.committer, path, _indexing(run))
        given = {"kind": "+".join(result.kinds), **result.as_json()}
        _add(run.connection, "import", result.added.as_json(), target=given["kind"])
        return given

    def _log(self, run: IngestRun, path: str, agent: str | None) -> dict[str, Any]:
        from agent_raw_rag.adapters.registry import adapter, adapters
        from agent_raw_rag.ingest.handed import read_log

        chosen = [adapter(agent)] if agent else list(adapters().values())
        name, result = read_log(run.committer, path, chosen, _indexing(run))
        _add(run.connection, "import", result.added.as_json(), target=name)
        return {"kind": name, **result.as_json()}

    def _embedded(self, embed: bool, on_note: OnNote) -> dict[str, Any]:
        from agent_raw_rag.ingest.run import IngestReport

        report: IngestReport = IngestReport(agents={}, embedded=0, backlog=-1, seconds=0.0)
        if embed:
            self.runtime.spaces.embed(report, on_note)
        else:
            report.backlog = self.runtime.spaces.backlog()
        problem = {"encoder_problem": report.encoder_problem} if report.encoder_problem else {}
        return {"embedded": report.embedded, "backlog": report.backlog, **problem}

    # ------------------------------------------------------------ backup and restore

    def backup(self, target: str) -> BackedUp:
        """Back this space up to a file. Others read and write it meanwhile."""
        from agent_raw_rag.memory.portable.backup import back_up_one

        return back_up_one(self._store, self.runtime.space, target, program=__version__, now=_now(), actor=OWNER)

    def backup_all(self, target: str) -> BackedUp:
        """Back all spaces of the home up to a folder."""
        from agent_raw_rag.memory.portable.backup import back_up_all

        path = self.root.settings.store_path()
        stores = {slug: self.root.in_space(slug).settings.store_path() for slug in spaces_with_store(path)}
        if not stores:
            raise StoreError(f"There is no store at {path} yet.", hint="Run `raw-rag-ingest` once.")
        return back_up_all(stores, target, program=__version__, now=_now(), actor=OWNER)

    def restore(self, backup: str, space: str | None) -> list[Restored]:
        """Put a backup back: one of a single space in the place of that space, or of ``space``; of a folder all, or that one."""
        from agent_raw_rag.memory.portable.restore import choose, restore

        chosen = choose(backup, space)
        done = []
        for path, facts in chosen:
            slug = space or facts.space
            store = self.root.open_space(slug).settings.store_path()
            now = datetime.now().astimezone()
            done.append(restore(path, facts, store, slug, self.root.home, now=now, actor=OWNER))
        return done

    # ------------------------------------------------------------ common

    @property
    def _store(self) -> str:
        return self.runtime.settings.store_path()

    @contextmanager
    def _writing(self, purpose: str) -> Iterator[Connection]:
        from agent_raw_rag.store.connection import connect
        from agent_raw_rag.store.lock import WRITER, lock

        with (
            lock(self.runtime.home, WRITER, wait_seconds=WAIT_SECONDS, purpose=purpose),
            closing(connect(self._store, write=True)) as connection,
        ):
            yield connection

    def _note(self, action: str, detail: dict[str, Any]) -> None:
        from agent_raw_rag.store.durable import connect_durable

        with closing(connect_durable(self._store)) as connection:
            _add(connection, action, detail, target=self.runtime.space or DEFAULT_SPACE)


def _add(connection: Connection, action: str, detail: dict[str, Any], *, target: str) -> None:
    from agent_raw_rag.store.connection import transaction
    from agent_raw_rag.store.journal import Journal

    with transaction(connection):
        Journal(connection).add(OWNER, action, time=_now(), target=target, detail=detail)


def _indexing(run: IngestRun) -> Callable[[int], None]:
    """Index as often as an ingest does, so that no large import waits for its end to be found."""
    return run.chunks_written


def _now() -> int:
    return time.time_ns() // 1_000_000


@contextmanager
def _target(give: IO[bytes] | str) -> Iterator[IO[bytes]]:
    """A stream as it is; a file beside its place, moved there when it is whole."""
    if not isinstance(give, str):
        yield give
        return
    folder = os.path.dirname(os.path.abspath(give))
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{os.path.basename(give)}.", dir=folder)
    except OSError as error:
        raise StoreError(f"{give} cannot be written: {error.strerror}.", hint="Check the folder.") from error
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, give)
    except BaseException:
        os.remove(draft)
        raise
