"""A hub of one folder: the endpoints that a download needs, over real HTTP, as a process of its own.

    python -m tests.encode.hub_server FOLDER [stall=FILE:BYTES] [garble=FILE] [lie=FILE:BYTES] [gone=FILE] [norange] [oid=FILE:ID]

``FOLDER/OWNER/NAME`` holds a repository's files. Prints its address, then a line for every request. Files over 10,000 bytes are
"large": they have a SHA-256, and are served by redirect, like the real hub's.
stall: sends so many bytes of the file, and then nothing more. garble: sends other bytes of the same length.
lie: says that the file is so long. gone: answers 404 for the file. norange: ignores the wish for a part.
oid: says that the large file has this checksum.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LARGE = 10_000
COMMIT = hashlib.sha1(b"a commit").hexdigest()


class Hub(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    root = Path()
    faults: dict[str, str] = {}  # noqa: RUF012

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        path = urlsplit(self.path).path
        print(self.command, path, self.headers.get("Range", ""), flush=True)
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            self.tell("/".join(parts[2:4]), parts[4])
        elif parts[0] == "cdn":
            self.send_file(self.root / "/".join(parts[1:]), body=body)
        elif len(parts) == 5 and parts[2] == "resolve":
            self.resolve("/".join(parts[:2]), parts[4], body=body)
        else:
            self.refuse("EntryNotFound")

    def tell(self, repo: str, what: str) -> None:
        folder = self.root / repo
        if not folder.is_dir():
            self.refuse("RepoNotFound")
        elif what == "tree":
            self.send_json([self.entry(file) for file in sorted(folder.iterdir())])
        else:
            self.send_json({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": [], "private": False, "tags": []})

    def entry(self, file: Path) -> dict[str, Any]:
        size = int(self.fault("lie", file.name) or file.stat().st_size)
        facts = {"type": "file", "path": file.name, "size": size, "oid": git_id(file)}
        if file.stat().st_size > LARGE:
            facts["lfs"] = {"oid": self.fault("oid", file.name) or sha256(file), "size": size, "pointerSize": 130}
        return facts

    def resolve(self, repo: str, name: str, *, body: bool) -> None:
        file = self.root / repo / name
        if not file.is_file() or self.fault("gone", name) is not None:
            self.refuse("EntryNotFound")
        elif file.stat().st_size > LARGE:
            self.send_response(302)
            self.send_header("Location", f"/cdn/{repo}/{name}")
            self.facts(file)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_file(file, body=body)

    def facts(self, file: Path) -> None:
        large = file.stat().st_size > LARGE
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{sha256(file) if large else git_id(file)}"')
        if large:
            self.send_header("X-Linked-ETag", f'"{sha256(file)}"')
            self.send_header("X-Linked-Size", str(file.stat().st_size))

    def send_file(self, file: Path, *, body: bool) -> None:
        content = file.read_bytes()
        if self.fault("garble", file.name) is not None:
            content = bytes(len(content))
        wish = self.headers.get("Range", "") if "norange" not in self.faults else ""
        begin = int(wish.removeprefix("bytes=").partition("-")[0]) if wish else 0
        self.send_response(206 if wish else 200)
        self.facts(file)
        if wish:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        if body:
            self.send_body(file.name, content[begin:])

    def send_body(self, name: str, content: bytes) -> None:
        stall = self.fault("stall", name)
        self.wfile.write(content[: int(stall)] if stall is not None else content)
        if stall is not None:
            self.wfile.flush()
            print("stalled", flush=True)
            threading.Event().wait()

    def send_json(self, value: object) -> None:
        text = json.dumps(value).encode("utf-8")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def refuse(self, code: str) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def fault(self, kind: str, name: str) -> str | None:
        file, _, number = self.faults.get(kind, "").partition(":")
        return number if file == name else None

    def log_message(self, *arguments: object) -> None:
        """Standard output says it already."""


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def git_id(file: Path) -> str:
    content = file.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


if __name__ == "__main__":
    Hub.root = Path(sys.argv[1])
    Hub.faults = {word.partition("=")[0]: word.partition("=")[2] for word in sys.argv[2:]}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
