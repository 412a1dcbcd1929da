"""The sample corpus, asked with the encoder that needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_raw_rag.evals.configurations import Configuration, stages
from agent_raw_rag.evals.dataset import Dataset
from agent_raw_rag.evals.folder import load
from agent_raw_rag.evals.run import Answers, Plan, parts, run
from agent_raw_rag.evals.shown import manners
from agent_raw_rag.runtime import Runtime

BAKERY = Path(__file__).with_name("bakery")
CONFIG = '[encoder]\nname = "hashing"\n\n[chunks]\nsize = 48\noverlap = 8\n'


def environment(home: Path) -> dict[str, str]:
    """A home without logs whose windows are small enough for a small corpus."""
    store = home / "store"
    store.mkdir(parents=True, exist_ok=True)
    (store / "config.toml").write_text(CONFIG, encoding="utf-8")
    return {"HOME": str(home), "RAW_RAG_HOME": str(store), "RAW_RAG_CONFIG": str(store / "config.toml")}


def runtime(home: Path) -> Runtime:
    """A runtime over it."""
    return Runtime.load(None, environment(home))


def asked(
    home: Path, names: Sequence[str] = ("lexical", "full"), *, jobs: int = 1, dataset: Dataset | None = None,
    in_one_store: bool = False,
) -> tuple[Answers, list[Configuration]]:  # fmt: skip
    """All questions in some stages."""
    here = runtime(home)
    chosen = stages(here.settings, names)
    plan = Plan(chosen, tuple(manners(here.settings.search)))
    return run(here, parts(dataset or load(BAKERY), in_one_store=in_one_store), plan, jobs=jobs), chosen
