"""What a caller's filters mean: names, dates and folders -> a scope of the store."""

from __future__ import annotations

import os
from datetime import datetime, tzinfo

from agent_raw_rag.errors import UsageError
from agent_raw_rag.models import Role
from agent_raw_rag.search.dates import instant
from agent_raw_rag.sources.projects import Projects, is_foreign, normal_path, other_names
from agent_raw_rag.store.reader import Reader, Scope

LONGEST_PATH = 4096


def scope_of(
    reader: Reader, *, zone: tzinfo, agents: tuple[str, ...] = (), project: str | None = None, after: str | None = None,
    before: str | None = None, branch: str | None = None, role: str | None = None, session: str | None = None,
) -> Scope:  # fmt: skip
    """The scope of filters as they were written.

    Raises:
        UsageError: a role or date that is none, or a range that is empty.
        NotFoundError: no such session.
    """
    now = datetime.now(zone)
    start = instant(after, now=now, upper=False) if after else None
    end = instant(before, now=now, upper=True) if before else None
    if start is not None and end is not None and start >= end:
        raise UsageError(f"The range from {after!r} to {before!r} is empty.", hint="Swap after and before?")
    return Scope(
        projects=folders(project) if project else (),
        agents=agents,
        sessions=(reader.session(session).id,) if session else (),
        branch=_branch(branch) if branch else None,
        roles=(_role(role),) if role else (),
        after=start,
        before=end,
    )


def folders(project: str) -> tuple[str, ...]:
    """The folders that a project filter stands for: the repository's root of an existing folder (so that a sub-folder and a
    linked worktree find their project), and the folder as it was written, for projects that are gone.

    Raises:
        UsageError: no folder can have this name.
    """
    if len(project) > LONGEST_PATH:
        raise UsageError(f"A path of {len(project)} characters is no project.")
    try:
        real = normal_path(project)
        path = real if is_foreign(project) else os.path.abspath(os.path.expanduser(project))
        names = (Projects().of(real).path, real, path)
        return tuple(dict.fromkeys((*names, *(other for name in names for other in other_names(name)))))
    except ValueError:  # a NUL, or what cannot be encoded
        raise UsageError(f"{project!r} is no path.") from None


def _branch(branch: str) -> str:
    try:
        branch.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which the store cannot hold
        raise UsageError(f"{branch!r} is no branch.") from None
    return branch


def _role(role: str) -> Role:
    try:
        return Role(role.lower())
    except ValueError:
        raise UsageError(f"{role!r} is no role.", hint=f"Roles: {', '.join(Role)}.") from None
