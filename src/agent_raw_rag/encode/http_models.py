"""Which model a server offers, and who wrote the server: ``/v1/models`` (OpenAI's form), or TEI's ``/info``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.encode.http_client import HttpClient, RefusedError
from agent_raw_rag.errors import ModelError

NO_SUCH_PATH = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class Offered:
    """A model that a server offers."""

    name: str
    owner: str = ""
    """What the server calls itself: ``vllm``, ``llamacpp``; ``tei`` for TEI."""


def offered(client: HttpClient) -> list[Offered]:
    """The models of a server, in its order; empty: it does not say.

    Raises:
        ModelError: the server cannot be reached or refuses the key.
    """
    try:
        answer = client.get("/v1/models")
    except RefusedError as error:
        if error.status not in NO_SUCH_PATH:
            raise
        return _of_tei(client)
    items = answer.get("data") if isinstance(answer, dict) else None
    named = [item for item in items or [] if isinstance(item, dict) and isinstance(item.get("id"), str)]
    return [Offered(_name(item["id"]), str(item.get("owned_by", ""))) for item in named]


def only_model(models: Sequence[Offered], word: str, key: str) -> Offered:
    """The one model, or the one whose name holds ``word``. Never the first of several: the order may differ tomorrow.

    Raises:
        ModelError: none, or several; ``key`` says which key of the configuration names it.
    """
    fitting = list(models) if len(models) == 1 else [model for model in models if word in model.name.casefold()]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(sorted(model.name for model in fitting or models)[:8]) or "none by name"
    raise ModelError(f"The inference server offers {names}: it is not clear which model is meant.", hint=f"Set {key}.")


def _name(identity: str) -> str:
    """llama.cpp names a model by the path of its file: the folder is no part of what the model is."""
    return re.split(r"[\\/]", identity)[-1] if identity.endswith(".gguf") else identity


def _of_tei(client: HttpClient) -> list[Offered]:
    """TEI serves one model and tells its name under ``/info`` (``model_id``)."""
    try:
        answer: Any = client.get("/info")
    except RefusedError as error:
        if error.status not in NO_SUCH_PATH:
            raise
        return []
    name = answer.get("model_id") if isinstance(answer, dict) else None
    return [Offered(name, "tei")] if isinstance(name, str) else []
