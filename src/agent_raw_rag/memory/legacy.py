"""Tokens of the environment: one for everybody, as servers of this kind had before there were labelled ones."""

from __future__ import annotations

from collections.abc import Mapping

VARIABLES = ("RAW_RAG_MCP_TOKEN", "OCTOP_MEMORY_MCP_TOKEN")


def legacy_tokens(environment: Mapping[str, str]) -> dict[str, str]:
    """Variable -> its token. A blank one is as good as none."""
    given = {name: environment.get(name, "").strip() for name in VARIABLES}
    return {name: secret for name, secret in given.items() if secret}
