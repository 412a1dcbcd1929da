"""The agents' own configuration: who has an entry of ours, does the file parse, and can the command be started.

Nothing is started here (``raw-rag connect --status`` does that), and no file of theirs is ever written by ``--fix``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_raw_rag.cli import render
from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted

if TYPE_CHECKING:
    from agent_raw_rag.connect.command import Command
    from agent_raw_rag.connect.probe import Answer
    from agent_raw_rag.connect.survey import Wired

_FILES = ("--config",)
"""Arguments of ours that a file follows."""


def connected(subject: Subject) -> Iterator[Finding]:
    """Every agent that is found on this machine."""
    from agent_raw_rag.cli.connect import machine_of
    from agent_raw_rag.connect.plan import Scope, chosen, wirings
    from agent_raw_rag.connect.survey import survey

    machine = machine_of(subject.runtime.environment)
    found = survey(chosen(wirings()), machine, tuple(Scope), lambda command: startable(command, subject))
    for one in found:
        yield from _wired(subject, one)
    here = sorted({one.name for one in found if one.here})
    if here and not any(one.file or one.error for one in found):
        text = f"no agent has an entry for this program, so none can search: {', '.join(here)}"
        yield Finding("warn", "connected", text, f"{subject.command('raw-rag', 'connect', '--all')} makes them.")


def _wired(subject: Subject, one: Wired) -> Iterator[Finding]:
    connect = subject.command("raw-rag", "connect", one.name, *([] if one.scope == "user" else ["--scope", one.scope]))
    check = "connected"
    if one.error:
        remedy = f"Correct the file; then {pasted('raw-rag', 'connect', '--status')}. It is left as it is until then."
        yield Finding(
            "error", check, f"{one.title}, {one.scope}: its configuration cannot be used: {one.error}", remedy
        )
    elif one.file is not None and not one.answers:
        text = f"{one.title}, {one.scope}: {one.server} ({render.short_path(one.file)})"
        yield Finding("error", check, text, f"{connect} writes the entry anew.")
    elif one.file is not None:
        yield Finding("ok", check, f"{one.title}, {one.scope}: {one.command} ({render.short_path(one.file)})")
    elif one.here and one.scope == "user":
        yield Finding("ok", check, f"{one.title} has no entry; {connect} makes one")


def startable(command: Command, subject: Subject) -> Answer:
    """Whether the program of a command is there, and the files that it is told of."""
    from agent_raw_rag.connect.probe import Answer

    if not command.words:
        return Answer(False, "its entry names no command")
    path = command.environment.get("PATH") or subject.runtime.environment.get("PATH")
    program = os.path.expanduser(command.words[0])
    if shutil.which(program, path=path) is None:
        return Answer(False, f"its entry starts {program}, which is not there")
    for option, value in zip(command.words, command.words[1:], strict=False):
        if option in _FILES and not os.path.exists(os.path.expanduser(value)):
            return Answer(False, f"its entry names {value}, which is not there")
    return Answer(True, program)
