"""The head of a safetensors file: which tensors it holds, of which type and shape, and where.

Format (huggingface/safetensors): 8 bytes of length, little-endian; that many bytes of JSON, name -> dtype, shape, data_offsets;
then the data. So a file that was cut short is known by its size alone.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_raw_rag.errors import ModelError

MAX_HEAD_BYTES = 100_000_000
"""The format's own limit."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where one tensor lies. Offsets are bytes of the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_head(path: Path) -> list[Tensor]:
    """The tensors of a file, in the order of their data.

    Raises:
        ModelError: the file cannot be read, is no safetensors file, or is shorter or longer than its head says.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > min(size, MAX_HEAD_BYTES):
                raise ModelError(f"{path}: the head is longer than the file.", hint=REMEDY)
            tensors = _parse(json.loads(stream.read(length)), 8 + length)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.", hint=REMEDY) from error
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} is not a safetensors file.", hint=REMEDY) from error
    needed = tensors[-1].end if tensors else 8 + length
    if size != needed:
        raise ModelError(f"{path} is damaged: {size:,} bytes instead of {needed:,}.", hint=REMEDY)
    return tensors


REMEDY = "`raw-rag models verify` says which files are damaged, `raw-rag models pull` fetches them again."


def _parse(head: dict[str, dict[str, Any]], base: int) -> list[Tensor]:
    tensors = []
    for name, facts in head.items():
        if name == "__metadata__":
            continue
        begin, end = facts["data_offsets"]
        shape = tuple(int(one) for one in facts["shape"])
        tensors.append(Tensor(name, str(facts["dtype"]), shape, base + int(begin), base + int(end)))
    return sorted(tensors, key=lambda tensor: tensor.end)
