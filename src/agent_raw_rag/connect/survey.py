"""Who is wired: every program, each scope, with which command, and whether that command answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_raw_rag.adapters.wiring import Wiring
from agent_raw_rag.connect import files
from agent_raw_rag.connect.command import Command
from agent_raw_rag.connect.parts import CANNOT, HookGroups, Instructions, OwnFile, Part, Server
from agent_raw_rag.connect.plan import Machine, Scope
from agent_raw_rag.connect.probe import Answer
from agent_raw_rag.errors import RawRagError

_NOTHING = Command((), {})


@dataclass(frozen=True, slots=True)
class Wired:
    """One program in one scope."""

    name: str
    title: str
    scope: str
    here: bool
    """Whether the program is used on this machine."""
    file: str | None
    """Where its entry stands; None: it has none."""
    command: str | None
    answers: bool | None
    """None: nothing was started."""
    server: str | None
    """What answered, or what went wrong."""
    hooks: bool
    instructions: bool
    error: str = ""


def survey(
    chosen: list[tuple[str, Wiring]], machine: Machine, scopes: tuple[Scope, ...], probe: Callable[[Command], Answer]
) -> list[Wired]:
    """All of the programs. A command that several have is started once."""
    known: dict[str, Answer] = {}

    def asked(command: Command) -> Answer:
        if command.shown not in known:
            known[command.shown] = probe(command)
        return known[command.shown]

    return [_wired(agent, wiring, machine, scope, asked) for agent, wiring in chosen for scope in scopes]


def _wired(agent: str, wiring: Wiring, machine: Machine, scope: Scope, asked: Callable[[Command], Answer]) -> Wired:
    entry = Server(wiring, _NOTHING)
    file, command, error = _entry(entry, machine.paths(wiring.files, scope))
    answer = asked(command) if command else None
    hooks: Part | None = HookGroups(wiring.hooks, agent, _NOTHING) if wiring.hooks else None
    if wiring.extension:
        hooks = OwnFile(wiring.extension, _NOTHING)
    told = Instructions(wiring.instructions) if wiring.instructions else None
    return Wired(
        wiring.name, wiring.title, scope.value, machine.has(wiring), file, command.shown if command else None,
        answer.ok if answer else None, answer.text if answer else None,
        _present(hooks, machine, scope), _present(told, machine, scope), error,
    )  # fmt: skip


def _entry(entry: Server, paths: tuple[str, ...]) -> tuple[str | None, Command | None, str]:
    error = ""
    for path in paths:
        try:
            content = files.read(path)
            command = entry.found(content.text) if content.data else None
        except RawRagError as problem:
            error = problem.message
            continue
        except CANNOT as problem:
            error = f"{path}: {problem}"
            continue
        if command is not None:
            return path, command, ""
    return None, None, error


def _present(part: Part | None, machine: Machine, scope: Scope) -> bool:
    for path in machine.paths(part.files, scope) if part else ():
        try:
            content = files.read(path)
            if part is not None and content.data and part.is_in(content.text):
                return True
        except (RawRagError, *CANNOT):  # told of where the entry is looked for, or when it is edited
            continue
    return False
