"""``POST /passages``, ``GET /filters``, ``GET /events/{event}``: finding what was said, and opening it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from agent_raw_rag.runtime.reading import Reading
from agent_raw_rag.server.http.rest.operation import Call, Operation
from agent_raw_rag.server.http.rest.page_filters import Filters, Name

MOST_QUERY = 100_000


class Query(Filters):
    """A question."""

    query: Annotated[str, Field(min_length=1, max_length=MOST_QUERY)]
    role: Name | None = Field(None, description="Only turns of this role.")
    session: Name | None = Field(None, description="Only this session.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(15, description="Passages, at most.")
    rerank: bool = Field(True, description="false: the first order at once, without reading the passages again.")
    explain: bool = Field(False, description="Give each stage's rank and score, too.")


class PassageTiming(TypedDict):
    """How long it took."""

    total_ms: float


class Passages(TypedDict):
    """Passages, oldest first, unless the settings say: best first."""

    query: str
    passages: list[dict[str, Any]]
    """As `raw-rag search --json` gives them, with `parts`: each turn's own words, without speaker and time, and its `actions`."""
    stages: list[str]
    notes: list[str]
    projects: list[str]
    again: bool
    """Whether the same with `rerank` true reads the passages again: then their order may change."""
    terms: list[str]
    """What to mark in the texts, whatever its case, longest first."""
    timing: PassageTiming


class AgentFilter(TypedDict):
    """An agent or door."""

    agent: str
    sessions: int


class ProjectFilter(TypedDict):
    """A project."""

    project: str
    sessions: int
    last: str | None


class AllFilters(TypedDict):
    """What there is to filter by."""

    agents: list[AgentFilter]
    projects: list[ProjectFilter]
    branches: list[str]
    roles: list[str]


class Event(TypedDict):
    """A turn."""

    event_id: str
    session: str
    turn: int
    role: str
    time: str | None
    text: str
    actions: list[str]
    agent: str
    source: str


def passages(call: Call) -> dict[str, Any]:
    """Find past turns: the same passages as `raw_rag_search` gives, of all projects unless one is named."""
    asked = call.asked(Query)
    ask = asked.ask(role=asked.role, session=asked.session)
    return Reading(call.runtime).passages(asked.query, ask, asked.limit, explain=asked.explain, again=asked.rerank)


def filters(call: Call) -> dict[str, Any]:
    """The agents, projects, branches and roles there are to filter by."""
    call.ground.warmth.spread(call.runtime)  # who asks for filters is about to search
    return Reading(call.runtime).filters()


def event(call: Call) -> dict[str, Any]:
    """The turn that an event id names: what a note or a candidate rests on."""
    return Reading(call.runtime).event(call.path["event"])


OPERATIONS = (
    Operation("POST", "/passages", "page", passages, Passages, body=Query, writes=False),
    Operation("GET", "/filters", "page", filters, AllFilters),
    Operation("GET", "/events/{event}", "page", event, Event),
)
