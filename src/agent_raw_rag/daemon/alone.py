"""``python -m agent_raw_rag.daemon.alone``: serving without the watch loop, until a signal. For measuring and for tests.

The only line on stdout says that it serves, and where.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from agent_raw_rag.errors import RawRagError


def main() -> int:
    """Serve. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m agent_raw_rag.daemon.alone", description=__doc__)
    parser.add_argument("--config", metavar="PATH", help="the configuration file, instead of the default one")
    parser.add_argument("--tcp", action="store_true", help="a port and a token, as where there are no Unix sockets")
    options = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    from agent_raw_rag.daemon.serving import Serving
    from agent_raw_rag.log import set_up
    from agent_raw_rag.runtime import Runtime

    os.umask(0o077)
    set_up()
    try:
        serving = Serving(Runtime.load(options.config), unix=False if options.tcp else None)
        address = serving.start()
    except RawRagError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)  # noqa: T201 - to a person, on stderr
        return error.exit_status
    print(f"serving {address.path or address.port}", file=sys.stdout, flush=True)  # noqa: T201 - for whoever started it
    ended.wait()
    serving.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
