"""Arrow 4: a turn -> a clean turn. Above: ``turns``. Below: ``chunker`` and ``store``, which take nothing else.

Words are kept whole; a tool call is one line; reasoning is capped; secrets are masked, first in every piece before it is
cut, then once more over the whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_raw_rag.models import Action, CleanText, CleanTurn, Image, Text, Thinking, Tokenizer, Turn
from agent_raw_rag.sanitize.actions import action_lines
from agent_raw_rag.sanitize.options import Options
from agent_raw_rag.sanitize.redact import redact
from agent_raw_rag.sanitize.scrub import scrub
from agent_raw_rag.sanitize.thinking import capped

DEFAULT = Options()


class _Masker:
    """Masks texts and remembers what it masked; only scrubs them where redaction is switched off."""

    def __init__(self, *, redacting: bool) -> None:
        self._redacting = redacting
        self.kinds: list[str] = []

    def __call__(self, text: str) -> CleanText:
        if not self._redacting:
            return CleanText(scrub(text))
        clean, kinds = redact(text)
        self.kinds += kinds
        return clean


def clean(turn: Turn, tokenizer: Tokenizer, options: Options = DEFAULT) -> CleanTurn | None:
    """The turn as it may be stored; None if nothing of it remains, as with a call of our own memory."""
    mask = _Masker(redacting=options.redact)
    text = mask("\n".join(_rendered(turn, tokenizer, mask, options))).rstrip()
    if not text:
        return None
    return CleanTurn(
        session=turn.session,
        role=turn.role,
        key=turn.key,
        time=turn.time,
        text=CleanText(text),
        record_ids=tuple(turn.record_ids),
        start=turn.start,
        end=turn.end,
        trail=tuple(turn.trail),
        branch_from=turn.branch_from,
        settled=turn.settled,
        redactions=tuple(mask.kinds),
    )


def _rendered(turn: Turn, tokenizer: Tokenizer, mask: _Masker, options: Options) -> Iterator[str]:
    for item in turn.items:
        if isinstance(item, Action):
            yield from action_lines(item, mask, options)
        elif isinstance(item, Image):
            yield f"[{' '.join(mask(item.label).split())[:120] or 'image'}]"
        elif item.text.strip():
            yield item.text if isinstance(item, Text) else _thought(item, tokenizer, mask)


def _thought(item: Thinking, tokenizer: Tokenizer, mask: _Masker) -> str:
    return f"<thinking>\n{capped(mask(item.text).strip(), tokenizer)}\n</thinking>"
