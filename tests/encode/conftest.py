"""Our own inference server, and tiny models, each made once a session. MLX takes seconds to import: one process, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_raw_rag.encode.mlx_backend import mlx_available
from agent_raw_rag.encode.qwen_encoder import QwenEncoder
from agent_raw_rag.encode.qwen_reranker import QwenReranker
from tests.encode.tiny_qwen import write_model
from tests.servers.running import inference_server

Form = tuple[str, bool]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The root of our own inference server, a process of its own."""
    with inference_server() as root:
        yield root


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The folder of a form, ``(form, tied)``. Tests only read it."""
    made: dict[Form, Path] = {}

    def folder(form: str = "fp32", tied: bool = True) -> Path:
        if (form, tied) not in made:
            made[form, tied] = write_model(tmp_path_factory.mktemp("tiny") / form, form, tied=tied)
        return made[form, tied]

    return folder


@pytest.fixture(scope="session")
def encoder(tiny: Callable[..., Path]) -> Callable[..., QwenEncoder]:
    """A loaded encoder of a form, shared."""
    made: dict[Form, QwenEncoder] = {}

    def one(form: str = "fp32", tied: bool = True) -> QwenEncoder:
        _need_mlx()
        return made.setdefault((form, tied), QwenEncoder(str(tiny(form, tied)), idle_seconds=0))

    return one


@pytest.fixture(scope="session")
def reranker(tiny: Callable[..., Path]) -> Callable[..., QwenReranker]:
    """A loaded reranker of a form, shared."""
    made: dict[Form, QwenReranker] = {}

    def one(form: str = "fp32", tied: bool = True) -> QwenReranker:
        _need_mlx()
        return made.setdefault((form, tied), QwenReranker(str(tiny(form, tied)), idle_seconds=0))

    return one


@pytest.fixture
def needs_mlx() -> None:
    """Skip where MLX cannot run."""
    _need_mlx()


def _need_mlx() -> None:
    if not mlx_available():
        pytest.skip("MLX is not installed here")
