"""What a check says: how it is, what to do about it, and whether ``--fix`` may do that."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agent_raw_rag.errors import StoreBusyError
from agent_raw_rag.runtime import Runtime, expected

if TYPE_CHECKING:
    from agent_raw_rag.search.status import StatusReport

LEVELS = ("ok", "warn", "error")
Mend = Callable[[], str]
"""Puts right what was found, and says what it did. Raises what ``runtime.expected`` knows."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    level: str
    """``ok``, ``warn`` or ``error``."""
    check: str
    text: str
    remedy: str = ""
    """Commands stand in backquotes, and work as they stand."""
    mend: Mend | None = field(default=None, repr=False, compare=False)
    """What ``--fix`` does; None: nothing that is safe."""
    fixed: str = ""
    """What ``--fix`` did."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {
            "level": self.level, "check": self.check, "text": self.text, "remedy": self.remedy,
            "fixable": self.mend is not None, "fixed": self.fixed,
        }  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """What is examined, and when."""

    runtime: Runtime
    config: str | None
    """The configuration file that was asked for."""
    now: float
    """Seconds since 1970."""
    status: StatusReport | None = None
    """None: there is no store, or it cannot be read."""

    @property
    def is_blind(self) -> bool:
        """Whether there is a store, and nobody can tell what is in it."""
        if self.status is not None:
            return False
        try:
            os.lstat(self.runtime.settings.store_path())
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # its folder is closed
            return True
        return True

    def command(self, *words: str) -> str:
        """A command of ours, for the same configuration, ready to be pasted."""
        config = ["--config", os.path.abspath(os.path.expanduser(self.config))] if self.config else []
        return pasted(*words, *config)


def pasted(*words: str) -> str:
    """A command line as a remedy names it."""
    return f"`{shlex.join(words)}`"


def guarded(check: str, look: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """What a check finds; an error that it meets is a finding too, and the checks after it go on."""
    found: list[Finding] = []
    try:
        found.extend(look())
    except Exception as error:
        known = expected(error)
        if known is None:
            raise
        level = "warn" if isinstance(known, StoreBusyError) else "error"
        remedy = known.hint or "Put that right, and run `raw-rag doctor` again."
        found.append(Finding(level, check, known.message, remedy))
    return found


def mended(finding: Finding) -> Finding:
    """The finding after its mending: as done, or with what stood in the way."""
    assert finding.mend is not None
    try:
        return replace(finding, level="ok", remedy="", fixed=finding.mend(), mend=None)
    except Exception as error:
        known = expected(error)
        if known is None:
            raise
        return replace(finding, text=f"{finding.text}; it could not be mended: {known.message}", mend=None)
