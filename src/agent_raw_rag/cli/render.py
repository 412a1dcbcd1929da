"""The only printer: panels and colours on a terminal, plain text otherwise, JSON on demand.

What comes from logs is untrusted: it is never read as markup, and its control characters do not reach the terminal.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from agent_raw_rag.errors import RawRagError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDEST = 110
"""Columns of a panel: longer lines are hard to read."""
LEAST_LAST_COLUMN = 12
"""Columns that the last cell of a table's row must have, to be folded there."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "error": ("✗", "red")}


def as_json(value: object) -> None:
    """One JSON value, in UTF-8 whatever the locale."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def complain(error: RawRagError, *, as_json: bool = False) -> None:
    """An expected error, on stderr."""
    if as_json:
        body = {"code": error.code, "message": error.message, "hint": error.hint}
        print(json.dumps({"error": body}), file=sys.stderr)
        return
    print(f"Error: {safe(error.message)}", file=sys.stderr)
    if error.hint:
        print(safe(error.hint), file=sys.stderr)


def aside(message: str) -> None:
    """A remark that is not the answer, on stderr."""
    print(safe(message), file=sys.stderr)


@contextmanager
def transfer(title: str) -> Iterator[Callable[[int, int], None]]:
    """Progress in bytes, on stderr: a bar on a terminal, a line every tenth elsewhere. Yields what is to be called with the
    bytes that are done and those of all."""
    if not sys.stderr.isatty():
        yield _tenths(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(safe(title), total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def _tenths(title: str) -> Callable[[int, int], None]:
    said = [0]

    def say(done: int, total: int) -> None:
        tenth = 10 * done // total if total else 10
        if tenth > said[0]:
            said[0] = tenth
            aside(f"{title}: {tenth * 10} % of {size(total)}")

    return say


def line(message: str = "", style: str = "") -> None:
    """A line of the answer."""
    if is_terminal():
        _console().print(_text(message, style), soft_wrap=True)
    else:
        print(encodable(safe(message)))


def raw(text: str) -> None:
    """Text for another program: no style and no folding, but nothing that steers a terminal either."""
    print(encodable(safe(text)))


def words(text: str) -> None:
    """The next words of a text that comes in pieces."""
    sys.stdout.write(encodable(safe(text)))
    sys.stdout.flush()


def passage(
    title: str, facts: str, body: str, *, footer: str = "", words: Iterable[str] = (), style: str = "cyan"
) -> None:
    """A stretch of history with its origin."""
    if is_terminal():
        _panel(title, facts, body, footer, words, style)
        return
    rows = [title, facts, footer, body]
    print(encodable("\n".join(safe(row) for row in rows if row) + "\n"))


def _panel(title: str, facts: str, body: str, footer: str, words: Iterable[str], style: str) -> None:
    from rich.console import Group
    from rich.panel import Panel

    shown = _text(body)
    for word in words:
        pattern = rf"(?i)\b{re.escape(word)}\b" if word.isascii() else re.escape(word)
        shown.highlight_regex(pattern, "bold yellow")
    parts = [_text(facts, "dim"), shown] if facts else [shown]
    if footer:
        parts.append(_text(footer, "dim italic"))
    width = min(_console().width, WIDEST)
    _console().print(Panel(Group(*parts), title=_text(title, f"bold {style}"), title_align="left", border_style=style,
                           width=width))  # fmt: skip


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "") -> None:
    """Rows under headings; columns of numbers to the right. Plain: tab-separated, so that other programs can cut it."""
    texts = [["" if value is None else str(value) for value in row] for row in rows]
    if not is_terminal():
        for row in [list(columns), *texts]:
            print(encodable("\t".join(" ".join(safe(cell).split()) for cell in row)))
        return
    widths = [max(len(row[place]) for row in [list(columns), *texts]) for place in range(len(columns))]
    if sum(widths[:-1]) + 2 * len(widths) > _console().width - LEAST_LAST_COLUMN:
        _stacked(columns, texts)
        return
    from rich.table import Table

    shown = Table(
        title=_text(title) if title else None, title_justify="left", header_style="bold", box=None, pad_edge=False
    )
    for place, name in enumerate(columns):
        numeric = bool(texts) and all(row[place].replace(",", "").isdigit() for row in texts)
        shown.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in texts:
        shown.add_row(*(_text(cell) for cell in row))
    _console().print(shown)


def _stacked(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A row as lines of name and value, where the terminal is too narrow for columns."""
    for row in rows:
        line(row[0], "bold")
        for name, cell in zip(columns[1:], row[1:], strict=True):
            line(f"  {name}: {cell}")


def projects_with_history(projects: Iterable[str]) -> None:
    """Where an empty answer could be looked for instead."""
    for project in projects:
        line(f"  history in {short_path(project)}", "dim")


def finding(level: str, text: str, remedy: str) -> None:
    """A line of a check-up."""
    mark, style = _MARKS[level]
    line(f"{mark if is_terminal() else level + ':'} {text}", style if level != "ok" else "")
    if remedy and level != "ok":
        line(f"  → {remedy}", "dim")


def is_terminal() -> bool:
    """Whether a person reads stdout."""
    return sys.stdout.isatty()


def safe(text: str) -> str:
    """Text without characters that would steer a terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 256 else "", text)


def short_path(path: str | None) -> str:
    """A folder as people write it."""
    home = os.path.expanduser("~")
    if path and home != "/" and (path == home or path.startswith((home + "/", home + os.sep))):
        return "~" + path[len(home) :]
    return path or "no project"


def when(time: str | None) -> str:
    """A time as people read it: to the minute, with its offset."""
    return f"{time[:10]} {time[11:16]} {time[19:]}" if time else "no time"


def minute(time: str | None) -> str:
    """A time in a column: local, to the minute."""
    return f"{time[:10]} {time[11:16]}" if time else ""


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def encodable(text: str) -> str:
    """The text as far as stdout's encoding goes: a terminal in another locale shows what it can."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(encodable(safe(text)), style=style)


@cache
def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)
