"""One operation of the REST API: what it asks for, does and answers. Its route and its description follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict

from agent_raw_rag.memory.admission import Bearer
from agent_raw_rag.models import Actor
from agent_raw_rag.server.http.doors import Door
from agent_raw_rag.server.http.guard import App
from agent_raw_rag.server.http.routes import Ground

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

Asked = TypeVar("Asked", bound=BaseModel)


class Form(BaseModel):
    """What a request says, in its query or its body. An unknown key is an error; so is NaN, which JSON does not have."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was let in and understood."""

    ground: Ground
    runtime: Runtime
    """Of the space."""
    bearer: Bearer
    actor: Actor
    space: str
    path: Mapping[str, str]
    """The segments that the operation's path names."""
    query: BaseModel | None
    body: BaseModel | None

    @property
    def source(self) -> str:
        """Where something comes from of which its sender says nothing: the token's label."""
        return self.bearer.label

    def asked(self, form: type[Asked]) -> Asked:
        """The query or the body, whichever is of this form."""
        found = next(one for one in (self.query, self.body) if isinstance(one, form))
        return found


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is no JSON value."""

    content: bytes | Iterator[bytes]
    """An iterator is asked for one piece after the other, each maybe in another thread."""
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """One operation. ``run`` is called in a worker thread; what it raises of our own errors is an answer too."""

    method: str
    path: str
    """As ``doors.Door.path``."""
    tag: str
    """Its chapter in the description."""
    run: Callable[[Call], Any]
    """Gives JSON values, or a ``Reply``. Its docstring is the operation's description."""
    answer: Any
    """The type of what ``run`` gives, for the description."""
    scope: str | None = "read"
    """None: any token will do."""
    needs_space: bool = True
    """Without: a request that means no space is answered too, and ``Call.space`` is empty then."""
    writes: bool | None = None
    """Whether something may have been written when it is done. None: unless its method is GET."""
    query: type[Form] | None = None
    body: type[Form] | None = None
    errors: tuple[int, ...] = ()
    """Statuses of refusals besides those that every operation has."""
    media: tuple[str, ...] = ("*/*",)
    """Media types of a ``Reply``, for the description."""
    app: Callable[[Ground], App] | None = None
    """Answers in the place of ``run``, which then only describes it: for an answer that comes in pieces."""

    @property
    def door(self) -> Door:
        """Where it stands."""
        return Door(
            self.path, (self.method,), needs_space=self.needs_space, own_space=True, scope=self.scope,
            body="json" if self.body else "none",
        )  # fmt: skip
