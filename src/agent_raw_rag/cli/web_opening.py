"""A link, opened in the browser of whoever asked, and shown to nobody else on this machine.

Every user can read the command lines of all processes, and a browser is started with the address on its own. So it is given
the path of a file that only this user may read, which leads on to the link, and is gone when the link was used.
"""

from __future__ import annotations

import contextlib
import html
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

FILE = "open.html"
LOOK_SECONDS = 0.25
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>agent-raw-rag</title>
<meta http-equiv="refresh" content="0;url={link}"></head><body><p><a href="{link}">Open the page</a></p></body></html>
"""


@contextlib.contextmanager
def leading_to(link: str) -> Iterator[str]:
    """The ``file:`` address of a page that leads to a link, as long as this is entered. The file is ours alone (0600), and so is
    its folder (0700)."""
    folder = tempfile.mkdtemp(prefix="raw-rag-")
    try:
        path = os.path.join(folder, FILE)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(PAGE.format(link=html.escape(link)))
        yield Path(path).as_uri()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def open_link(link: str, waits: Callable[[], bool], most_seconds: float, ending: threading.Event) -> bool:
    """Open a link in the browser. Ends when it was used.

    Args:
        waits: Whether the link may be used still.
        most_seconds: So long it is waited for.
        ending: Set, it ends at once.

    Returns:
        Whether a browser was there to open it.
    """
    import webbrowser

    with leading_to(link) as address:
        if not webbrowser.open(address):
            return False
        for _ in range(int(most_seconds / LOOK_SECONDS)):
            if not waits() or ending.wait(LOOK_SECONDS):
                break
    return True
