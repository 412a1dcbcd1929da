"""The daemon as a process: one a store, ended by SIGTERM and SIGINT, reloaded by SIGHUP."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

from agent_raw_rag import __version__
from agent_raw_rag.daemon.loop import Daemon
from agent_raw_rag.daemon.patience import want_files
from agent_raw_rag.log import NAME, keep_in
from agent_raw_rag.runtime.signals import obeyed

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

LOCK_WAIT_SECONDS = 2.0
"""Whoever asks for the status holds the lock for an instant, and a daemon that is being replaced until it has ended."""
_log = logging.getLogger(NAME)


def watch(
    load: Callable[[], Runtime], scan_seconds: float, beside: Callable[[], AbstractContextManager[object]] = nullcontext
) -> None:
    """Keep a store current until a signal ends it. What ``beside`` makes is entered before it begins and left when it has ended.

    Raises:
        StoreBusyError: another daemon does; the message says which, and since when.
        ConfigError: the configuration cannot be read.
    """
    from agent_raw_rag.store.lock import DAEMON, lock

    home, is_over = load().home, False
    want_files()
    while not is_over:
        since = datetime.now().astimezone().strftime("since %Y-%m-%d %H:%M:%S")
        with lock(home, DAEMON, wait_seconds=LOCK_WAIT_SECONDS, purpose=since):
            is_over = _watch(load, home, scan_seconds, beside)


def _watch(
    load: Callable[[], Runtime], home: str, scan_seconds: float, beside: Callable[[], AbstractContextManager[object]]
) -> bool:
    """One daemon's life. Returns whether it was told to end; else its folder or its store was taken from under it."""
    with keep_in(os.path.join(home, "log")) as file:
        daemon = Daemon(load, scan_seconds)
        with obeyed(daemon.stop, daemon.reload), beside():
            _log.info("agent-raw-rag %s watches (process %d); log: %s", __version__, os.getpid(), file)
            daemon.run()
        if daemon.lost:
            return False
        _log.info("ended")
        if threading.active_count() > 1:
            # Of vectors or of a request: a model's code cannot be interrupted, and tearing it down while it runs may crash. All
            # is committed.
            logging.shutdown()
            os._exit(0)
    return True
