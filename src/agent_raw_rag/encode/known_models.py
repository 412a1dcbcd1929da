"""Models that the product knows by name, as data. Any other repository or folder with a Qwen3 of the same kind works as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["embed", "rerank"]


@dataclass(frozen=True, slots=True)
class Known:
    """One repository on the Hugging Face hub, in MLX's format."""

    model: str
    kind: Kind
    dim: int
    """Of the full vector; 0 for a reranker."""
    megabytes: int
    """About what is downloaded."""
    short: str
    """The name of the original, which means this conversion."""
    default: bool = False


KNOWN = (
    Known("mlx-community/Qwen3-Embedding-0.6B-4bit-DWQ", "embed", 1024, 350, "Qwen/Qwen3-Embedding-0.6B"),
    Known("mlx-community/Qwen3-Embedding-4B-4bit-DWQ", "embed", 2560, 2280, "Qwen/Qwen3-Embedding-4B", default=True),
    Known("mlx-community/Qwen3-Embedding-8B-4bit-DWQ", "embed", 4096, 4280, "Qwen/Qwen3-Embedding-8B"),
    Known("mlx-community/Qwen3-Reranker-0.6B-4bit", "rerank", 0, 345, "Qwen/Qwen3-Reranker-0.6B"),
    Known("mlx-community/Qwen3-Reranker-4B-mxfp8", "rerank", 0, 4170, "Qwen/Qwen3-Reranker-4B", default=True),
)
DEFAULT_ENCODER = next(row.model for row in KNOWN if row.kind == "embed" and row.default)
DEFAULT_RERANKER = next(row.model for row in KNOWN if row.kind == "rerank" and row.default)


def full_name(model: str) -> str:
    """A short name -> the repository that it means: the original's name (with or without its owner), or the conversion's
    without its owner; anything else is itself."""
    for row in KNOWN:
        if model.lower() in {
            name.lower() for whole in (row.model, row.short) for name in (whole, whole.partition("/")[2])
        }:
            return row.model
    return model


def known(model: str) -> Known | None:
    """The row of a model."""
    return next((row for row in KNOWN if row.model == full_name(model)), None)
