"""Computes ``golden_qwen.json``: what transformers and torch make of the tiny models' very files.

    pip install torch transformers safetensors tokenizers numpy
    python -m tests.encode.golden_qwen

The 4-bit form is dequantised here, by its definition (scale x code + bias, in float32), and so is run as what its numbers mean;
bf16 is run in float32 too, so that the values are exact and the tolerance is the product's alone.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import Qwen3Config, Qwen3ForCausalLM

from tests.encode.golden_texts import PASSAGES, QUERIES, TASK
from tests.encode.tiny_qwen import FORMS, GROUP, write_model

OUT = Path(__file__).with_name("golden_qwen.json")
HEAD = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
TAIL = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def main() -> None:
    """Write the file."""
    golden: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            for tied in (True, False):
                name = form if tied else f"{form}-untied"
                golden[name] = values(write_model(Path(folder) / name, form, tied=tied))
    OUT.write_text(json.dumps(golden, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


def values(folder: Path) -> dict[str, Any]:
    """Vectors of queries and passages, and the probability of "yes" of each pair."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = network(folder)

    def ids(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    end, yes, no = (tokenizer.token_to_id(word) for word in ("<|endoftext|>", "yes", "no"))

    def vector(text: str) -> list[float]:
        with torch.no_grad():
            state = model.model(input_ids=torch.tensor([[*ids(text), end]])).last_hidden_state[0, -1]
        return [round(one, 7) for one in torch.nn.functional.normalize(state, dim=0).tolist()]

    def score(query: str, passage: str) -> float:
        body = f"<Instruct>: {TASK}\n<Query>: {query}\n<Document>: {passage}"
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*ids(HEAD), *ids(body), *ids(TAIL)]])).logits[0, -1]
        return round(float(torch.softmax(logits[[no, yes]], dim=0)[1]), 7)

    return {
        "ids": [len(ids(text)) for text in PASSAGES],
        "queries": [vector(f"Instruct: {TASK}\nQuery:{query}") for query in QUERIES],
        "passages": [vector(text) for text in PASSAGES],
        "scores": [[score(query, passage) for passage in PASSAGES] for query in QUERIES],
    }


def network(folder: Path) -> Qwen3ForCausalLM:
    """transformers' own network with the folder's numbers."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    quantized = config.pop("quantization", None)
    config.pop("torch_dtype")
    model = Qwen3ForCausalLM(Qwen3Config(**config)).eval()
    tensors = load_file(folder / "model.safetensors")
    if quantized:
        tensors = dequantized(tensors)
    tensors = {name: one.float() for name, one in tensors.items()}
    if config["tie_word_embeddings"]:
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    model.load_state_dict(tensors, strict=True)
    return model.float()


def dequantized(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """4-bit codes, eight in 32 bits, the lowest first -> numbers."""
    found = {}
    for name, one in tensors.items():
        stem = name.removesuffix(".weight")
        if name.endswith((".scales", ".biases")):
            continue
        if f"{stem}.scales" not in tensors:
            found[name] = one
            continue
        codes = (one.long().unsqueeze(-1) >> torch.arange(0, 32, 4)) & 15
        rows = codes.reshape(one.shape[0], -1, GROUP).float()
        scale, bias = (tensors[f"{stem}.{part}"].float().unsqueeze(-1) for part in ("scales", "biases"))
        found[name] = (rows * scale + bias).reshape(one.shape[0], -1)
    return found


if __name__ == "__main__":
    main()
