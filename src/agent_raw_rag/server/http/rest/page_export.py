"""A session as a file, piece by piece: Markdown, a page that needs nothing else, JSON. What was said is data in each of them."""

from __future__ import annotations

import hashlib
import html
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from agent_raw_rag.sanitize.actions import unsplit
from agent_raw_rag.search.browse import SessionItem

Turns = Iterator[dict[str, Any]]
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "article{border-top:1px solid #8886;padding:.5rem 0}h2{font-size:1rem;margin:.5rem 0}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;margin:0}pre.done{font:.85rem/1.4 ui-monospace,monospace;"
    "opacity:.75;margin-top:.5rem}.abandoned{opacity:.6}dt{float:left;clear:left;width:6rem}"
)
_SUM = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_SUM}'; base-uri 'none'; form-action 'none'"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class ExportForm:
    """What a session is written as."""

    media_type: str
    pieces: Callable[[SessionItem, Turns], Iterator[str]]


def file_name(session: str) -> str:
    """A name for a file, whatever a session is called."""
    return f"session-{_UNSAFE.sub('-', session).strip('.-')[:80] or 'export'}"


def as_markdown(item: SessionItem, turns: Turns) -> Iterator[str]:
    """Every text in a fence that is longer than any in it: no word of it is Markdown, or HTML."""
    yield f"# {_one_line(item.title or item.session)}\n\n"
    yield "".join(f"- {name}: {_one_line(value)}\n" for name, value in _facts(item)) + "\n"
    for turn in turns:
        said = unsplit(turn["text"], turn["actions"])
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", said)), default=0))
        yield f"## {_head(turn)}\n\n{fence}text\n{said}\n{fence}\n\n"


def as_html(item: SessionItem, turns: Turns) -> Iterator[str]:
    """A page without a script, and with a policy that lets none in."""
    title = html.escape(item.title or item.session)
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}"><meta name="viewport" content="width=device-width"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>\n<dl>"
    )
    yield "".join(f"<dt>{name}</dt><dd>{html.escape(value)}</dd>" for name, value in _facts(item)) + "</dl>\n"
    for turn in turns:
        kind = ' class="abandoned"' if turn["abandoned"] else ""
        done = html.escape("\n".join(turn["actions"]))
        yield f'<article{kind} id="turn-{turn["turn"]}"><h2>{html.escape(_head(turn))}</h2>'
        yield f"<pre>\n{html.escape(turn['text'])}</pre>"
        yield (f'<pre class="done">\n{done}</pre>' if done else "") + "</article>\n"
    yield "</body></html>\n"


def as_json(item: SessionItem, turns: Turns) -> Iterator[str]:
    """One object: the session and its turns."""
    yield f'{{"session":{_json(asdict(item))},"turns":['
    for place, turn in enumerate(turns):
        yield ("," if place else "") + "\n" + _json(turn)
    yield "\n]}\n"


FORMS = {
    "md": ExportForm("text/markdown; charset=utf-8", as_markdown),
    "html": ExportForm("text/html; charset=utf-8", as_html),
    "json": ExportForm("application/json", as_json),
}


def _facts(item: SessionItem) -> list[tuple[str, str]]:
    named = {
        "session": item.session, "project": item.project, "branch": item.branch, "started": item.started,
        "last": item.last, "turns": str(item.turns),
    }  # fmt: skip
    return [(name, value) for name, value in named.items() if value]


def _head(turn: dict[str, Any]) -> str:
    words = [str(turn["turn"]), str(turn["role"]).capitalize(), turn["time"] or ""]
    return " · ".join([*filter(None, words), *(["abandoned branch"] if turn["abandoned"] else [])])


def _one_line(text: str) -> str:
    """A line of Markdown in which nothing is marked up."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|&~-])", r"\\\1", " ".join(text.split()))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
