"""Natural-language questions, asked verbatim: how many get a ranked answer?

    python benchmarks/questions.py LOGS

The 91 questions of ``questions.txt`` are put to a store made of LOGS (as ``layout.py`` describes), through the runtime that
every door uses, once with the embedded model and once by words alone. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from layout import environment, lay_out

from agent_raw_rag.runtime import Ask, Runtime
from agent_raw_rag.store.reader import Scope

QUESTIONS = Path(__file__).with_name("questions.txt").read_text("utf-8").splitlines()
NONSENSE = ("zxqv glorp blarf", "qwfpgj zyxwvut", "flibbertigibbet snorkelwhacker")


def ask(runtime: Runtime, question: str) -> list[float]:
    return [passage.scores.fused for passage in runtime.search(question, Ask(), top_k=15).passages]


def nearest(runtime: Runtime, question: str) -> float | None:
    """The cosine of the nearest chunk: what abstention has to see through. None without vectors."""
    hits = runtime.funnel.dense.search(question, Scope(), runtime.reader, 1).hits
    return max((round(cosine, 3) for _, cosine in hits), default=None)


def measure(runtime: Runtime) -> dict[str, Any]:
    silent = [question for question in QUESTIONS if not ask(runtime, question)]
    return {
        "questions": len(QUESTIONS),
        "answered": len(QUESTIONS) - len(silent),
        "unanswered": silent,
        "nonsense_answered": [question for question in NONSENSE if ask(runtime, question)],
        "nonsense_nearest": {question: nearest(runtime, question) for question in NONSENSE},
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        home, store = Path(temporary) / "home", Path(temporary) / "store"
        lay_out(Path(sys.argv[1]), home)
        env = environment(home, store)
        runtime = Runtime.load(environment=env)
        runtime.ingest()
        words = Runtime.load(environment=env)
        words.settings = words.settings.model_copy(
            update={"encoder": words.settings.encoder.model_copy(update={"name": "none"})}
        )
        print(json.dumps({"embedded": measure(runtime), "words": measure(words)}, indent=1))


if __name__ == "__main__":
    main()
