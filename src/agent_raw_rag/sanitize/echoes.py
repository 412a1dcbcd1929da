"""Recognises calls of our own memory: storing them would bring old memories back as new ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agent_raw_rag.sanitize.options import Options
from agent_raw_rag.sanitize.tools import Category

_CALL = re.compile(r"\b(?:tools\.)?([A-Za-z_]\w{0,80}(?:\.\w{1,80}){0,3})\s{0,3}\(")
_GLUE = frozenset(
    ("text", "print", "log", "stringify", "parse", "map", "filter", "join", "await", "async", "if", "for", "while")
)
"""Calls that only carry a result on, by their last name."""
_QUOTED = re.compile(r"'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"|`[^`]{0,2000}`")
_MAX_CODE = 20_000


def is_own(name: str, args: Mapping[str, Any], category: Category, options: Options) -> bool:
    """Whether this call asks our own memory, by itself or through code that does nothing else."""
    if own_name(name, options):
        return True
    code = args.get("code") or args.get("input")
    if category is not Category.SHELL or not isinstance(code, str) or len(code) > _MAX_CODE:
        return False
    called = [call for call in _CALL.findall(_QUOTED.sub("", code)) if call.rpartition(".")[2].lower() not in _GLUE]
    return bool(called) and all(own_name(call, options) for call in called)


@lru_cache(maxsize=4096)
def own_name(name: str, options: Options) -> bool:
    """Whether a tool's full name holds one of our names or begins with one of our servers."""
    plain = _plain(name)
    if any(_plain(own) in plain for own in options.own_names):
        return True
    return _begins(plain.removeprefix("mcp_"), options.own_servers)


def _begins(plain: str, servers: Iterable[str]) -> bool:
    return any(plain.startswith(f"{_plain(server)}_") for server in servers)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())
