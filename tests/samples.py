"""The packaged sample logs as a home, and a runtime over it that sees nothing of the machine it runs on."""

from __future__ import annotations

from pathlib import Path

import agent_raw_rag
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.sources.samples import lay_out

SAMPLES = Path(agent_raw_rag.__file__).parent / "data" / "sample_logs"
PROJECT = "/home/dev/uploader"


def sample_environment(
    folder: Path, *, config: str = '[encoder]\nname = "none"\n', logs: bool = True
) -> dict[str, str]:
    """A home with the sample logs (or none), and a configuration, under a folder of its own."""
    home, store = folder / "home", folder / "store"
    if logs:
        lay_out(str(SAMPLES), str(home))
    else:
        home.mkdir(parents=True)
    store.mkdir(mode=0o700)
    (store / "config.toml").write_text(config, encoding="utf-8")
    (store / "config.toml").chmod(0o600)
    return {"HOME": str(home), "RAW_RAG_HOME": str(store)}


def sample_runtime(folder: Path, **options: object) -> Runtime:
    """A runtime whose store holds the sample logs."""
    runtime = empty_runtime(folder, **options)
    runtime.ingest()
    return runtime


def empty_runtime(folder: Path, **options: object) -> Runtime:
    """A runtime over the sample logs that nobody has read yet."""
    return Runtime.load(None, sample_environment(folder, **options))  # type: ignore[arg-type]
