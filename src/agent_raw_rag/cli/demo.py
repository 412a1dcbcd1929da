"""``raw-rag demo``: sample logs of all agents, read into a throw-away home, and three questions asked of them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from agent_raw_rag.cli import options, render
from agent_raw_rag.cli.search import show_passage
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

QUESTIONS = (
    "why did we drop the retry in the uploader?",
    "checksum mismatch on large photos",
    "which chunk size did we settle on for uploads",
)
PASSAGES = 3


def demo(json: options.Json = False) -> None:
    """Try it on sample logs of all agents.

    Reads them, asks three questions and shows the answers, all in a throw-away home. Nothing of yours is read or touched.
    """
    with _home() as runtime:
        report = runtime.ingest()
        if not json:
            _introduce(runtime)
        answers = [_answer(runtime, question, quiet=json) for question in QUESTIONS]
    if json:
        render.as_json({"ingest": report.as_json(), "searches": answers})
    else:
        render.line("That was sample data. Now yours: raw-rag-ingest, then raw-rag search …", "bold")


@contextmanager
def _home() -> Iterator[Runtime]:
    """A runtime over a copy of the sample logs that nobody else sees."""
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.sources.samples import lay_out

    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="raw-rag-demo-") as folder:
        home = os.path.join(folder, "home")
        with as_file(files("agent_raw_rag") / "data" / "sample_logs") as samples:
            lay_out(str(samples), home)
        yield Runtime.load(None, {"HOME": home, "RAW_RAG_HOME": os.path.join(folder, "store")})


def _introduce(runtime: Runtime) -> None:
    render.line("Sample logs of one project, uploader, told across the agents:", "bold")
    for name, one in runtime.status().agents.items():
        counts = f"{count(one.sessions, 'session')}, {count(one.turns, 'turn')}"
        render.line(f"  {name}: {counts} of {count(one.sources, 'source')}")


def _answer(runtime: Runtime, question: str, *, quiet: bool) -> dict[str, object]:
    result = runtime.search(question, options.ask(options.ALL_PROJECTS), top_k=PASSAGES, max_tokens=2000)
    if not quiet:
        render.line()
        render.line(f"? {question}", "bold magenta")
        for passage in result.passages:
            show_passage(passage, question)
        sys.stdout.flush()
    return result.as_json()
