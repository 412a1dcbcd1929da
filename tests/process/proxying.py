"""A real ``raw-rag serve`` before a hostile upstream, and what it captured."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.process.watching import wait_for
from tests.servers.hostile import Hostile, completion, hostile, whole
from tests.servers.memory_http import Home, Served, home_in, serving

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"


@dataclass
class Proxied:
    """The two, and a token for the one."""

    served: Served
    upstream: Hostile
    secret: str

    def headers(self, **more: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.secret}", "content-type": "application/json", **more}

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.served.url, trust_env=False, timeout=60, follow_redirects=False)

    def post(self, body: Any, path: str = CHAT, **headers: str) -> httpx2.Response:
        """The whole answer to a request."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with self.client() as client:
            return client.post(path, content=content, headers=self.headers(**named))

    @property
    def home(self) -> Home:
        return self.served.home

    def turns(self, session: str, space: str | None = None) -> list[tuple[str, str, bool]]:
        """(role, text, partial) of a session, as the store has them."""
        folder = self.home.store if space is None else self.home.store / "spaces" / space
        if not (folder / "raw_rag.db").exists():
            return []
        with closing(sqlite3.connect(f"file:{folder / 'raw_rag.db'}?mode=ro", uri=True)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'captured'").fetchone():
                return []
            rows = connection.execute(
                """SELECT t.role, t.text, c.partial FROM turns t JOIN sessions s ON s.id = t.session_id
                   JOIN captured c ON c.turn_id = t.id WHERE s.agent = 'proxy' AND s.native = ? AND t.status = 0
                   ORDER BY t.ordinal""",
                (session,),
            ).fetchall()
        return [(role, text, bool(partial)) for role, text, partial in rows]

    def captured(self, session: str, count: int, space: str | None = None) -> list[tuple[str, str, bool]]:
        """The turns of a session, once there are so many: they are stored after the answer."""
        wait_for(lambda: len(self.turns(session, space)) >= count, f"{count} turns")
        return self.turns(session, space)

    def settled(self) -> None:
        """Return when all that passed until now is stored: exchanges are captured in their order."""
        before = list(self.upstream.steps)
        self.upstream.says(whole(completion("settled")))
        mark = f"mark-{len(self.upstream.asked)}"
        self.post(asking("mark"), x_raw_rag_session=mark)
        self.upstream.says(*before)
        self.captured(mark, 2)


def asking(*texts: Any, stream: bool = False, model: str = "tiny", **more: Any) -> dict[str, Any]:
    """A request; the texts are the user's and the assistant's, in turn."""
    roles = ("user", "assistant")
    return {"model": model, "stream": stream, **more,
            "messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]}  # fmt: skip


@contextmanager
def proxied(
    folder: Path, config: str = "", *, more: dict[str, str] | None = None, form: str = "openai"
) -> Iterator[Proxied]:
    """A home whose server hands on to a hostile upstream. ``config`` follows the upstream's section."""
    home = home_in(folder)
    secret = home.token("proxy", scope="proxy")
    with hostile() as upstream:
        home.configure(f'[proxy.upstreams.stub]\nurl = "{upstream.url}/v1"\nform = "{form}"\n{config}')
        with serving(home, more=more) as served:
            yield Proxied(served, upstream, secret)
