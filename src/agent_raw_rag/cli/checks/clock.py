"""The clock and the time zone: history is put in order, filtered and shown by them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted

SLACK_SECONDS = 600.0
"""Two machines' clocks may differ by so much without harm."""
REMEDY = f"Compare {pasted('date')} with a clock you trust, and set it if it is behind; nothing stored is lost."


def zone(subject: Subject) -> Iterator[Finding]:
    """The time zone that days are meant in."""
    asked = subject.runtime.environment.get("TZ", "").lstrip(":")
    if "/" in asked and not os.path.isabs(asked) and not _is_zone(asked):
        text = f"TZ is set to {asked}, which is no time zone here: days are meant in UTC"
        yield Finding("warn", "time zone", text, f"{pasted('unset', 'TZ')}, or set it to a name such as Europe/Berlin.")
        return
    local = datetime.fromtimestamp(subject.now, UTC).astimezone()
    yield Finding("ok", "time zone", f"{local.tzname()}, {local.strftime('%z')}; it is {local:%Y-%m-%d %H:%M}")


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name) is not None
    except (OSError, ValueError):  # ZoneInfoNotFoundError is a KeyError
        return False
    except KeyError:
        return False


def times(subject: Subject) -> Iterator[Finding]:
    """Whether anything was said, or read, in the future."""
    limit = int((subject.now + SLACK_SECONDS) * 1000)
    turns, last, read = subject.runtime.upkeep.ahead_of(limit)
    if turns and last is not None:
        text = f"{turns} turns lie in the future, the last at {moment(last / 1000)}"
        yield Finding("warn", "clock", text, REMEDY)
    if read is not None and read > limit:
        yield Finding("warn", "clock", f"the store was written to at {moment(read / 1000)}, in the future", REMEDY)
    if not turns and (read is None or read <= limit):
        yield Finding("ok", "clock", "nothing stored lies in the future")


def moment(seconds: float) -> str:
    """A local time, to the minute. ``seconds`` since 1970."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
