"""A Qwen3 with its tokenizer, as something that comes into memory when it is needed and leaves when it is not."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.encode.fingerprint import fingerprint
from agent_raw_rag.encode.mlx_backend import mlx
from agent_raw_rag.encode.mlx_thread import Resident
from agent_raw_rag.encode.qwen_model import QwenModel
from agent_raw_rag.encode.qwen_tokens import QwenTokens
from agent_raw_rag.encode.weights import find
from agent_raw_rag.errors import ModelError


@dataclass(frozen=True)
class Loaded:
    """Both halves of a model. Belongs to the MLX thread."""

    network: QwenModel
    tokens: QwenTokens


def resident(model: str, revision: str, idle_seconds: float, *, with_head: bool) -> Resident[Loaded]:
    """A model that is loaded at its first use, if it is still the one whose fingerprint is ``revision``.

    Raises (at use):
        ModelError: MLX is missing; the weights are missing, damaged, or others than before.
    """

    def load() -> Loaded:
        weights = find(model)
        if fingerprint(weights) != revision:
            raise ModelError(
                f"The weights of {weights.model} are others than when this process began.", hint="Start it again."
            )
        return Loaded(QwenModel(weights, with_head=with_head), QwenTokens(weights.folder))

    return Resident(load, lambda: mlx().core.clear_cache(), idle_seconds)
