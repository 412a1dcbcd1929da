"""The sections of what speaks to generation models: the proxy's upstreams, the chat's model, and what is stored of both."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from agent_raw_rag.config.section import Section, Share

Seconds = Annotated[float, Field(gt=0, le=3600)]
StoreTurns = Literal["true", "permanent", "session", "false"]
FormName = Literal["openai", "anthropic"]


def _checked_url(url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise ValueError(f"{url[:80]!r} is no address; it begins with http:// or https://")
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise ValueError("an address holds no user and no password; name a variable with key_variable")
    return url.rstrip("/")


class UpstreamSettings(Section):
    """A server of generation models."""

    url: str = Field(description="Its address, with or without `/v1`, such as `http://127.0.0.1:1234/v1`.")
    form: FormName = Field(
        "openai", description="What it speaks: OpenAI's `/v1/chat/completions` or Anthropic's `/v1/messages`."
    )
    key_variable: str = Field("", description="The environment variable that holds its key.")
    auth: Literal["key", "passthrough"] = Field(
        "key",
        description="`key`: the key of `key_variable` goes up, and nothing of the caller's. `passthrough`: the caller's own "
        "key goes up; our token comes in `X-Raw-Rag-Token`.",
    )
    models: list[str] = Field(
        default_factory=list,
        description="Models that it serves, as patterns such as `gpt-*`. None: whatever no other names.",
    )
    connect_seconds: Seconds = Field(10.0, description="How long connecting may take.")
    read_seconds: Seconds = Field(600.0, description="How long it may be silent.")

    _url = field_validator("url")(_checked_url)


class ProxySettings(Section):
    """The capture proxy: `/v1/*`, handed on to an upstream as it came."""

    upstreams: dict[str, UpstreamSettings] = Field(
        default_factory=dict,
        description="Name -> upstream. One is chosen by the header `X-Raw-Rag-Upstream`, else by the request's form and model, "
        "else it is the first of its form.",
    )
    body_limit: Annotated[int, Field(ge=1024, le=1 << 30)] = Field(
        32 * 1024 * 1024, description="Bytes of a request's body, at most."
    )


class LlmSettings(Section):
    """The model that answers in a chat. Without `url` and `model` there is no chat."""

    url: str = Field("", description="Its server, with or without `/v1`, such as `http://127.0.0.1:11434/v1`.")
    form: FormName = Field("openai", description="What it speaks.")
    model: str = Field("", description="The model that is asked where nobody names another.")
    key_variable: str = Field("", description="The environment variable that holds the server's key.")
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = Field(4096, description="Tokens of an answer, at most.")
    context_tokens: Annotated[int, Field(ge=512, le=10_000_000)] = Field(
        32_768, description="Tokens that the model can read: persona, memories, history and answer."
    )
    connect_seconds: Seconds = Field(10.0, description="How long connecting may take.")
    timeout_seconds: Seconds = Field(
        55.0, description="How long a whole answer may take; what came until then is given."
    )

    _url = field_validator("url")(_checked_url)

    @property
    def is_set_up(self) -> bool:
        """Whether there is a model to ask."""
        return bool(self.url and self.model)


class ChatSettings(Section):
    """How a chat is held."""

    system: str = Field(
        "", description="What the model is told first. Default: that it has a memory, and how it is marked."
    )
    persona_files: list[str] = Field(
        default_factory=list, description="Texts that follow it, whole or cut to their share."
    )
    persona_share: Share = Field(0.25, description="Share of `llm.context_tokens` that persona files may take.")
    memories: Annotated[int, Field(ge=0, le=50)] = Field(
        3, description="Memories that a prompt gets, at most; 0: none."
    )
    min_score: Share = Field(0.3, description="What a memory scores at least.")


class CaptureSettings(Section):
    """What is stored of chats and of what passes through the proxy."""

    store_turns: StoreTurns = Field(
        "true",
        description="Of chats, of what passes through the proxy, and of turns that programs hand in (`POST /turn`; `POST /store` "
        "with the collection `conversation`); not of what a tool or a command captures. "
        "`true`: every turn, for good. `permanent`: the same, and no forgetting by filters takes it. `session`: for "
        "the session's own history; never searched, forgotten when the session ends. `false`: nothing is written.",
    )
    session_idle_seconds: Annotated[float, Field(ge=60, le=31_536_000)] = Field(
        1800.0,
        description="With `session`: a session that is silent for so long has ended. With `false`: what the server remembers of "
        "a chat, in its memory alone, is dropped when the chat is silent for so long.",
    )

    @field_validator("store_turns", mode="before")
    @classmethod
    def _said(cls, said: object) -> object:
        return str(said).lower() if isinstance(said, bool) else said
