"""As much of Windows as can honestly be had elsewhere: what Python lacks there is gone here, and ``sys.platform`` says so.

``enter()`` is called in a process of its own, before anything of ours is imported. Paths stay those of this system, as do
``os.name`` and what the system calls do: a process that runs here shows that nothing of ours needs what Windows has not.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import socket
import sys
import time
from types import ModuleType, SimpleNamespace

OF_OTHERS = (
    "anyio._backends._asyncio", "asyncio", "asyncio.base_subprocess", "concurrent.futures.thread", "email.mime.text",
    "ctypes", "encodings.idna", "getpass", "hashlib", "http.client", "httpcore2", "httpx2", "importlib.metadata",
    "logging.handlers", "mcp.client.stdio", "mcp.server.mcpserver", "mcp.server.stdio", "mmap", "multiprocessing.spawn",
    "multiprocessing.context", "multiprocessing.connection", "multiprocessing.popen_spawn_posix",
    "multiprocessing.popen_fork", "multiprocessing.resource_tracker", "numpy", "numpy.random", "onnxruntime", "orjson",
    "pathlib", "pydantic.mypy", "pydantic", "platform", "psutil", "random", "rich.console", "rich.table", "rich.traceback",
    "rich.markdown", "selectors", "secrets", "shutil", "simsimd", "sqlite3", "sqlite_utils", "ssl", "starlette.applications",
    "starlette.routing", "starlette.testclient", "Stemmer", "subprocess", "sysconfig", "tantivy", "tempfile", "tiktoken",
    "tokenizers", "tomlkit", "typer", "typer.testing", "typer.rich_utils", "uuid", "uvicorn",
    "uvicorn.loops.asyncio", "uvicorn.protocols.http.h11_impl", "uvicorn.lifespan.off", "uvicorn.lifespan.on",
    "uvicorn.server", "watchdog.observers", "watchdog.events", "webbrowser", "zoneinfo", "zstandard", "mlx.core",
)  # fmt: skip
"""Loaded beforehand: libraries choose by platform when they are imported, and these are the ones of this system."""
ABSENT: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (os, ("pread", "preadv", "pwrite", "pwritev", "getuid", "geteuid", "getgid", "fchmod", "fchown", "chown", "lchown",
          "getloadavg", "sysconf", "mkfifo", "killpg", "getpgid", "setsid", "nice", "statvfs", "posix_fadvise", "sendfile",
          "sched_getaffinity", "O_NOFOLLOW", "O_CLOEXEC", "O_DIRECTORY", "O_NONBLOCK", "O_SYNC", "O_DSYNC", "uname")),
    (socket, ("AF_UNIX",)),
    (signal, ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL", "SIGALRM", "SIGCHLD", "SIGQUIT", "pthread_sigmask", "setitimer")),
    (time, ("clock_gettime", "CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "tzset")),
)  # fmt: skip
NO_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "syslog")


def enter() -> None:
    """Make this process such a one."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # as the product does before it loads that library
    for name in OF_OTHERS:
        try:
            importlib.import_module(name)
        except ImportError:  # not everything is installed everywhere
            continue
    import fcntl

    _keep_disk_usage()
    socket_family = socket.AF_UNIX  # asyncio needs a pair of some kind; there it is made of two ports
    sys.modules["msvcrt"] = _msvcrt(fcntl)
    for name in NO_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ABSENT:
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    asyncio, pair, family = importlib.import_module("asyncio"), socket.socketpair, socket_family
    socket.socketpair = lambda *_: pair(family)  # type: ignore[assignment]
    asyncio.ProactorEventLoop = asyncio.SelectorEventLoop  # type: ignore[attr-defined]
    os.O_BINARY = 0  # type: ignore[attr-defined]
    os.environ.setdefault("USERPROFILE", os.environ.get("HOME", ""))
    os.environ.setdefault("PATHEXT", ".exe")
    sys.platform = "win32"


def _keep_disk_usage() -> None:
    """The one of this system asks ``os.statvfs``, that of Windows does not."""
    asked = os.statvfs

    def disk_usage(path: str) -> SimpleNamespace:
        found = asked(path)
        total, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
        return SimpleNamespace(total=total, used=total - free, free=free)

    shutil.disk_usage = disk_usage  # type: ignore[assignment]


def _msvcrt(fcntl: ModuleType) -> ModuleType:
    """Its locks, as ``fcntl`` has them; of one byte, and each handle for itself."""
    made = ModuleType("msvcrt")
    made.LK_NBLCK, made.LK_UNLCK = 2, 0  # type: ignore[attr-defined]

    def locking(handle: int, mode: int, count: int) -> None:
        assert count == 1 and os.lseek(handle, 0, os.SEEK_CUR) > 1 << 20, "a byte far behind the text"
        fcntl.flock(handle, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)

    made.locking = locking  # type: ignore[attr-defined]
    return made
