"""Which files an agent's wiring means on this machine: agents' rows -> places."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.adapters.wiring import Environment, Files, Wiring
from agent_raw_rag.connect import files
from agent_raw_rag.connect.command import Command
from agent_raw_rag.connect.parts import CANNOT, HookGroups, Instructions, OwnFile, Part, Server
from agent_raw_rag.connect.wire import Place
from agent_raw_rag.errors import RawRagError, UsageError


class Scope(StrEnum):
    """Whose sessions an entry is for."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Commands:
    """How this installation is started."""

    server: Command
    hook: Command


@dataclass(frozen=True, slots=True)
class Machine:
    """Where agents' files are looked for."""

    environment: Environment
    home: str
    project: str
    """The folder that the scope ``project`` means."""

    def paths(self, where: Files, scope: Scope) -> tuple[str, ...]:
        """All places where a file may lie."""
        if scope is Scope.USER:
            return tuple(path.replace("/", os.sep) for path in where.user(self.environment, self.home))
        if os.path.realpath(self.project) == os.path.realpath(self.home):
            return ()  # not a project; its files would be the user's
        return tuple(os.path.join(self.project, name) for name in where.project)

    def has(self, wiring: Wiring) -> bool:
        """Whether a program is used here: its folder, or one of its files, or its command is there."""
        known = (wiring.folder(self.environment, self.home), *wiring.files.user(self.environment, self.home))
        return any(os.path.exists(path) for path in known)


def wirings() -> dict[str, tuple[str, Wiring]]:
    """Name -> (agent, wiring) of every program that can be wired."""
    return {one.name: (row.agent, one) for row in adapters().values() for one in row.wirings}


def chosen(names: Iterable[str]) -> list[tuple[str, Wiring]]:
    """The wirings of these names.

    Raises:
        UsageError: an unknown name.
    """
    known = wirings()
    for name in names:
        if name not in known:
            listed = ", ".join(f"{one} ({wiring.title})" for one, (_, wiring) in known.items())
            raise UsageError(f"{name!r} cannot be wired.", hint=f"Known: {listed}.")
    return [known[name] for name in dict.fromkeys(names)]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be put into agents' files, and where."""

    machine: Machine
    scope: Scope
    commands: Commands

    def to_write(
        self, agent: str, wiring: Wiring, *, hooks: bool, instructions: bool, server: bool = True
    ) -> list[Place]:
        """Where a program's parts go: each into the file that has it, else the first that exists, else the last. What a
        program has no place for is left out."""
        wanted = {"server": server, "hooks": hooks, "instructions": instructions}
        found = [part for part in self._parts(agent, wiring) if wanted[part.kind]]
        return [place for part in found if (place := self._place(wiring, part)) is not None]

    def to_undo(self, agent: str, wiring: Wiring, *, hooks_only: bool = False) -> list[Place]:
        """Every file in which a part of a program, or its hooks, may be."""
        return [
            Place(wiring.name, part, path)
            for part in self._parts(agent, wiring)
            if part.kind == "hooks" or not hooks_only
            for path in self.machine.paths(part.files, self.scope)
            if os.path.lexists(path)
        ]

    def note(self, place: Place, wiring: Wiring) -> str:
        """What the user still has to do after a part was written."""
        if place.part.kind == "server":
            return wiring.note if self.scope is Scope.PROJECT else ""
        told = (wiring.hooks or wiring.extension) if place.part.kind == "hooks" else None
        return told.note if told else ""

    def _parts(self, agent: str, wiring: Wiring) -> list[Part]:
        found: list[Part] = [Server(wiring, self.commands.server)]
        if wiring.hooks:
            found.append(HookGroups(wiring.hooks, agent, self.commands.hook))
        if wiring.extension:
            found.append(OwnFile(wiring.extension, self.commands.hook))
        if wiring.instructions:
            found.append(Instructions(wiring.instructions))
        return found

    def _place(self, wiring: Wiring, part: Part) -> Place | None:
        paths = self.machine.paths(part.files, self.scope)
        if not paths:
            return None
        having = [path for path in paths if _has(part, path)]
        there = [path for path in paths if os.path.lexists(path)]
        return Place(wiring.name, part, (having or there or [paths[-1]])[0])


def project_root(folder: str) -> str:
    """The folder with ``.git`` that a folder lies in, else the folder itself."""
    path = os.path.abspath(folder)
    while not os.path.exists(os.path.join(path, ".git")):
        above = os.path.dirname(path)
        if above == path:
            return os.path.abspath(folder)
        path = above
    return path


def _has(part: Part, path: str) -> bool:
    """Whether a file has it; one that cannot be read or parsed is told of when it is edited."""
    try:
        content = files.read(path)
        return content.data is not None and part.is_in(content.text)
    except (RawRagError, *CANNOT):
        return False
