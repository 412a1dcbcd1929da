"""The texts that golden values stand for."""

from __future__ import annotations

TASK = "Given a web search query, retrieve relevant passages that answer the query"
QUERIES = ("What is copyleft?", "how often is an upload retried", "")
PASSAGES = (
    "Gravity is a force.",
    "The upload is retried three times, then it gives up.",
    "x",
    "",
    "A retry of a retry makes duplicates. " * 12,
    "資料庫連線池的逾時 — naïve café",
    "def retry(fn):\n    for _ in range(3):\n        fn()\n",
    "  leading spaces\n\nand (a bracket)",
)
