"""Tiny Qwen3 models with random weights, in the files of the real ones: the same bytes on every machine.

Numbers come from the Mersenne Twister's uniform doubles, whose sequence is fixed for good; files are written byte by byte.
``python -m tests.encode.tiny_qwen FOLDER`` writes one of each form.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HIDDEN, INNER, LAYERS, HEADS, KV_HEADS, HEAD_DIM, VOCAB = 64, 128, 2, 4, 2, 32, 704
GROUP = 64
FORMS = ("fp32", "bf16", "q4", "q4-bf16")
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CORPUS = (
    "The upload is retried three times, then it gives up and says why. A retry of a retry makes duplicates. "
    "We moved the date parser to a module of its own, since the tests of the store did not need it. "
    "Which size of a window did we settle on? The answer must hold whole turns, and the score is a probability. "
    "Gravity is a force between masses. Copyleft is a way of giving rights to all who receive a program. "
    "Judge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no". Given a web search query, retrieve relevant passages. '
)
Tensors = dict[str, tuple[str, NDArray[Any]]]
"""Name -> (type in the file, numbers as they lie there)."""


def write_model(
    folder: Path, form: str = "fp32", *, tied: bool = True, prefixed: bool = True, head: bool = True, shards: int = 1,
    seed: int = 1, config: Mapping[str, Any] | None = None,
) -> Path:  # fmt: skip
    """A model's folder.

    Args:
        folder: Where.
        form: ``fp32``, ``bf16``; ``q4``: 4-bit codes, each 64 with a scale and a bias; ``q4-bf16``: these in bf16, as is usual.
        tied: The head is the embedding.
        prefixed: Names begin with ``model.``, as in MLX's conversions; the original embedding models have none.
        head: Whether an untied head is written.
        shards: Files that the tensors are spread over.
        seed: Of the numbers.
        config: Keys to change in ``config.json``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = _tensors(form, tied=tied, seed=seed)
    if not head:
        tensors = {name: one for name, one in tensors.items() if not name.startswith("lm_head.")}
    if not prefixed:
        tensors = {name.removeprefix("model."): one for name, one in tensors.items()}
    _write_shards(folder, tensors, shards)
    facts = {**_config(form, tied=tied), **(config or {})}
    (folder / "config.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    write_tokenizer(folder)
    return folder


def write_tokenizer(folder: Path, special: tuple[str, ...] = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")) -> None:
    """Byte-level BPE with Qwen's way of cutting words, trained on ``CORPUS``."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer: Any = trainers.BpeTrainer(vocab_size=640, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([CORPUS, *["yes no\nyes\nno\n"] * 50], trainer)
    tokenizer.add_special_tokens(list(special))
    tokenizer.add_tokens(["<think>", "</think>"])
    assert tokenizer.get_vocab_size() <= VOCAB
    tokenizer.save(str(folder / "tokenizer.json"))


def write_safetensors(path: Path, tensors: Tensors) -> None:
    """The format's own bytes."""
    head: dict[str, Any] = {"__metadata__": {"format": "mlx"}}
    offset = 0
    for name, (kind, numbers) in tensors.items():
        head[name] = {"dtype": kind, "shape": numbers.shape, "data_offsets": [offset, offset + numbers.nbytes]}
        offset += numbers.nbytes
    text = json.dumps(head).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        for _, numbers in tensors.values():
            stream.write(np.ascontiguousarray(numbers).tobytes())


def _write_shards(folder: Path, tensors: Tensors, shards: int) -> None:
    if shards == 1:
        write_safetensors(folder / "model.safetensors", tensors)
        return
    names, weight_map = list(tensors), {}
    for number in range(shards):
        file = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        part = names[number::shards]
        write_safetensors(folder / file, {name: tensors[name] for name in part})
        weight_map.update(dict.fromkeys(part, file))
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def _config(form: str, *, tied: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": VOCAB, "hidden_size": HIDDEN,
        "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "head_dim": HEAD_DIM,
        "num_key_value_heads": KV_HEADS, "max_position_embeddings": 32768, "rope_theta": 1000000, "rms_norm_eps": 1e-6,
        "hidden_act": "silu", "attention_bias": False, "tie_word_embeddings": tied, "use_cache": True,
        "torch_dtype": "bfloat16" if form.endswith("bf16") else "float32",
    }  # fmt: skip
    if form.startswith("q4"):
        facts["quantization"] = {"group_size": GROUP, "bits": 4, "mode": "affine"}
    return facts


def _tensors(form: str, *, tied: bool, seed: int) -> Tensors:
    twister = np.random.RandomState(seed)
    wide, kv = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    matrices = {"model.embed_tokens": (VOCAB, HIDDEN)}
    norms = {"model.norm": HIDDEN}
    for layer in (f"model.layers.{number}" for number in range(LAYERS)):
        matrices |= {
            f"{layer}.self_attn.q_proj": (wide, HIDDEN), f"{layer}.self_attn.k_proj": (kv, HIDDEN),
            f"{layer}.self_attn.v_proj": (kv, HIDDEN), f"{layer}.self_attn.o_proj": (HIDDEN, wide),
            f"{layer}.mlp.gate_proj": (INNER, HIDDEN), f"{layer}.mlp.up_proj": (INNER, HIDDEN),
            f"{layer}.mlp.down_proj": (HIDDEN, INNER),
        }  # fmt: skip
        norms |= {f"{layer}.input_layernorm": HIDDEN, f"{layer}.post_attention_layernorm": HIDDEN}
        norms |= {f"{layer}.self_attn.q_norm": HEAD_DIM, f"{layer}.self_attn.k_norm": HEAD_DIM}
    if not tied:
        matrices["lm_head"] = (VOCAB, HIDDEN)
    found: Tensors = {}
    for name, shape in matrices.items():
        found |= _matrix(name, form, shape, twister)
    for name, size in norms.items():
        found[f"{name}.weight"] = _floats(form, 1 + _uniform(twister, 0.35, (size,)))
    return found


def _matrix(name: str, form: str, shape: tuple[int, int], twister: np.random.RandomState) -> Tensors:
    reach = 0.07 if name in ("model.embed_tokens", "lm_head") else 0.14
    if not form.startswith("q4"):
        return {f"{name}.weight": _floats(form, _uniform(twister, reach, shape))}
    rows, columns = shape
    codes = (twister.random_sample(shape) * 16).astype(np.uint32).reshape(rows, columns // 8, 8)
    packed = np.bitwise_or.reduce(codes << np.arange(0, 32, 4, dtype=np.uint32), axis=2).astype("<u4")
    scales = (reach / 8 * (1 + _uniform(twister, 0.25, (rows, columns // GROUP)))).astype(np.float32)
    biases = np.float32(-7.5) * scales
    return {
        f"{name}.weight": ("U32", packed),
        f"{name}.scales": _floats(form, scales),
        f"{name}.biases": _floats(form, biases),
    }


def _uniform(twister: np.random.RandomState, reach: float, shape: tuple[int, ...]) -> NDArray[np.float32]:
    return ((twister.random_sample(shape) * 2 - 1) * reach).astype(np.float32)


def _floats(form: str, numbers: NDArray[np.float32]) -> tuple[str, NDArray[Any]]:
    """float32, or its upper half rounded to even, which is bfloat16."""
    if not form.endswith("bf16"):
        return "F32", numbers.astype("<f4")
    bits = numbers.astype("<f4").view("<u4").astype(np.uint64)
    return "BF16", ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


if __name__ == "__main__":
    for form in FORMS:
        write_model(Path(sys.argv[1]) / form, form)
        write_model(Path(sys.argv[1]) / f"{form}-untied", form, tied=False)
