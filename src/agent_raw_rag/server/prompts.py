"""Two prompts that a person picks in their agent: ask the history, and go on where this project stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from pydantic import Field

from agent_raw_rag.models import Ask
from agent_raw_rag.server.refusals import refused_as_protocol_error
from agent_raw_rag.server.text import search_text, turns_text
from agent_raw_rag.server.tools import Project, Tools, place

if TYPE_CHECKING:
    from agent_raw_rag.search.browse import ReadTurn

RECENT_TURNS = 200
"""So many of the last turns are looked at for the last exchange."""
EXCHANGE_TOKENS = 4000

RECALL = """\
Answer this question from what was said and done in past sessions: {question}

The passages below were found for it. Rely on them alone for what happened then, name the session and turn of what you use,
and say so if they do not answer it; then search again with raw_rag_search in other words, or with project_path="*".

{found}"""

RESUME = """\
Go on where the work on this project stopped. Below is its last exchange, in the exact words. Say in two sentences where things
stand and what would come next, and wait. Read further back with raw_rag_recent, and search with raw_rag_search before you decide
again what may have been decided.

{turns}"""


class Prompts:
    """The prompts over the tools' runtime."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def all(self) -> list[Prompt]:
        """As the server takes them."""
        return [
            Prompt.from_function(self.recall, name="recall", title="Ask the history"),
            Prompt.from_function(self.resume_context, name="resume-context", title="Go on where we stopped"),
        ]

    def recall(
        self, context: Context, question: Annotated[str, Field(description="What you want to know, in plain words")],
        project_path: Project = None,
    ) -> str:  # fmt: skip
        """A question, with the passages of past sessions that answer it."""
        with refused_as_protocol_error():
            project, told = self._tools.where(project_path, context)
            result = self._tools.runtime().search(question, Ask(project=project))
            result.notes += [*told, *self._tools.lag()]
            return RECALL.format(question=question, found=search_text(result, place(project), self._tools.mark()))

    def resume_context(self, context: Context, project_path: Project = None) -> str:
        """The last exchange of a project, to go on from."""
        with refused_as_protocol_error():
            project = project_path or self._tools.surroundings.project(context)
            result = self._tools.runtime().recent(Ask(project=project), limit=RECENT_TURNS, max_tokens=EXCHANGE_TOKENS)
            result.turns = last_exchange(result.turns)
            result.notes = self._tools.lag()
            return RESUME.format(turns=turns_text(result, place(project), self._tools.mark()))


def last_exchange(turns: list[ReadTurn]) -> list[ReadTurn]:
    """Of turns in time order, those of the exchange that was spoken in last."""
    if not turns:
        return []
    last = turns[-1]
    return [turn for turn in turns if (turn.session, turn.exchange) == (last.session, last.exchange)]
