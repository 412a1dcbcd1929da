"""Fidelity: is all that was said in a folder of logs found verbatim in the store, once?

    python benchmarks/fidelity.py LOGS

What was said is counted by ``tests/naive_reader.py``, which shares nothing with the product. Prints one JSON object.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from layout import environment, lay_out

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.naive_reader import everything


def normal(text: str) -> str:
    """As the sanitizer leaves text: line ends, controls."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in text if c in "\n\t" or c >= " ").strip()


def stored(store: Path) -> list[tuple[str, str, str]]:
    connection = sqlite3.connect(store / "raw_rag.db")
    found = connection.execute(
        "SELECT s.agent, t.role, t.text FROM turns t JOIN sessions s ON s.id = t.session_id WHERE t.status = 0"
    ).fetchall()
    connection.close()
    return found


def measure(logs: Path, home: Path, store: Path) -> dict[str, Any]:
    from agent_raw_rag.sanitize import redact

    subprocess.run(["raw-rag-ingest", "--no-embed", "--quiet"], env=environment(home, store), check=True)
    turns = stored(store)
    said = everything(logs)
    missing, doubled = [], []
    by_text: Counter[tuple[str, str, str]] = Counter()
    for agent, role, _, text in said:
        by_text[agent, role, normal(redact(text)[0])] += 1
    for (agent, role, text), count in by_text.items():
        holding = [turn for a, r, turn in turns if a == agent and r in (role, "task", "summary") and text in turn]
        if not holding:
            missing.append((agent, role, text[:200]))
        equal = sum(turn == text or (role == "assistant" and turn.split("\n[")[0] == text) for turn in holding)
        if len(text) > 40 and equal > count:
            doubled.append((agent, role, count, equal, text[:200]))
    return {"said": len(said), "distinct": len(by_text), "missing": missing, "doubled": doubled}


def main() -> None:
    logs = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary) / "home"
        lay_out(logs, home)
        found = measure(logs, home, Path(temporary) / "store")
    found["found_share"] = 1 - len(found["missing"]) / max(found["distinct"], 1)
    print(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
