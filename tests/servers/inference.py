"""An inference server of our own for the tests, conforming and otherwise: a real process, started as a script.

The first part of a path says how the server behaves, the second names the visit, so that one process serves every test:
``/nan/visit7/v1/embeddings``. ``/ok/visit7/seen`` tells which requests a visit has made. Prints its port, then serves.
"""

from __future__ import annotations

import base64
import json
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from agent_raw_rag.encode.hashing import HashingEncoder

DIM = 64
Answer = Callable[[dict[str, Any], int], Response]
seen: dict[str, list[dict[str, Any]]] = defaultdict(list)


def vectors(texts: Sequence[str], dim: int = DIM) -> list[list[float]]:
    """Longer than 1, so that normalising shows."""
    return (HashingEncoder(dim).encode_passages(texts) * 3).tolist()


def embedding(rows: Sequence[Any]) -> Response:
    """OpenAI's answer; ``NaN`` is written as Python's json module writes it."""
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
    return Response(json.dumps({"object": "list", "model": "m", "data": data}), media_type="application/json")


def renumbered(texts: Sequence[str], places: Sequence[Any]) -> Response:
    rows = zip(places, vectors(texts), strict=True)
    return JSONResponse({"data": [{"index": place, "embedding": row} for place, row in rows]})


def as_base64(body: dict[str, Any], _: int) -> Response:
    rows = np.array(vectors(body["input"]), "<f4")
    return embedding([base64.b64encode(row.tobytes()).decode() for row in rows])


def spoiled(value: Any) -> Answer:
    """The last number of the last vector is another."""

    def answer(body: dict[str, Any], _: int) -> Response:
        rows: list[list[Any]] = vectors(body["input"])
        rows[-1][-1] = value
        return embedding(rows)

    return answer


def after(failures: int, failure: Response) -> Answer:
    return lambda body, visit: failure if visit <= failures else embedding(vectors(body["input"]))


def at_most(texts: int, chars: int, status: int) -> Answer:
    def answer(body: dict[str, Any], _: int) -> Response:
        if len(body["input"]) > texts or max(map(len, body["input"])) > chars:
            return JSONResponse({"error": {"message": "input is too large"}}, status)
        return embedding(vectors(body["input"]))

    return answer


async def half_a_body() -> AsyncIterator[bytes]:
    yield b'{"data": ['
    raise ConnectionResetError("on purpose")


BUSY = JSONResponse({"error": "overloaded"}, 429, {"retry-after": "7"})
EMBEDDINGS: dict[str, Answer] = {
    "ok": lambda body, _: embedding(vectors(body["input"], body.get("dimensions", DIM))),
    "base64": as_base64,
    "reversed": lambda body, _: JSONResponse(
        {"data": [{"index": i, "embedding": row} for i, row in [*enumerate(vectors(body["input"]))][::-1]]}
    ),
    "nonsense": lambda *_: PlainTextResponse("{'data': [}"),
    "deep": lambda *_: PlainTextResponse("[" * 100_000),
    "html": lambda *_: HTMLResponse("<!doctype html><title>Sign in</title>"),
    "list": lambda *_: JSONResponse([1, 2]),
    "error200": lambda *_: JSONResponse({"error": "no such model"}),
    "nan": spoiled(float("nan")),
    "infinite": spoiled(float("inf")),
    "enormous": spoiled(1e308),
    "null": spoiled(None),
    "words": spoiled("0.1"),
    "true": spoiled(True),
    "nested": spoiled([0.1]),
    "zero": lambda body, _: embedding([[0.0] * DIM for _ in body["input"]]),
    "empty": lambda body, _: embedding([[] for _ in body["input"]]),
    "badbase64": lambda body, _: embedding(["&&&" for _ in body["input"]]),
    "oddbase64": lambda body, _: embedding(["AAAA" for _ in body["input"]]),
    "fewer": lambda body, _: embedding(vectors(body["input"][1:])),
    "more": lambda body, _: embedding(vectors([*body["input"], "one more"])),
    "twice": lambda body, _: renumbered(body["input"], [0] * len(body["input"])),
    "fromone": lambda body, _: renumbered(body["input"], range(1, len(body["input"]) + 1)),
    "unnumbered": lambda body, _: renumbered(body["input"], [None] * len(body["input"])),
    "ragged": lambda body, _: embedding([row[: DIM - place] for place, row in enumerate(vectors(body["input"]))]),
    "tomorrow": lambda body, visit: embedding(vectors(body["input"], DIM if visit < 3 else DIM // 2)),
    "fault": after(2, JSONResponse({"error": {"message": "out of memory"}}, 500)),
    "away": after(2, PlainTextResponse("starting", 503)),
    "busy": after(2, BUSY),
    "alwaysbusy": after(10**6, BUSY),
    "gone": after(10**6, PlainTextResponse("bad gateway", 502)),
    "huge": lambda *_: StreamingResponse(iter([b" " * 65_536] * 64)),
    "cut": lambda *_: StreamingResponse(half_a_body(), headers={"content-length": "1000"}),
    "most2": at_most(2, 10**6, 413),
    "most100": at_most(10**6, 100, 400),
    "llamacpp": at_most(10**6, 100, 500),
    "nomodel": lambda *_: JSONResponse({"error": {"message": "model 'm' not found, try pulling it first"}}, 404),
}


def pairs(body: dict[str, Any], key: str, score_key: str, scale: Callable[[float], float]) -> list[dict[str, Any]]:
    """Index and score of each passage, best first."""
    encoder = HashingEncoder(DIM)
    cosines = encoder.encode_passages(body[key]) @ encoder.encode_query(body["query"])
    found = [{"index": place, score_key: scale(float(cosine))} for place, cosine in enumerate(cosines)]
    return sorted(found, key=lambda one: -one[score_key])


def logit(cosine: float) -> float:
    return 10 * cosine - 5


def share(cosine: float) -> float:
    return (1 + cosine) / 2


def results(scale: Callable[[float], float]) -> Answer:
    return lambda body, _: JSONResponse({"results": pairs(body, "documents", "relevance_score", scale)})


def altered(change: Callable[[list[dict[str, Any]]], Any]) -> Answer:
    def answer(body: dict[str, Any], _: int) -> Response:
        found = change(pairs(body, "documents", "relevance_score", share))
        return Response(json.dumps({"results": found}), media_type="application/json")

    return answer


RERANK: dict[tuple[str, str], Answer] = {
    ("vllm", "v1/rerank"): results(share),
    ("unbounded", "v1/rerank"): results(logit),
    ("llamacpp", "v1/rerank"): results(logit),
    ("jina", "v1/rerank"): results(share),
    ("narrow", "v1/rerank"): results(share),
    ("cohere", "v2/rerank"): results(share),
    ("tei", "rerank"): lambda body, _: (
        JSONResponse(pairs(body, "texts", "score", share))
        if len(body["texts"]) <= 4
        else JSONResponse({"error": "batch size 5 > maximum allowed batch size 4", "error_type": "Validation"}, 422)
    ),
    ("missing", "v1/rerank"): altered(lambda found: found[1:]),
    ("added", "v1/rerank"): altered(lambda found: [*found, found[0]]),
    ("twice", "v1/rerank"): altered(lambda found: [found[0]] * len(found)),
    ("beyond", "v1/rerank"): altered(lambda found: [*found[:-1], {"index": len(found), "relevance_score": 0.1}]),
    ("negative", "v1/rerank"): altered(lambda found: [*found[:-1], {"index": -1, "relevance_score": 0.1}]),
    ("nan", "v1/rerank"): altered(lambda found: [{**one, "relevance_score": float("nan")} for one in found]),
    ("null", "v1/rerank"): altered(lambda found: [{**one, "relevance_score": None} for one in found]),
    ("renamed", "v1/rerank"): altered(lambda found: [{"index": one["index"], "score": 0.5} for one in found]),
    ("numbers", "v1/rerank"): altered(lambda found: [0.5] * len(found)),
    ("nothing", "v1/rerank"): altered(lambda found: None),
}
OWNERS = {"vllm": "vllm", "unbounded": "vllm", "llamacpp": "llamacpp"}
MODELS = {
    "several": ["qwen3:8b", "qwen3-embedding:0.6b", "llama3"],
    "unclear": ["one-embed", "another-embed"],
    "chat": ["qwen3:8b", "llama3"],
}


def models(mode: str) -> Response:
    if mode == "narrow":
        return JSONResponse({"error": {"message": "missing scope"}}, 403)
    if mode in ("tei", "unknown", "cohere"):
        return JSONResponse({"error": "not found"}, 404)
    names = MODELS.get(mode, ["served-model"])
    return JSONResponse({"data": [{"id": name, "owned_by": OWNERS.get(mode, "somebody")} for name in names]})


def answered(mode: str, path: str, body: dict[str, Any], visit: int) -> Response:
    if path == "v1/models":
        return models(mode)
    if path == "info" and mode == "tei":
        return JSONResponse({"model_id": "BAAI/bge-reranker-base", "model_sha": "abc"})
    answer = EMBEDDINGS.get(mode, EMBEDDINGS["ok"]) if path == "v1/embeddings" else RERANK.get((mode, path))
    return answer(body, visit) if answer else JSONResponse({"detail": "Not Found"}, 404)


async def serve(request: Request) -> Response:
    mode, visit, path = (request.path_params[name] for name in ("mode", "visit", "path"))
    if path == "seen":
        return JSONResponse(seen[visit])
    raw = await request.body()
    body = json.loads(raw) if raw else {}
    key = request.headers.get("authorization")
    seen[visit].append({"path": path, "body": body, "key": key})
    if mode == "never":
        while (await request.receive())["type"] != "http.disconnect":
            pass
    if mode == "secret" and key != "Bearer sesame-1234":
        return JSONResponse({"error": {"message": f"wrong key {key}"}}, 401)
    if mode == "parrot":
        return JSONResponse({"error": {"message": f"cannot serve {key}"}}, 418)
    if mode == "elsewhere":
        target = str(request.url.replace(hostname="localhost")).replace("/elsewhere/", "/ok/elsewhere-")
        return Response(status_code=307, headers={"location": f"{target}?key=abc"})
    return answered(mode, path, body, sum(one["path"] == path for one in seen[visit]))


def main() -> None:
    """Bind any free port, say which, serve until killed."""
    app = Starlette(routes=[Route("/{mode}/{visit}/{path:path}", serve, methods=["GET", "POST"])])
    with socket.create_server(("127.0.0.1", 0)) as bound:
        print(bound.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[bound])


if __name__ == "__main__":
    main()
