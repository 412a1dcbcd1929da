"""The sections of the memory layer: what is kept, what is offered over MCP, and where HTTP is served."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from agent_raw_rag.config.section import Section, Share


class McpSettings(Section):
    """Which tools are offered besides the five memory tools."""

    curation: bool = Field(
        False,
        description="Offer the tools that propose, promote and reject; over HTTP only to tokens with the scope `curate`.",
    )
    raw_tools: bool = Field(
        False, description="Offer the search in the agents' logs (`raw_rag_search` and its kin), too."
    )


class HttpSettings(Section):
    """What `raw-rag serve` listens on, and to whom it answers."""

    host: str = Field("127.0.0.1", description="The address. One that others reach needs `--allow-remote` as well.")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(8432, description="The port; 0: any that is free.")
    allowed_hosts: list[str] = Field(
        default_factory=list,
        description="Names in the Host header that are answered, as `mem.example.org` (any port) or `mem.example.org:8443`. This "
        "machine's own names are too, where `host` is one that only this machine reaches.",
    )
    allowed_origins: list[str] = Field(
        default_factory=list,
        description="Web pages that may ask besides those of `allowed_hosts`, as `https://example.org`.",
    )
    body_limit: Annotated[int, Field(ge=1024, le=1 << 30)] = Field(
        4 * 1024 * 1024, description="Bytes of a request's body, at most."
    )

    @field_validator("allowed_hosts")
    @classmethod
    def _are_names(cls, hosts: list[str]) -> list[str]:
        for host in hosts:
            if re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:(\d{1,5}|\*))?", host) is None:
                raise ValueError(f"{host!r} is no host name; give it without scheme and path")
        return hosts


class MemorySettings(Section):
    """What agents save and recall."""

    rules_enabled: bool = Field(
        True, description="Let agents save and change notes: `memory_save` and `memory_update`. Off: neither is there."
    )
    include_raw: bool = Field(
        False, description="Recall raw turns after the notes, where a caller does not say whether it wants them."
    )
    near_duplicate: Share = Field(
        0.85, description="Share of common words from which two notes count as one when they are recalled."
    )
    budget_tokens: Annotated[int, Field(ge=100, le=100_000)] = Field(
        1500, description="Tokens of all that is recalled at once."
    )
    rerank: bool = Field(
        False, description="Let the reranker order what is recalled: rules and the rest, each among themselves."
    )


class PromotionSettings(Section):
    """How what was said becomes notes, without a model."""

    auto_promote: Literal["off", "explicit", "all_valid"] = Field(
        "explicit",
        description='Which sentences become notes by themselves. `explicit`: outright "remember" and "we decided". '
        "`all_valid`: whatever a trigger rule finds. `off`: none; they wait as candidates.",
    )
    interval_seconds: int = Field(
        21_600, description="Seconds between two sweeps of the daemon or a server, at least 300."
    )
    on_capture: bool = Field(False, description="Sweep right after each capture too.")

    @model_validator(mode="after")
    def _rests(self) -> Self:
        if not 300 <= self.interval_seconds <= 31_536_000:
            raise ValueError(
                f"interval_seconds is {self.interval_seconds}, and must be from 300 to 31536000: a sweep wakes the disk of every "
                "space. For notes at once set on_capture = true"
            )
        return self
