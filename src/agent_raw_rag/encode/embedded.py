"""bge-small-en-v1.5, int8 ONNX, out of the package: the default where no bigger model is set up. English, 384 dimensions.

Recipe of the model card (BAAI/bge-small-en-v1.5): state of the first token ([CLS]), length 1, a fixed sentence before queries.

One text a call: the int8 kernels scale activations by the whole batch, so a neighbour would change a text's vector (measured:
cosine down to 0.985 between batches). One thread a call and two calls at a time is the fastest way on two cores as well.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from agent_raw_rag.encode.base import Space, Vectors
from agent_raw_rag.encode.files import DATA, checked
from agent_raw_rag.encode.late import TokenStates, of_length_one

FOLDER = DATA / "bge-small-en-v1.5-int8"
MODEL_SHA256 = "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"
TOKENIZER_SHA256 = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
MAX_TOKENS = 512
"""The model's limit; the rest of a longer text is not seen."""
MAX_CHARS = 32_768
"""What lies beyond is not even tokenized: 512 tokens of any prose or code end long before."""


class EmbeddedEncoder:
    """An ``Encoder`` and ``TokenEncoder``. Loads at first use; safe to use from several threads."""

    space = Space(FOLDER.name, MODEL_SHA256[:16], 384, QUERY_PREFIX)
    english_only = True
    unrelated_cosine = (0.56, 0.65)
    """Unrelated texts lie at 0.4 to 0.6, and nine in ten of LoCoMo's questions at least this near to some window (report 004).
    Letters without sense come as near as 0.635 (report 003)."""

    def __init__(self, workers: int = 2, folder: Path = FOLDER) -> None:
        self._workers = workers
        self._folder = folder
        self._lock = Lock()
        self._model: _Model | None = None

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """[n, 384]; see ``Encoder``.

        Raises:
            ModelError: a model file is missing or damaged.
        """
        model = self._loaded()
        if len(texts) < 2:
            rows = [model.vector(text) for text in texts]
        else:
            with ThreadPoolExecutor(self._workers, thread_name_prefix="encode") as pool:
                rows = list(pool.map(model.vector, texts))
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.space.dim)

    def encode_query(self, text: str) -> Vectors:
        """[384]; see ``Encoder``. Raises as ``encode_passages``."""
        return self._loaded().vector(QUERY_PREFIX + text)

    def token_states(self, text: str) -> TokenStates:
        """[n, 384]; see ``TokenEncoder``. Raises as ``encode_passages``."""
        return self._loaded().tokens(text, 0)

    def query_states(self, text: str) -> TokenStates:
        """[n, 384]; see ``TokenEncoder``. Raises as ``encode_passages``."""
        return self._loaded().tokens(QUERY_PREFIX + text, len(QUERY_PREFIX))

    def unload(self) -> None:
        """Leave memory; the next call loads again. Calls that are under way end well."""
        with self._lock:
            self._model = None

    def _loaded(self) -> _Model:
        with self._lock:
            if self._model is None:
                self._model = _Model(self._folder)
            return self._model


class _Model:
    """The two files, loaded."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        model = checked(folder / "model_quantized.onnx", MODEL_SHA256)
        self._tokenizer = Tokenizer.from_file(str(checked(folder / "tokenizer.json", TOKENIZER_SHA256)))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        self._session = _session(str(model))

    def vector(self, text: str) -> Vectors:
        """[384], of length 1."""
        first: Vectors = self._states(self._cut(text))[0]
        return first / np.linalg.norm(first)

    def tokens(self, text: str, start: int) -> TokenStates:
        """The states of the tokens from character ``start`` on, with places counted from there."""
        cut = self._cut(text)
        spans = np.array(cut.offsets, dtype=np.int32).reshape(-1, 2)
        kept = (spans[:, 1] > spans[:, 0]) & (spans[:, 1] > start)  # the first and the last token stand for no text
        return TokenStates(of_length_one(self._states(cut)[kept]), spans[kept] - start)

    def _cut(self, text: str) -> Any:
        clean = text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")  # lone surrogates are refused otherwise
        return self._tokenizer.encode(clean)

    def _states(self, cut: Any) -> Vectors:
        """[tokens, 384], as the network gives them."""
        ids = np.array([cut.ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states: Vectors = self._session.run(["last_hidden_state"], feed)[0][0]
        return states


def _session(path: str) -> Any:
    """The network, set for single texts: no thread of its own, and memory that stays small.

    With one text a call the arena is bounded by the longest text, and 200 MB below the system allocator's fragments after
    some hundred calls; a memory pattern for every length, and weights packed a second time, cost more than they give.
    """
    ort = _onnxruntime()
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _onnxruntime() -> Any:
    """The one place that imports it: from 1.29 on it looks up a telemetry host at import unless told not to before."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime
