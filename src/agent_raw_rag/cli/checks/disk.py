"""The disk under the store: of a kind that SQLite's write-ahead log works on, and with room."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping

from agent_raw_rag.cli import render
from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted
from agent_raw_rag.errors import ServiceError

NETWORK = frozenset((
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
    "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs3", "nfs4", "smb2", "smb3", "smbfs", "vboxsf", "vmhgfs", "webdav",
))  # fmt: skip
"""File systems on which processes do not share memory, as the write-ahead log needs (sqlite.org/wal.html)."""
FEW_BYTES = 500_000_000
TOO_FEW_BYTES = 50_000_000


def disk(subject: Subject) -> Iterator[Finding]:
    """Both."""
    place = _existing(subject.runtime.home)
    yield file_system(place, _kinds(subject.runtime.environment), sys.platform, _kernel())
    yield room(place, shutil.disk_usage(place).free)


def file_system(path: str, kinds: Mapping[str, str], platform: str, release: str) -> Finding:
    """What a folder's file system means for the store. ``kinds``: mount point -> kind; ``release``: of the kernel."""
    kind = kind_of(path, kinds)
    is_wsl = platform.startswith("linux") and "microsoft" in release.lower()
    if kind not in NETWORK:
        return Finding("ok", "file system", f"{kind or 'of an unknown kind'}{' in WSL' if is_wsl else ''}")
    move = pasted("export", "RAW_RAG_HOME=/path/on/a/local/disk")
    if is_wsl and kind in ("9p", "drvfs"):
        text = f"{path} lies on a Windows drive, where several processes damage a store that they share from WSL"
        move = f"{pasted('export', 'RAW_RAG_HOME=/home/you/.agent-raw-rag')} with your own name"
    else:
        text = f"{path} lies on a network file system ({kind}), where several processes damage a store that they share"
    return Finding("warn", "file system", text, f"{move} in your profile and in each agent's entry; then ingest there.")


def kind_of(path: str, kinds: Mapping[str, str]) -> str | None:
    """The kind of file system that a path lies on: of the longest mount point above it."""
    real = os.path.realpath(path)
    above = [point for point in kinds if real == point or real.startswith(point.rstrip("/") + "/")]
    return kinds[max(above, key=len)] if above else None


def room(path: str, free: int) -> Finding:
    """What the free bytes of a disk mean."""
    text = f"{render.size(free)} are free at {path}"
    if free >= FEW_BYTES:
        return Finding("ok", "disk", text)
    level = "warn" if free >= TOO_FEW_BYTES else "error"
    remedy = f"Make room; {pasted('raw-rag', 'spaces', 'list')} shows vectors of older models, which can be dropped."
    return Finding(level, "disk", f"only {text}", remedy)


def _kinds(environment: Mapping[str, str]) -> dict[str, str]:
    if sys.platform.startswith("linux"):
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as stream:
            return linux_mounts(stream.read())
    if sys.platform == "darwin":
        from agent_raw_rag.service.base import call

        try:
            return mac_mounts(call(["/sbin/mount"], environment).stdout)
        except ServiceError:
            return {}
    return {}


def linux_mounts(text: str) -> dict[str, str]:
    """Mount point -> kind, of ``/proc/self/mounts``."""
    rows = (line.split(" ") for line in text.splitlines())
    return {_unescaped(row[1]): row[2] for row in rows if len(row) > 2}


def _unescaped(word: str) -> str:
    for code, sign in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        word = word.replace(code, sign)
    return word


def mac_mounts(text: str) -> dict[str, str]:
    """Mount point -> kind, of what ``mount`` says on macOS."""
    found = {}
    for line in text.splitlines():
        place, _, facts = line.rpartition(" (")
        found[place.partition(" on ")[2]] = facts.split(",")[0].rstrip(")")
    return found


def _existing(path: str) -> str:
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def _kernel() -> str:
    if sys.platform == "win32":
        return ""
    return os.uname().release
