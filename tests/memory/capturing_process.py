"""A process that captures: ``python capturing_process.py HOME SESSION NAME COUNT``. Each line is an acknowledged capture."""

from __future__ import annotations

import sys
from pathlib import Path

from agent_raw_rag.models import Capture
from tests.memory.rooms import OWNER, runtime


def main() -> None:
    home, session, name, count = sys.argv[1:]
    raw = runtime(Path(home)).memory.raw
    for number in range(int(count)):
        said = f"{name} says number {number} of the {session}"
        answer = raw.capture(Capture(said, name, session=session, host_turn_id=f"{name}-{number}"), OWNER)
        print(f"{answer.event_id} {number}", flush=True)


if __name__ == "__main__":
    main()
