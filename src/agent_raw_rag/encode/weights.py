"""A model's name -> its files on this machine, checked: complete, a Qwen3, readable. Nothing is ever fetched from here.

A model is a repository of the Hugging Face hub (looked for in that cache, wherever ``HF_HOME`` puts it), or a folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_raw_rag.encode.hub_cache import cached_repo
from agent_raw_rag.encode.known_models import full_name, known
from agent_raw_rag.encode.safetensors_head import Tensor, read_head
from agent_raw_rag.errors import ModelError

INDEX = "model.safetensors.index.json"
ARCHITECTURES = {"Qwen3ForCausalLM", "Qwen3Model"}


@dataclass(frozen=True, slots=True)
class Weights:
    """The files of a model, all of them there."""

    model: str
    """The repository's full name, or the folder."""
    folder: Path
    config: Mapping[str, Any]
    """``config.json``."""
    files: tuple[Path, ...]
    """The safetensors files, by name."""

    @property
    def hidden(self) -> int:
        """Dimension of the network's states, and of a full vector."""
        return int(self.config["hidden_size"])

    def tensors(self) -> list[tuple[Path, Tensor]]:
        """Every tensor with its file, without its numbers. Raises as ``read_head``."""
        return [(file, tensor) for file in self.files for tensor in read_head(file)]


def is_folder(model: str) -> bool:
    """Whether a model is named by its folder (it begins with ``/``, ``~`` or ``.``) rather than by its repository."""
    return model.startswith(("/", "~", "."))


def locate(model: str) -> tuple[str, Path | None]:
    """The full name of a model, and the folder of its files if there is one."""
    if is_folder(model):
        folder = Path(os.path.abspath(os.path.expanduser(model)))
        return str(folder), folder if folder.is_dir() else None
    name = full_name(model)
    return name, cached_repo(name).snapshot


def find(model: str) -> Weights:
    """The weights of a model, checked without reading their numbers (some milliseconds).

    Raises:
        ModelError: they are not here, not complete, cut short, or of another architecture.
    """
    name, folder = locate(model)
    if folder is None:
        raise absent(name)
    remedy = (
        f"`raw-rag models pull {name}` fetches what is missing." if not is_folder(model) else "Copy it there again."
    )
    config = read_config(folder, remedy)
    files = _files(folder, remedy)
    if not (folder / "tokenizer.json").exists():
        raise ModelError(f"The model in {folder} has no tokenizer.json.", hint=remedy)
    weights = Weights(name, folder, config, files)
    weights.tensors()
    return weights


def weights_present(model: str) -> bool:
    """Whether a model could be loaded from this machine, as far as its files tell."""
    try:
        find(model)
    except ModelError:
        return False
    return True


def absent(name: str) -> ModelError:
    """The error that says that a model is not here, and how to get it."""
    if is_folder(name):
        return ModelError(
            f"There is no folder {name}.", hint="Give the folder of a model, or a name such as owner/model."
        )
    row = known(name)
    size = f" (about {row.megabytes / 1000:.1f} GB)" if row else ""
    return ModelError(
        f"The weights of {name} are not on this machine.", hint=f"`raw-rag models pull {name}` fetches them{size}."
    )


def read_config(folder: Path, remedy: str = "Choose another model.") -> dict[str, Any]:
    """``config.json`` of a Qwen3.

    Raises:
        ModelError: it cannot be read, or describes another architecture.
    """
    path = folder / "config.json"
    try:
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.", hint=remedy) from error
    except ValueError as error:
        raise ModelError(f"{path} is not valid JSON: {error}.", hint=remedy) from error
    if not isinstance(config, dict):
        raise ModelError(f"{path} holds no configuration of a model.", hint=remedy)
    kinds = config.get("architectures") or ["Qwen3ForCausalLM"]
    if config.get("model_type") != "qwen3" or not ARCHITECTURES.intersection(kinds):
        found = f"{config.get('model_type')} ({', '.join(map(str, kinds))})" if config.get("architectures") else None
        raise ModelError(
            f"The model in {folder} is of another architecture: {found or config.get('model_type')}.",
            hint="Use a Qwen3-Embedding or Qwen3-Reranker; `raw-rag models list` shows some.",
        )
    if not isinstance(config.get("hidden_size"), int):
        raise ModelError(f"{path} does not say the model's hidden_size.", hint=remedy)
    return config


def _files(folder: Path, remedy: str) -> tuple[Path, ...]:
    """The safetensors files that the index names; without an index, those that are there."""
    try:
        index = json.loads((folder / INDEX).read_bytes())
        names = sorted({str(name) for name in index["weight_map"].values()})
    except FileNotFoundError:
        names = sorted(path.name for path in folder.glob("model*.safetensors"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder / INDEX} cannot be read: {error}.", hint=remedy) from error
    if not names:
        raise ModelError(f"The model in {folder} has no safetensors file.", hint=remedy)
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise ModelError(f"The model in {folder} is incomplete: {', '.join(missing)} missing.", hint=remedy)
    return tuple(folder / name for name in names)
