"""A server of generation models for the tests: a real process, started as a script. It speaks OpenAI's form and Anthropic's.

The first part of a path names the visit, so that one process serves every test: ``/visit7/v1/chat/completions``. The model's
name says how it behaves. ``/visit7/seen`` tells which requests a visit has made; ``/visit7/release`` lets held answers go on;
``/visit7/held`` answers when one is held, ``/visit7/left`` when a client has left one. Prints its port, then serves.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

MODELS = ["echo", "other"]
STEERING = ["\x1b", "[31mred", "\x1b]0;", "title\x07", "\x9b2J\r", "\n\t", "\u202eplain"]
"""Words that would steer a terminal, cut in the middle of what does."""


@dataclass
class Visit:
    seen: list[dict[str, Any]] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)


visits: dict[str, Visit] = defaultdict(Visit)


def frame(text: str | None = None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"model": "m", "choices": [choice]}).encode() + b"\n\n"


def anthropic(kind: str, **told: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **told})}\n\n".encode()


def words_of(text: str) -> list[str]:
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


async def streamed(visit: Visit, model: str, asked: str) -> AsyncIterator[bytes]:
    try:
        if model == "silent":
            await hold(visit)
        if model == "empty":
            return
        yield b": a remark\r\n\r\n"
        if model == "error-frame":
            yield frame("so far ")
            yield b'data: {"error": {"message": "the model fell over"}}\n\n'
            return
        for word in STEERING if model == "steering" else words_of(f"You said: {asked}"):
            yield frame(word)
            if model == "hold":
                await hold(visit)
        if model == "dies":
            raise ConnectionResetError("on purpose")
        yield frame(finish="length" if model == "short" else "stop")
        yield b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}\n\n'
        yield b"data: [DONE]\n\n"
    except asyncio.CancelledError:
        visit.left.set()
        raise


async def hold(visit: Visit) -> None:
    visit.held.set()
    await visit.go_on.wait()


async def as_anthropic(asked: str) -> AsyncIterator[bytes]:
    yield anthropic("message_start", message={"model": "m", "usage": {"input_tokens": 3}})
    yield anthropic("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for word in words_of(f"You said: {asked}"):
        yield anthropic("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield anthropic("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
    yield anthropic("message_stop")


async def answer(request: Request) -> Response:
    visit, body = await noted(request)
    model, asked = body["model"], body["messages"][-1]["content"]
    if model.isdigit():
        error = {"error": {"message": f"refused, says the server to {request.headers.get('authorization', 'nobody')}"}}
        return JSONResponse(error, int(model), {"retry-after": "7"})
    if model == "never":
        await hold(visit)
    if model == "whole":
        message = {"role": "assistant", "content": f"You said: {asked}"}
        return JSONResponse({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    if request.url.path.endswith("/messages"):
        return StreamingResponse(as_anthropic(asked), media_type="text/event-stream")
    return StreamingResponse(streamed(visit, model, asked), media_type="text/event-stream")


async def noted(request: Request) -> tuple[Visit, dict[str, Any]]:
    visit, content = visits[request.path_params["visit"]], await request.body()
    body = json.loads(content) if content else {}
    visit.seen.append({"path": request.path_params["path"], "headers": dict(request.headers), "body": body})
    return visit, body


async def models(request: Request) -> Response:
    await noted(request)
    return JSONResponse({"object": "list", "data": [{"id": name} for name in MODELS]})


async def told(request: Request) -> Response:
    visit, what = visits[request.path_params["visit"]], request.path_params["what"]
    if what == "release":
        visit.go_on.set()
    elif what in ("held", "left"):
        await (visit.held if what == "held" else visit.left).wait()
    return JSONResponse(visit.seen)


app = Starlette(
    routes=[
        Route("/{visit}/{what}", told, methods=["GET"]),
        Route("/{visit}/{path:path}", models, methods=["GET"]),
        Route("/{visit}/{path:path}", answer, methods=["POST"]),
    ]
)


def main() -> None:
    """Bind any free port, say which, serve until killed."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        print(bound.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run([bound])


if __name__ == "__main__":
    main()
