"""MLX: is it there, and the one place that imports it.

MLX runs on Apple silicon, and on Linux on its CPU or CUDA back end. Importing ``mlx_lm`` takes seconds (it brings
transformers along), so it happens at the first use of a model, in the thread that runs it.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from agent_raw_rag.errors import ModelError


def mlx_available() -> bool:
    """Whether MLX can be imported here, without importing it."""
    return _supported() and all(_found(name) for name in ("mlx.core", "mlx.nn", "mlx_lm"))


def mlx_is_native() -> bool:
    """Whether this is the machine that MLX was made for: a Mac with Apple silicon."""
    return sys.platform == "darwin" and platform.machine() == "arm64"


@cache
def mlx() -> Any:
    """What this package uses of MLX: ``core``, ``load_model``, ``classes``.

    Raises:
        ModelError: it is not installed, or does not run here.
    """
    if not mlx_available():
        raise ModelError("MLX is not installed here.", hint=_remedy())
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # mlx_lm imports the hub's client, which reads it then
    try:
        with _limits_kept():
            import mlx.core as core
            from mlx_lm.models.qwen3 import Model, ModelArgs
            from mlx_lm.utils import load_model
    except (ImportError, OSError) as error:
        raise ModelError(f"MLX cannot be loaded: {error}.", hint=_remedy()) from error
    if core.default_device() == core.Device(core.cpu):
        core.disable_compile()  # the CPU back end would call the system's C++ compiler, which need not be there
    return SimpleNamespace(core=core, load_model=load_model, classes=(Model, ModelArgs))


@contextmanager
def _limits_kept() -> Iterator[None]:
    """``mlx_lm`` sets the limit of open files, of the whole process, to 2,048 when it is imported. That may be less than
    it was, and only root could raise the hard limit again: so the call is kept from having any effect."""
    if sys.platform == "win32":  # it has no such limits, nor MLX
        yield
        return
    import resource

    original = resource.setrlimit
    resource.setrlimit = lambda *ignored: None
    try:
        yield
    finally:
        resource.setrlimit = original


def _supported() -> bool:
    return mlx_is_native() or sys.platform == "linux"


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # its parent is missing, or half installed
        return False


def _remedy() -> str:
    if mlx_is_native():
        return "Install agent-raw-rag-mcp again: on Apple silicon MLX belongs to it. Python must be an arm64 one."
    if sys.platform == "linux":
        return "`pip install 'agent-raw-rag-mcp[mlx-cpu]'`, or `[mlx-cuda]` with an NVIDIA GPU; or use another encoder."
    return "MLX runs on Apple silicon and on Linux. Use the embedded encoder or an inference server here."
