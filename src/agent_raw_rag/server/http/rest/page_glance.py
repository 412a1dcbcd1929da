"""``GET /timeline``, ``GET /status``, ``GET /tokens``: the space and the home at a glance."""

from __future__ import annotations

import time
from typing import Any

from typing_extensions import TypedDict

from agent_raw_rag.runtime import heartbeat
from agent_raw_rag.runtime.heartbeat import DaemonState
from agent_raw_rag.runtime.reading import Reading, disk
from agent_raw_rag.search.zone import SYSTEM_ZONE, shown
from agent_raw_rag.server.http.rest.operation import Call, Operation
from agent_raw_rag.server.http.rest.page_filters import Filters
from agent_raw_rag.store.homes import DEFAULT_SPACE

ELSEWHERE = "There are problems: a token that opens the space `default` is told of them."


class Day(TypedDict):
    """What was said on one day, of one agent in one project."""

    day: str
    agent: str
    project: str | None
    sessions: int
    turns: int
    tokens: int


class Learned(TypedDict):
    """A note that was made."""

    time: str | None
    id: str
    kind: str
    statement: str
    source: str
    status: str


class Timeline(TypedDict):
    """Days of the machine's time zone on which something was said, oldest first, and the notes of the same time, newest first."""

    zone: str
    days: list[Day]
    learned: list[Learned]


class Lag(TypedDict):
    """How far the daemon is behind one agent."""

    agent: str
    lag_seconds: float | None
    waiting: int
    failing: dict[str, str]
    sources: dict[str, float]
    """Path -> `lag_seconds`, of the sources that changed last; the newest is the last."""


class Daemon(TypedDict):
    """Whether a daemon watches the logs of the home."""

    running: bool
    since: str | None
    caught_up: bool
    backlog: int | None
    error: str | None
    lag: list[Lag]


class Disk(TypedDict):
    """Bytes."""

    store_bytes: int
    index_bytes: int
    vectors_bytes: int
    free_bytes: int


class Status(TypedDict):
    """What is stored, what ranks, and what went wrong."""

    version: str
    store: str | None
    """Where it lies; for a token that opens the space `default`, like `daemon`, `disk` and the words of `problems`."""
    store_bytes: int
    sessions: int
    turns: int
    chunks: int
    indexed: bool
    encoder: str | None
    embedded: int
    backlog: int
    reranker: str | None
    filling: list[dict[str, Any]]
    agents: dict[str, dict[str, Any]]
    notes: dict[str, int]
    candidates: dict[str, int]
    passing: int
    last_sweep: str | None
    llm_calls: dict[str, int]
    capture_errors: int
    problems: list[str]
    cursors: list[dict[str, Any]]
    daemon: Daemon | None
    disk: Disk | None


class Token(TypedDict):
    """A token. Neither its secret nor the hash of it."""

    label: str
    prefix: str
    spaces: list[str]
    scopes: list[str]
    created: str | None
    expires: str | None
    last_used: str | None
    revoked: str | None
    live: bool


class TokenList(TypedDict):
    """Tokens of now and of before, oldest first."""

    tokens: list[Token]


def timeline(call: Call) -> dict[str, Any]:
    """How much was said on which day, by agent and project, and what was learned."""
    return Reading(call.runtime).timeline(call.asked(Filters).ask())


def status(call: Call) -> dict[str, Any]:
    """The state of the space; of the daemon and the disk too, for a token that opens the home's own space, `default`."""
    report = Reading(call.runtime).status().as_json()
    if not call.bearer.opens(DEFAULT_SPACE):
        return {**_of_the_space_alone(report), "daemon": None, "disk": None}
    home = call.ground.runtime.home
    return {**report, "daemon": _daemon(heartbeat.state(home)), "disk": disk(call.runtime.home)}


def tokens(call: Call) -> dict[str, Any]:
    """Who may use what: the tokens whose spaces the one that is shown opens, all of them."""
    items = call.ground.runtime.tokens.items(time.time_ns() // 1_000_000)
    return {"tokens": [item.as_json() for item in items if all(map(call.bearer.opens, item.spaces))]}


def _of_the_space_alone(report: dict[str, Any]) -> dict[str, Any]:
    """Without places on this machine, which are the home's business; that there are problems is said."""
    agents = {name: {**one, "failed_sources": {}} for name, one in report["agents"].items()}
    return {
        **report,
        "store": None,
        "agents": agents,
        "cursors": [],
        "problems": [ELSEWHERE] if report["problems"] else [],
    }


def _daemon(state: DaemonState) -> Daemon:
    beat = state.heartbeat
    if beat is None or not state.running:
        return {"running": state.running, "since": None, "caught_up": False, "backlog": None, "error": None, "lag": []}
    lags: list[Lag] = [
        {"agent": name, "lag_seconds": one.lag_seconds, "waiting": one.waiting, "failing": dict(one.failing),
         "sources": dict(one.sources)}
        for name, one in sorted(beat.agents.items())
    ]  # fmt: skip
    return {
        "running": True, "since": shown(int(beat.started * 1000), SYSTEM_ZONE), "caught_up": beat.caught_up,
        "backlog": beat.backlog, "error": beat.error, "lag": lags,
    }  # fmt: skip


OPERATIONS = (
    Operation("GET", "/timeline", "page", timeline, Timeline, query=Filters),
    Operation("GET", "/status", "page", status, Status),
    Operation("GET", "/tokens", "page", tokens, TokenList, scope="admin"),
)
