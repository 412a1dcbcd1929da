"""Agents at work: threads of prompts and answers, appended to sample logs as each agent writes them, torn lines among them."""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.process.watching import DATABASE, LINES, say_in_rows

WORDS = (
    "retry", "offset", "upload", "session", "cursor", "heron", "codec", "frame", "index", "vector", "commit", "branch",
    "schema", "socket", "timeout", "checksum", "part", "photo", "queue", "worker",
)  # fmt: skip
Row = dict[str, Any]


class LinePen:
    """One log of lines. They are written in one go or, now and then, torn in two with a moment in between."""

    def __init__(self, log: Path, rows: Callable[[int, str], list[Row]]) -> None:
        self.log = log
        self._rows = rows
        self._said = 0

    def say(self, *texts: str, pause: Callable[[], object] | None = None) -> None:
        """Append prompts. ``pause``: called in the middle of it; it is on disk up to there."""
        rows = [row for number, text in enumerate(texts, self._said + 1) for row in self._rows(number, text)]
        self._said += len(texts)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        with self.log.open("ab", buffering=0) as stream:
            middle = len(lines) // 2 if pause else len(lines)
            stream.write(lines[:middle])
            if pause:
                pause()
                stream.write(lines[middle:])


class RowPen:
    """An agent's database in write-ahead-log mode, open all the while."""

    def __init__(self, database: Path) -> None:
        self._database = database
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")

    def say(self, text: str, pause: Callable[[], object] | None = None) -> None:
        """Write a prompt as rows, in one transaction."""
        with closing(sqlite3.connect(self._database, timeout=30)) as connection:
            say_in_rows(connection, text)


def pens(home: Path) -> list[LinePen | RowPen]:
    """One for each sample log of a home (see ``tests.samples``)."""
    lines, rollout, tree, steps = (
        home / LINES,
        *(next(home.glob(f"{place}/**/{name}")) for place, name in (
            (".codex/sessions", "rollout-*.jsonl"), (".omp/agent/sessions", "*.jsonl"),
            (".gemini/antigravity-cli/brain", "transcript_full.jsonl"),
        )),
    )  # fmt: skip
    writers = [
        LinePen(lines, linked(lines)), LinePen(rollout, _items), LinePen(tree, _message(tree)), LinePen(steps, _step),
    ]  # fmt: skip
    return [*writers, RowPen(home / DATABASE)]


def linked(log: Path) -> Callable[[int, str], list[Row]]:
    """Prompts that each answer the one before, from the last line of a log on."""
    *_, last = (json.loads(line) for line in log.read_bytes().splitlines() if b'"uuid"' in line)
    like = {name: last[name] for name in ("cwd", "sessionId", "version")}
    ids = [last["uuid"]]

    def row(number: int, text: str) -> list[Row]:
        ids.append(str(uuid.uuid5(uuid.NAMESPACE_OID, f"{log.stem} {number}")))
        return [{
            **like, "parentUuid": ids[-2], "uuid": ids[-1], "isSidechain": False, "type": "user",
            "message": {"role": "user", "content": text}, "timestamp": _at(number), "userType": "external",
        }]  # fmt: skip

    return row


def _items(number: int, text: str) -> list[Row]:
    """What the model is sent, and what was done: each prompt stands in the log twice."""
    sent = {
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": text}], "id": f"msg_9{number:05d}",
        "internal_chat_message_metadata_passthrough": {"turn_id": f"turn-9{number}", "content_item_kinds": ["user.text"]},
    }  # fmt: skip
    said = {
        "type": "UserMessage",
        "id": f"um-9{number}",
        "content": [{"type": "text", "text": text, "text_elements": []}],
    }
    done = {"type": "item_completed", "turn_id": f"turn-9{number}", "item": said}
    return [
        {"timestamp": _at(number), "ordinal": 1000 + 2 * number, "type": "response_item", "payload": sent},
        {"timestamp": _at(number), "ordinal": 1001 + 2 * number, "type": "event_msg", "payload": done},
    ]


def _message(log: Path) -> Callable[[int, str], list[Row]]:
    ids = [json.loads(log.read_bytes().splitlines()[-1])["id"]]

    def row(number: int, text: str) -> list[Row]:
        ids.append(f"9ea{number:05x}")
        message = {"role": "user", "content": [{"type": "text", "text": text}], "attribution": "user"}
        return [{
            "type": "message", "id": ids[-1], "parentId": ids[-2], "timestamp": _at(number),
            "message": {**message, "timestamp": 1795000000000 + number * 1000},
        }]  # fmt: skip

    return row


def _step(number: int, text: str) -> list[Row]:
    content = f"<USER_REQUEST>\n{text}\n</USER_REQUEST>"
    common = {"source": "USER_EXPLICIT", "type": "USER_INPUT", "status": "DONE"}
    return [{"step_index": 100 + number, **common, "created_at": f"{_at(number)[:19]}Z", "content": content}]


def _at(number: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1795000000 + number))


class Writing(threading.Thread):
    """Agents that speak until they are told to stop. ``said`` holds the marks of what is whole on disk."""

    def __init__(self, writers: Sequence[LinePen | RowPen], seed: int = 7, every: float = 0.1) -> None:
        super().__init__(name="writing", daemon=True)
        self.said: list[str] = []
        self.problem: BaseException | None = None
        self._writers = writers
        self._chance = random.Random(seed)
        self._every = every
        self._stop_asked = threading.Event()

    def run(self) -> None:
        """Speak."""
        try:
            while not self._stop_asked.wait(self._chance.expovariate(1 / self._every)):
                self._say()
        except BaseException as error:  # a thread's end is seen by nobody
            self.problem = error

    def end(self) -> list[str]:
        """Finish the line that is being written. Returns what was said."""
        self._stop_asked.set()
        self.join()
        if self.problem is not None:
            raise self.problem
        return self.said

    def _say(self) -> None:
        mark = f"remark{len(self.said)}x"
        text = f"{mark} {' '.join(self._chance.choices(WORDS, k=self._chance.randrange(5, 120)))}."
        torn = self._chance.random() < 0.2
        self._chance.choice(self._writers).say(text, pause=(lambda: self._stop_asked.wait(0.1)) if torn else None)
        self.said.append(mark)
