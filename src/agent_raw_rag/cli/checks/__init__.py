"""What ``doctor`` looks at, a module a subject. A check reads and changes nothing; what it finds comes with a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent_raw_rag.cli.checks import (
    agents,
    clock,
    daemon,
    derived,
    disk,
    home,
    models,
    sources,
    store,
    triggers,
    upstreams,
)
from agent_raw_rag.cli.checks.finding import LEVELS, Finding, Subject, guarded, mended

__all__ = ["LEVELS", "Finding", "Subject", "examine", "mended"]


def examine(subject: Subject) -> list[Finding]:
    """All checks, those first that others build on."""
    found = [*_surroundings(subject)]
    folder = guarded("home", lambda: home.folder(subject))
    found += folder
    if not any(one.level == "error" for one in folder):  # else all of it would complain of the same
        opened, status = store.opened(subject)
        subject = replace(subject, status=status)
        found += [*_home(subject), *opened, *_store(subject)]
    found += guarded("model", lambda: models.encoder(subject))
    found += guarded("reranker", lambda: models.reranker(subject))
    found += guarded("upstreams", lambda: upstreams.servers(subject))
    found += guarded("sources", lambda: sources.every(subject))
    found += guarded("connected", lambda: agents.connected(subject))
    return found


def _surroundings(subject: Subject) -> Iterator[Finding]:
    yield Finding("ok", "configuration", subject.runtime.settings.file or "no file, all by default")
    yield from guarded("SQLite", store.features)
    yield from guarded("disk", lambda: disk.disk(subject))
    yield from guarded("time zone", lambda: clock.zone(subject))


def _home(subject: Subject) -> Iterator[Finding]:
    yield from guarded("permissions", lambda: home.permissions(subject))
    yield from guarded("socket", lambda: home.leftovers(subject))
    yield from guarded("daemon", lambda: daemon.daemon(subject))
    yield from guarded("service", lambda: daemon.service(subject))
    yield from guarded("triggers", lambda: list(triggers.own_rules(subject)))


def _store(subject: Subject) -> Iterator[Finding]:
    if subject.status is not None:
        yield from guarded("store", lambda: store.soundness(subject))
        yield from guarded("words", lambda: derived.words(subject))
        yield from guarded("vectors", lambda: derived.vectors(subject))
        yield from guarded("clock", lambda: clock.times(subject))
