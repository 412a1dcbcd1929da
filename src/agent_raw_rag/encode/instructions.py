"""What a model wants before a query, by the model's name, and how an instruction is put to a text."""

from __future__ import annotations

import re

QUERY = "{query}"
QWEN3_EMBEDDING = f"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:{QUERY}"
"""Of the model card; there is no space behind ``Query:``."""
BGE_EN = f"Represent this sentence for searching relevant passages: {QUERY}"

KNOWN = (
    (re.compile(r"qwen3[-_]embedding"), QWEN3_EMBEDDING),
    (re.compile(r"bge-(?:small|base|large)-en-v1\.5"), BGE_EN),
)
"""Part of a model's name, in lower case -> instruction. Only models whose passages are encoded as they are."""


def known_instruction(model: str) -> str:
    """The instruction of a model that is known by name; empty: none is known."""
    name = model.casefold()
    return next((instruction for pattern, instruction in KNOWN if pattern.search(name)), "")


def instructed(instruction: str, query: str) -> str:
    """The query in its instruction: at ``{query}``, else behind it."""
    return instruction.replace(QUERY, query) if QUERY in instruction else instruction + query
