"""What the lists of the page take: filters, and where a list goes on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agent_raw_rag.models import Ask
from agent_raw_rag.server.http.rest.operation import Form

Name = Annotated[str, Field(max_length=4096)]
Limit = Annotated[int, Field(ge=1, le=200)]
MOST_CURSOR = 2000


class Filters(Form):
    """Which sessions are meant. What is left out leaves its side open."""

    agent: Name | None = Field(None, description="Only this agent, or this door.")
    project: Name | None = Field(None, description="Only this project: any folder of it; `*`: all.")
    after: Name | None = Field(None, description="Only from this day or instant on.")
    before: Name | None = Field(None, description="Only before this instant; of a day: with it.")
    branch: Name | None = Field(None, description="Only sessions on this branch of their repository.")

    def ask(self, *, role: str | None = None, session: str | None = None) -> Ask:
        """As the reading calls take them. An empty one is none."""
        named = {name: getattr(self, name) or None for name in ("agent", "project", "after", "before", "branch")}
        return Ask(**named, role=role or None, session=session or None)


class Paged(Form):
    """How much of a list, and from where on."""

    limit: Limit = Field(50, description="So many at most.")
    cursor: Annotated[str, Field(max_length=MOST_CURSOR)] | None = Field(
        None, description="`next` of the page before; the other parameters are to be the same."
    )
