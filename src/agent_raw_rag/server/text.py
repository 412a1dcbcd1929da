"""Readable text of the results, for the model that asked. Pure: the fence's random mark is an argument.

What was said in the past stands inside the fence, and only there. What stands outside comes from us, or is cut to one
harmless line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_raw_rag.runtime.counted import count
from agent_raw_rag.search.fence import closed, fence_note, one_line, opened

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import IngestReport
    from agent_raw_rag.search.browse import ReadTurn, TurnsResult
    from agent_raw_rag.search.result import Passage, Scores, SearchResult

CUT = "What is cut can be read on with raw_rag_context(session, turn)."
EVERYWHERE = "all projects"
"""Where a search over every project looked, in words."""


def search_text(result: SearchResult, where: str, mark: str) -> str:
    """Passages in their order, each with its origin and scores; then how to go back there."""
    if not result.passages:
        message = f"Nothing in {where} answers {one_line(result.query)!r}."
        return _empty(message, where, result.notes, result.projects)
    several = len({passage.project for passage in result.passages}) > 1
    head = [
        f"{count(len(result.passages), 'passage')} from {where}. Ranking: {'; '.join(result.stages)}.",
        *result.notes, fence_note(mark),
    ]  # fmt: skip
    shown = [_passage(passage, mark, with_project=several) for passage in result.passages]
    return "\n\n".join(["\n".join(head), *shown, "\n".join(_afterwards(result.passages))]).rstrip()


def turns_text(result: TurnsResult, where: str, mark: str, next_offset: int | None = None) -> str:
    """Turns in their order, inside one fence."""
    if not result.turns:
        return _empty(f"No turns in {where}.", where, result.notes, result.projects)
    head = [f"{count(len(result.turns), 'turn')} from {where}.", *result.notes, fence_note(mark)]
    lines = [line for turn, new in _with_session_changes(result.turns) for line in _turn(turn, new)]
    return "\n".join([*head, opened(mark), *lines, closed(mark), *_reading_on(result.turns, next_offset)])


def ingest_text(report: IngestReport) -> str:
    """What an ingest read, an agent a line."""
    lines = [
        f"{name}: {count(one.new_turns, 'new turn')}, {count(one.new_sessions, 'new session')}; stored: "
        f"{count(one.turns, 'turn')}, {count(one.sessions, 'session')} of {count(one.sources, 'source')}"
        + "".join(f"\n  could not read {one_line(path)}: {one_line(why)}" for path, why in one.failed_sources.items())
        for name, one in report.agents.items()
    ]
    lines += [f"{name}: no logs in {', '.join(map(one_line, folders))}" for name, folders in report.looked_in.items()]
    backlog = f", {count(report.backlog, 'chunk')} still without" if report.backlog > 0 else ""
    lines.append(f"{count(report.embedded, 'vector')} made{backlog}; {report.seconds:.1f} s.")
    return "\n".join([*lines, *report.notes, *([report.encoder_problem] if report.encoder_problem else [])])


def _empty(message: str, where: str, notes: Iterable[str], projects: list[str]) -> str:
    lines = [message, *notes]
    if projects:
        lines += ["Projects that have history:", *(f"- {one_line(project)}" for project in projects)]
        if where != EVERYWHERE:
            lines.append('Pass one of them as project_path, or "*" for all.')
    return "\n".join(lines)


def _passage(passage: Passage, mark: str, *, with_project: bool) -> str:
    first, last = passage.first_turn, passage.last_turn
    facts = [
        f"#{passage.rank} {one_line(passage.session)}",
        f"turns {first}-{last}" if first != last else f"turn {first}",
        passage.time or "no time in the log",
        f"{passage.ranked_by} {_scores(passage.scores)}",
    ]
    if with_project:
        facts.append(one_line(passage.project or "no project"))
    if passage.source_gone:
        facts.append("its log is gone")
    if passage.truncated:
        facts.append(f"cut around turn {passage.turn}")
    return "\n".join([", ".join(facts), opened(mark), passage.text, closed(mark)])


def _scores(scores: Scores) -> str:
    parts = {"lexical": scores.lexical, "dense": scores.dense, "rerank": scores.rerank}
    seen = [f"{name} {value:.2f}" for name, value in parts.items() if value is not None]
    return f"{scores.fused:.2f}" + (f" ({' + '.join(seen)})" if len(seen) > 1 else "")


def _afterwards(passages: list[Passage]) -> list[str]:
    commands = dict.fromkeys(one.resume for one in passages if one.resume and one.resume.isprintable())
    return [f"To resume there: {command}" for command in commands]


def _with_session_changes(turns: list[ReadTurn]) -> Iterable[tuple[ReadTurn, bool]]:
    before = None
    for turn in turns:
        yield turn, turn.session != before
        before = turn.session


def _turn(turn: ReadTurn, new_session: bool) -> list[str]:
    mark = " (abandoned branch)" if turn.abandoned else ""
    line = f"[{turn.turn}] {turn.role.capitalize()} {turn.time or ''}".rstrip() + f"{mark}: {turn.text}"
    return [f"— session {one_line(turn.session)}", line] if new_session else [line]


def _reading_on(turns: list[ReadTurn], next_offset: int | None) -> list[str]:
    cut = [str(turn.turn) for turn in turns if turn.truncated]
    if not cut:
        return []
    if next_offset is not None:
        return [f"Turn {cut[0]} goes on: the same call with offset={next_offset}."]
    return [f"Cut: turn {', '.join(cut)}. {CUT}"]
