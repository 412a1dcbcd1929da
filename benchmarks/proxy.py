"""The capture proxy beside asking the same server directly: first byte, throughput, memory, many streams at once.

    python benchmarks/proxy.py [--rounds 300] [--megabytes 10] [--streams 64]

A server of its own process (prepared bytes over plain sockets: as fast as a server can be) says an event stream; `raw-rag serve`
hands it on in a third process and captures it. The client reads in this process. One JSON object:

- ``first_byte``: a short answer, asked for in turn directly and through the proxy; milliseconds until the answer's first byte.
- ``throughput``: megabytes a second of one long stream, as chunks of a frame (some 120 bytes) and as chunks of 64 KB; read by a
  client that does nothing with the bytes, and by httpx, on which the common libraries of models stand. What was heard is captured
  between two runs. ``ms_per_mb``: milliseconds of the proxy's processor time, user and system, for each
  megabyte while it passes.
- ``paced``: the frames come as fast as the fastest models speak (1,000 a second); seconds for all of them, directly and not.
- ``memory``: the proxy's resident megabytes, before and after each of three times six long streams, or fewer on a slow machine.
- ``streams``: so many at once; how many came as they were sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from agent_raw_rag.gateway.chunked_body import ChunkedBody
from agent_raw_rag.runtime import tally
from tests.servers.memory_http import Home, Served, home_in, serving

PATH = "/v1/chat/completions"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
WRITE = 64 * 1024
FRAMES_A_SECOND = 1000
WARM = 20
MEMORY_SECONDS = 150.0
"""After which no further stream of the memory part begins."""


def frame(n: int) -> bytes:
    """A frame as servers send it for one token."""
    told = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": f" w{n}"}}],
    }
    return b"data: " + json.dumps(told, separators=(",", ":")).encode() + b"\n\n"


def chunked(data: bytes) -> bytes:
    """A chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class Answers:
    """What the server says, by the model that is asked for."""

    def __init__(self, megabytes: float) -> None:
        count = int(megabytes * 1e6 / len(frame(50_000)))
        frames = [frame(n) for n in range(count)]
        body = b"".join(frames)
        self.small = b"".join(map(chunked, frames))
        self.large = b"".join(chunked(body[at : at + WRITE]) for at in range(0, len(body), WRITE))
        self.few = [chunked(frame(n)) for n in range(200)]
        self.size = len(body)

    async def say(self, model: str, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        writer.write(HEAD)
        if model == "short":
            writer.write(b"".join(self.few[:3]))
        elif model == "paced":
            began = time.perf_counter()
            for n, one in enumerate(self.few * 5):
                await asyncio.sleep(max(0.0, began + n / FRAMES_A_SECOND - time.perf_counter()))
                writer.write(one)
        else:
            data = self.small if model == "small" else self.large
            for at in range(0, len(data), WRITE):
                writer.write(data[at : at + WRITE])
                await writer.drain()
        writer.write(END)
        await writer.drain()


async def serve(megabytes: float) -> None:
    """The server's process."""
    answers = Answers(megabytes)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line
                )
                await answers.say(json.loads(await reader.readexactly(length))["model"], writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], answers.size, flush=True)
    await server.serve_forever()


class Reader:
    """A client that does nothing with the bytes but look for the end."""

    def __init__(self, url: str, secret: str = "") -> None:
        host, port = url.removeprefix("http://").split(":")
        self._place = host, int(port)
        self._host, self._secret = f"{host}:{port}", secret

    async def open(self) -> Reader:
        """Connect."""
        self._reader, self._writer = await asyncio.open_connection(*self._place, limit=1 << 22)
        return self

    async def ask(self, model: str, session: str = "bench", *, keep: bool = False) -> tuple[float, float, bytes]:
        """(ms to the answer's first byte, seconds in all, the body if it is kept)."""
        body = json.dumps({"model": model, "stream": True, "messages": [{"role": "user", "content": session}]}).encode()
        head = f"POST {PATH} HTTP/1.1\r\nhost: {self._host}\r\nauthorization: Bearer {self._secret}\r\n"
        head += f"x-raw-rag-session: {session}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        began = time.perf_counter()
        self._writer.write(head.encode() + body)
        data = await self._reader.readuntil(b"\r\n\r\n")
        assert data.startswith(b"HTTP/1.1 200"), data
        last = await self._reader.read(1 << 20)
        first, kept = time.perf_counter() - began, [last]
        while not last.endswith(b"\r\n" + END):
            piece = await self._reader.read(1 << 20)
            if keep:
                kept.append(piece)
            last = last[-16:] + piece
        return first * 1000, time.perf_counter() - began, ChunkedBody().feed(b"".join(kept)) if keep else b""

    def close(self) -> None:
        """Leave."""
        self._writer.close()


async def first_byte(direct: Reader, through: Reader, rounds: int) -> dict[str, Any]:
    """In turn, so that both see the same machine."""
    found: dict[str, list[float]] = {"direct": [], "through": []}
    for n in range(rounds + WARM):
        for name, reader in (("direct", direct), ("through", through)):
            took = (await reader.ask("short", f"first{n}"))[0]
            if n >= WARM:
                found[name].append(took)
            await asyncio.sleep(0.01)
    shown = {name: {"p50": _at(values, 50), "p95": _at(values, 95)} for name, values in found.items()}
    extra = [b - a for a, b in zip(found["direct"], found["through"], strict=True)]
    return {
        **shown,
        "p95_difference": round(shown["through"]["p95"] - shown["direct"]["p95"], 2),
        "extra_p50": _at(extra, 50),
    }


async def throughput(direct: Reader, through: Reader, size: int, proxy: psutil.Process, home: Home) -> dict[str, Any]:
    """The best of five of each, since other work runs on the machine."""
    found: dict[str, Any] = {}
    for model in ("small", "large"):
        best, processor = {}, 0.0
        for name, reader in (("direct", direct), ("through", through)):
            took, busy = [], []
            for n in range(5):
                before = _processor(proxy)
                took.append((await reader.ask(model, f"{model}{n}"))[1])
                busy.append(_processor(proxy) - before)
                await settled(home)
            best[name] = size / 1e6 / min(took)
            processor = min(busy) * 1000 / (size / 1e6)
        found[model] = {**{name: round(value, 1) for name, value in best.items()},
                        "ratio": round(best["through"] / best["direct"], 2), "ms_per_mb": round(processor, 2)}  # fmt: skip
    return found


def with_httpx(urls: dict[str, str], secret: str, size: int) -> dict[str, Any]:
    """The same, read by httpx."""
    import httpx2

    found: dict[str, Any] = {}
    for model in ("small", "large"):
        best = {}
        for name, url in urls.items():
            with httpx2.Client(trust_env=False, timeout=120, headers={"authorization": f"Bearer {secret}"}) as client:
                took = []
                for n in range(3):
                    began = time.perf_counter()
                    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": f"httpx{n}"}]}
                    with client.stream("POST", url + PATH, json=body) as response:
                        assert sum(map(len, response.iter_raw())) == size
                    took.append(time.perf_counter() - began)
                    time.sleep(2.0)  # what was heard is captured meanwhile
            best[name] = size / 1e6 / min(took)
        found[model] = {**{name: round(value, 1) for name, value in best.items()},
                        "ratio": round(best["through"] / best["direct"], 2)}  # fmt: skip
    return found


async def at_once(url: str, secret: str, count: int) -> dict[str, Any]:
    """Many streams at the same time, each as long as the paced one."""
    readers = [await Reader(url, secret).open() for _ in range(count)]
    began = time.perf_counter()
    answers = await asyncio.gather(*(reader.ask("paced", f"many{n}", keep=True) for n, reader in enumerate(readers)))
    for reader in readers:
        reader.close()
    took = round(time.perf_counter() - began, 2)
    wanted = b"".join(frame(n) for n in range(200)) * 5
    return {"count": count, "seconds": took, "exact": sum(1 for *_, body in answers if body == wanted)}


async def measured(stub: str, served: Served, secret: str, size: int, asked: argparse.Namespace) -> dict[str, Any]:
    """All of it."""
    url, home, proxy = served.url, served.home, psutil.Process(served.process.pid)
    direct, through = await Reader(stub).open(), await Reader(url, secret).open()
    found: dict[str, Any] = {"load": os.getloadavg()[0]}
    found["first_byte"] = await first_byte(direct, through, asked.rounds)
    await settled(home)
    found["paced"] = {
        name: round((await one.ask("paced", "paced"))[1], 3) for name, one in (("direct", direct), ("through", through))
    }
    found["throughput"] = await throughput(direct, through, size, proxy, home)
    found["throughput_httpx"] = await asyncio.to_thread(with_httpx, {"direct": stub, "through": url}, secret, size)
    found["memory"] = [round(proxy.memory_info().rss / 1e6, 1)]
    ends = time.monotonic() + MEMORY_SECONDS
    for part in range(3):
        for n in range(6):
            if time.monotonic() < ends:
                await through.ask("large", f"memory{part}-{n}")
                await settled(home)
        found["memory"].append(round(proxy.memory_info().rss / 1e6, 1))
    found["streams"] = await at_once(url, secret, asked.streams)
    return found


async def settled(home: Home) -> None:
    """Until the proxy has captured what it heard: nothing was counted for a while."""
    before, quiet = -1, 0
    while quiet < 4:
        now = tally.read(str(home.store)).llm_calls["proxy"]
        before, quiet = now, quiet + 1 if now == before else 0
        await asyncio.sleep(0.25)


def _processor(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _at(values: list[float], share: int) -> float:
    return round(statistics.quantiles(values, n=100)[share - 1], 2)


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--megabytes", type=float, default=10.0)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        asyncio.run(serve(asked.megabytes))
        return
    command = [sys.executable, __file__, "--serve", "--megabytes", str(asked.megabytes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stub, tempfile.TemporaryDirectory() as folder:
        try:
            assert stub.stdout is not None
            port, size = stub.stdout.readline().split()
            home: Home = home_in(Path(folder))
            secret = home.token("bench", scope="proxy")
            home.configure(f'[proxy.upstreams.stub]\nurl = "http://127.0.0.1:{port}"\n')
            with serving(home) as served:
                found = asyncio.run(measured(f"http://127.0.0.1:{port}", served, secret, int(size), asked))
                found["capture_errors"] = home.read("status")["capture_errors"]
            print(json.dumps(found, indent=2))
        finally:
            stub.kill()


if __name__ == "__main__":
    main()
