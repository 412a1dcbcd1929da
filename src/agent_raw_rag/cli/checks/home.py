"""The home folder: is it there and ours alone, and did a dead process leave something in it."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted

_OURS = re.compile(
    r"lexical|vectors|log|hook\.log|connect\.json|daemon\.(?:sock|(?:json|address)(?:\.new)?)|\w+\.lock|config\.toml|raw_rag\.db.*"
)
"""What this program puts into its home folder. Nothing else is looked at, or touched."""
_SHARED = {"config.toml"}
"""Others may read it: it holds no history, and no secret but the name of a variable."""
HOME_FOLDER = ".agent-raw-rag"
FEW = 3


def folder(subject: Subject) -> Iterator[Finding]:
    """Whether the folder can be used."""
    path = subject.runtime.home
    if not os.path.lexists(path):
        yield Finding("ok", "home", f"{path} is not there yet; the first ingest makes it")
    elif not os.path.isdir(path):
        remedy = f"{pasted('mv', path, f'{path}.aside')} makes room for the folder."
        yield Finding("error", "home", f"{path} is no folder", remedy)
    elif not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        yield Finding("error", "home", f"you may not write to {path}", _to_own(path))
    else:
        yield Finding("ok", "home", path)


def _to_own(path: str) -> str:
    if os.stat(path).st_uid == _user():
        return f"{pasted('chmod', 'u+rwx', path)}, unless its whole disk is read-only."
    return f"It belongs to somebody else: {pasted('sudo', 'chown', '-R', str(_user()), path)}."


def permissions(subject: Subject) -> Iterator[Finding]:
    """Whether anybody else can read what is stored."""
    settings = subject.runtime.settings
    homes = [path for path in dict.fromkeys((subject.runtime.home, settings.home)) if os.path.isdir(path)]
    if not homes or sys.platform == "win32":
        return
    own = {path for home in homes for path in own_paths(home, settings.store_path())}
    found = sorted(path for path in own if _mode(path) & 0o077)
    if not found:
        yield Finding("ok", "permissions", f"only you can read what is stored in {', '.join(homes)}")
        return
    text = f"{len(found)} of the store's files can be read by others: {', '.join(found[:FEW])}"
    remedy = f"{pasted('chmod', 'go=', *found[:FEW])} takes that back" + (
        f", and so on; {subject.command('raw-rag', 'doctor', '--fix')} does it for all." if len(found) > FEW else "."
    )
    yield Finding("error", "permissions", text, remedy, lambda: _close(found))


def own_paths(home: str, store: str) -> Iterator[str]:
    """Everything in a home folder that is this program's and this user's; the folder too, if it is the default or all ours."""
    names = [name for name in os.listdir(home) if _OURS.fullmatch(name) or name.startswith(os.path.basename(store))]
    if os.path.basename(home) == HOME_FOLDER or len(names) == len(os.listdir(home)):
        yield home
    for name in names:
        path = os.path.join(home, name)
        if name in _SHARED or not _is_mine(path):
            continue
        yield path
        for above, folders, files in os.walk(path):
            inside = (os.path.join(above, one) for one in (*folders, *files))
            yield from (one for one in inside if _is_mine(one))


def _close(paths: list[str]) -> str:
    for path in paths:
        try:
            Path(path).chmod(_mode(path) & 0o700)
        except FileNotFoundError:  # another process cleaned up
            continue
    return f"{len(paths)} of them are yours alone now"


def _is_mine(path: str) -> bool:
    """Whether it is this user's, and no link: what a link leads to may be anybody's."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return not stat.S_ISLNK(found.st_mode) and found.st_uid == _user()


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        return 0


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def leftovers(subject: Subject) -> Iterator[Finding]:
    """Whether a dead daemon's socket stands there still. It is dead if its lock is free."""
    from agent_raw_rag.daemon.listening import left_behind, remove_left_behind

    home = subject.runtime.home
    left = left_behind(home)
    if not left:
        return
    remedy = f"{pasted('rm', *left)}, or leave it to the next daemon."
    yield Finding(
        "warn", "socket", f"a daemon that is gone left {', '.join(left)}", remedy,
        lambda: f"removed {', '.join(remove_left_behind(home)) or 'nothing: it is in use by now'}",
    )  # fmt: skip
