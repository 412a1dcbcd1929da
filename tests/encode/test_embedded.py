"""The model in the package."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from agent_raw_rag.encode.embedded import FOLDER, QUERY_PREFIX, EmbeddedEncoder
from agent_raw_rag.errors import ModelError

TEXTS = [
    "The upload is retried three times, then it gives up.",
    "We moved the date parser to a module of its own.",
    "x",
    "def retry(fn):\n    for _ in range(3):\n        fn()\n" * 20,
    "資料庫連線池的逾時",
    "",
]


@pytest.fixture(scope="module")
def encoder() -> EmbeddedEncoder:
    return EmbeddedEncoder()


def test_passages_become_rows_of_length_one_in_their_order(encoder: EmbeddedEncoder) -> None:
    rows = encoder.encode_passages(TEXTS)
    assert (rows.shape, rows.dtype) == ((len(TEXTS), 384), np.float32)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert encoder.encode_passages([]).shape == (0, 384)


def test_a_text_has_one_vector_whatever_stands_beside_it(encoder: EmbeddedEncoder) -> None:
    rows = encoder.encode_passages(TEXTS)
    np.testing.assert_array_equal(encoder.encode_passages(TEXTS[::-1])[::-1], rows)
    np.testing.assert_array_equal(EmbeddedEncoder(workers=1).encode_passages(TEXTS), rows)
    for text, row in zip(TEXTS, rows, strict=True):
        np.testing.assert_array_equal(encoder.encode_passages([text])[0], row)


def test_threads_do_not_disturb_each_other(encoder: EmbeddedEncoder) -> None:
    expected = [encoder.encode_query(text) for text in TEXTS]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(3):
            np.testing.assert_array_equal(list(pool.map(encoder.encode_query, TEXTS)), expected)


def test_a_question_is_nearest_to_its_answer(encoder: EmbeddedEncoder) -> None:
    scores = encoder.encode_passages(TEXTS[:4]) @ encoder.encode_query("How often do we try to upload again?")
    assert int(scores.argmax()) == 0


def test_a_query_is_a_passage_with_the_instruction(encoder: EmbeddedEncoder) -> None:
    passage = encoder.encode_passages([QUERY_PREFIX + "why?"])[0]
    np.testing.assert_array_equal(encoder.encode_query("why?"), passage)


def test_what_lies_beyond_the_models_window_is_not_seen(encoder: EmbeddedEncoder) -> None:
    long = "word " * 600
    rows = encoder.encode_passages([long, long + "and something else", long * 100])
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


@pytest.mark.parametrize("text", ["a\ud800b", "\udc00", "\0", "\U0001f600" * 50])
def test_odd_text_has_a_vector(encoder: EmbeddedEncoder, text: str) -> None:
    assert np.isfinite(encoder.encode_passages([text])).all()


@pytest.mark.parametrize("name", ["model_quantized.onnx", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_missing_or_changed_file_is_refused(tmp_path: Path, name: str, damage: str) -> None:
    for path in FOLDER.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / name).unlink()
    if damage == "changed":
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes()[:-1] + b"!")
    broken = EmbeddedEncoder(folder=tmp_path)
    with pytest.raises(ModelError, match=name) as caught:
        broken.encode_query("x")
    assert caught.value.hint


def test_the_runtime_is_told_to_be_silent_before_it_is_imported() -> None:
    program = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "onnxruntime":
            print(os.environ.get("ORT_DISABLE_TELEMETRY"))
sys.meta_path.insert(0, Watch())
from agent_raw_rag.encode.embedded import EmbeddedEncoder
encoder = EmbeddedEncoder()
print("onnxruntime" in sys.modules)
encoder.encode_query("x")
print("onnxruntime" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={})
    assert done.stdout.split() == ["False", "1", "True"]
