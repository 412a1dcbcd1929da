"""A summary -> tables for people: rows of texts, shares in percent. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
SHOWN = ("recall@1", "recall@5", "recall@10", "recall@15", "hit@1", "hit@5", "hit@15", "all@15", "MRR", "nDCG@10")
"""Metrics that stand in tables; the JSON has all."""
COMPARED = ("recall@1", "recall@5", "recall@10", "recall@15", "MRR")
NO_ANSWERS = (
    "This is retrieval alone: which turns come back. No model answered anything; no figure says how good answers are."
)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def tables(report: Json) -> list[Table]:
    """All tables of a report, the most important first."""
    several = len(report["configurations"]) > 1
    found = [_stage_table(report, unit) for unit in ("windows", "turns")]
    found += [_type_table(report, unit) for unit in ("windows", "turns")] if len(report["types"]) > 1 else []
    found += [_difference_table(report, unit) for unit in ("windows", "turns")] if several else []
    found += [_shown_table(report)] if "shown" in report else []
    return [*found, _latency_table(report)]


def remarks(report: Json) -> list[str]:
    """What a reader must know of the figures."""
    corpus, said = report["corpus"], [NO_ANSWERS]
    nouns = ("question", "turn", "conversation")
    counts = ", ".join(f"{corpus[f'{noun}s']:,} {noun}{'s' if corpus[f'{noun}s'] != 1 else ''}" for noun in nouns)
    left_out = ", ".join(f"{why} ({count})" for why, count in corpus["left_out"].items())
    said.append(f"{counts}; questions left out of the benchmark: {left_out or 'none'}.")
    said += [
        f"{name[0].upper()}{name[1:]} in the benchmark: {count}." for name, count in corpus["remarks"].items() if count
    ]
    skipped: dict[tuple[str, int], list[str]] = {}
    for name, one in report["configurations"].items():
        for stage, count in one["skipped"].items():
            skipped.setdefault((stage, count), []).append(name)
    said += [f"{stage}: {count} times in {', '.join(names)}." for (stage, count), names in skipped.items()]
    empty = {name: one["nothing_found"] for name, one in report["configurations"].items() if one["nothing_found"]}
    said += [f"{count} questions were answered with nothing in {name}." for name, count in empty.items()]
    for name, one in report["configurations"].items():
        if "unanswerable" in one:
            none = one["unanswerable"]
            said.append(
                f"Of {none['n']} questions that the corpus does not answer, {none['nothing_found']} got nothing in {name}."
            )
        if one["reranked"]["mean"]:
            said.append(
                f"{name} reranked {one['reranked']['mean']} candidates a question, {one['reranked']['least']} at least."
            )
    return said


def markdown(table: Table) -> str:
    """A table in Markdown."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    body = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"**{table.title}**\n\n{body}\n"


def _stage_table(report: Json, unit: str) -> Table:
    head = ["configuration", "n", *(_short(name) for name in SHOWN), "chars@15"]
    rows = [
        [
            name,
            f"{one[unit]['n']:,}",
            *(_percent(one[unit][metric]) for metric in SHOWN),
            f"{one[unit]['chars@15']:,.0f}",
        ]
        for name, one in report["configurations"].items()
    ]
    main = report["configurations"][report["configuration"]]["intervals"][unit]
    ends = ["-".join(_percent(end) for end in main[metric]) for metric in SHOWN]
    rows.append([f"95 % interval of {report['configuration']}", "", *ends, ""])
    return Table(f"Ranked {unit}, %", head, rows)


def _type_table(report: Json, unit: str) -> Table:
    rows = [
        [kind, f"{one[unit]['n']:,}", *(_percent(one[unit][metric]) for metric in SHOWN)]
        for kind, one in report["types"].items()
    ]
    title = f"Ranked {unit} by type of question, {report['configuration']}, %"
    return Table(title, ["type", "n", *(_short(name) for name in SHOWN)], rows)


def _difference_table(report: Json, unit: str) -> Table:
    rows = [
        [name, *(_difference(one["difference"][unit][metric]) for metric in COMPARED)]
        for name, one in report["configurations"].items()
        if "difference" in one
    ]
    title = f"Ranked {unit}: difference from {report['configuration']}, points, with its 95 % interval (paired); * excludes 0"
    return Table(title, ["configuration", *(_short(name) for name in COMPARED)], rows)


def _shown_table(report: Json) -> Table:
    shares, counts = (
        ("recall", "hit", "all"),
        ("passages", "turns", "repeated turns", "hits left out", "chars", "tokens"),
    )
    rows = [
        [
            name,
            *(_percent(one[share]) for share in shares),
            _difference(one["difference"]["recall"]) if "difference" in one else "",
            *(f"{one[count]:,.1f}" for count in counts),
        ]
        for name, one in report["shown"].items()
    ]
    title = f"What an answer shows of the evidence, {report['configuration']}, % and means a question"
    return Table(title, ["answer", *shares, "recall, difference", *counts], rows)


def _latency_table(report: Json) -> Table:
    stages = {"encode": "encode query", "windows": "rank windows", "turns": "rank turns"}
    shares = ("p50", "p95")
    head = [f"{said} {share}" for said in stages.values() for share in shares]
    rows = [
        [name, *(f"{one['latency_ms'][stage][share]:.1f}" for stage in stages for share in shares)]
        for name, one in report["configurations"].items()
    ]
    return Table("Time a question, ms (encoding the query is part of ranking)", ["configuration", *head], rows)


def _difference(ends: list[float]) -> str:
    mean, low, high = (100 * end for end in ends)
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f}){' *' if low > 0 or high < 0 else ''}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _short(metric: str) -> str:
    return metric.replace("recall@", "R@")
