"""The Hugging Face hub's own client, imported only for a download or a removal, and its errors in our words."""

from __future__ import annotations

import errno
import os
from functools import cache
from types import SimpleNamespace
from typing import Any

from agent_raw_rag.errors import ModelError


@cache
def hub() -> Any:
    """What this package uses of ``huggingface_hub`` (which comes with ``tokenizers``).

    Raises:
        ModelError: it is not installed.
    """
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = (
        "1"  # else it asks for a list of agents, and tells the hub which one runs it
    )
    os.environ.setdefault("HF_HUB_DISABLE_UPDATE_CHECK", "1")
    try:
        import huggingface_hub
        from filelock import FileLock, Timeout
        from huggingface_hub import errors
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils import build_hf_headers, disable_progress_bars
    except ImportError as error:
        raise ModelError(
            f"The hub's client cannot be loaded: {error}.",
            hint="`pip install huggingface_hub`, or copy a folder of weights.",
        ) from error
    disable_progress_bars()
    return SimpleNamespace(
        api=huggingface_hub.HfApi,
        url=huggingface_hub.hf_hub_url,
        snapshot=huggingface_hub.snapshot_download,
        scan=huggingface_hub.scan_cache_dir,
        http_get=http_get,
        headers=build_hf_headers,
        errors=errors,
        FileLock=FileLock,
        Timeout=Timeout,
    )


def explained(error: Exception, model: str) -> ModelError | None:
    """An error of the hub, the network or the disk in our words; None: it is none of these."""
    errors = hub().errors
    where = os.environ.get("HF_ENDPOINT") or "huggingface.co"
    for kinds, message, hint in (
        ((errors.GatedRepoError,), f"{model} asks for an agreement first.", "Agree on its page, then `hf auth login`."),
        ((errors.RepositoryNotFoundError,), f"There is no model {model} at {where}, or it is private.",
         "`raw-rag models list` shows some; `hf auth login` for a private one."),
        ((errors.RevisionNotFoundError, errors.EntryNotFoundError), f"{where} does not hold all of {model}.", "Try again."),
        ((errors.OfflineModeIsEnabled,), "HF_HUB_OFFLINE is set, so nothing is fetched.", "Unset it for this command."),
        ((errors.HFValidationError,), f"{model!r} is no name of a model.", "A name is owner/model."),
    ):  # fmt: skip
        if isinstance(error, kinds):
            return ModelError(message, hint=hint)
    if isinstance(error, errors.HfHubHTTPError):
        return ModelError(f"{where} answered {error.response.status_code} for {model}.", hint="Try again later.")
    if type(error).__module__.startswith("httpx"):
        said = str(error) or type(error).__name__
        return ModelError(f"{where} cannot be reached: {said}.", hint="What was fetched so far is kept; try again.")
    return _explained_disk(error) if isinstance(error, OSError) else None


def _explained_disk(error: OSError) -> ModelError:
    where = f"{error.filename}: " if error.filename else ""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    hint = (
        "Make room, or move the cache with HF_HOME"
        if full
        else "Check the cache's permissions, or move it with HF_HOME"
    )
    return ModelError(f"{where}{error.strerror or error}.", hint=f"{hint}; what was fetched so far is kept.")
