"""The memory layer's checklist: each line that is required, in short, and the tests that show it.

A test names its lines with ``@pytest.mark.line("B2")``. One of each line's talks to a real process: a spawned stdio or HTTP
server, or the commands. ``python -m tests.contract.memory_checklist`` prints the map.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent.parent

MUST = {
    "A1": "a second ingest of the same log adds nothing",
    "A2": "an append adds the new turns only, stable chunks keep their ids",
    "A3": "reading logs calls no model and no network",
    "A4": "the database refuses to change or delete a turn",
    "A5": "status counts each source, the doors among them",
    "B1": "exactly five tools over HTTP by default",
    "B2": "a capture is acknowledged with its id, source and what happens next",
    "B3": "a capture is found among raw events at once",
    "B4": "a capture is not recalled before it is promoted",
    "B5": "recall with raw events has it, marked as raw",
    "B6": "raw events are found in any order of words",
    "B7": "Chinese is found by a few characters, raw and saved",
    "B8": "a saved rule is recalled with source and topic",
    "B9": "no source or no content: an error, and no row",
    "B10": "the id that save gave is the one that update takes",
    "B11": "an unknown id updates nothing",
    "B12": "a superseded id updates nothing, and the current one is named",
    "B13": "history tells both notes, their order, topic and sources",
    "B15": "rules switched off: save and update are not there",
    "B16": "rules come first",
    "B18": "a capture that is sent again is the same event",
    "B20": "odd queries raise nothing",
    "C1": "a sweep makes a candidate with quote and evidence, without a model",
    "C2": "what was outright told to be remembered is recalled after a sweep, with its evidence",
    "C3": "promotion off: recall waits for a person",
    "C4": "a sweep covers what an earlier process captured",
    "C11": "a sweep never makes a rule",
    "C13": "the journal has a row for each act, with who, how and what",
    "C15": "curation tools are there only when allowed",
    "D1": "without a token nothing is served",
    "D2": "a token's secret is shown once and stored nowhere",
    "D3": "tokens are listed without secrets",
    "D4": "two live tokens cannot have one label",
    "D5": "a revoked token is refused at once",
    "D8": "no, wrong and revoked token: one answer",
    "D9": "a token is taken from two headers and never from the address",
    "D10": "the token is looked at before the space",
    "D11": "a space that a token does not open looks like one that does not exist",
    "D12": "spaces know nothing of each other",
    "D14": "a new space is usable at once, a disabled one is gone",
    "D16": "the loopback is no pass",
    "E1": "an MCP client works over HTTP, with and without the slash",
    "E2": "foreign Host and Origin are refused",
    "E2b": "on every route",
    "E5": "a client survives a restart of the server",
    "E6": "interleaved clients each get their own space's answers",
    "G8": "what is stored of chats and of the proxy is as the settings say: all, kept, until the session ends, or nothing",
    "G1": "a chat's both sides are stored, the user's even when the model fails",
    "G2": "the tool chat answers, and goes on with a session's history",
    "G3": "what is remembered stands in the prompt, and is named",
    "G4": "without a model there is no chat, and each door says so",
    "G6": "POST /chat streams words, then what came of it",
    "H1": "POST /store keeps a text and gives its id; without a text it is a JSON error",
    "H2": "POST /search gives ranked results with their metadata, and timings",
    "F1": "a stream passes byte for byte, and its first piece before its end",
    "F2": "both sides of a stream are found, source proxy",
    "F3": "an answer at once passes as it is, both sides captured once",
    "F4": "a refusal of the upstream is handed on, and nothing captured",
    "F5": "an upstream that is down is a 502 in JSON",
    "F6": "parts of text are stored, a picture as its place; the bytes go up unchanged",
    "F7": "tool calls in pieces pass, and become a line each",
    "F8": "a client that leaves: its part is kept as partial, the upstream's connection closed",
    "F12": "the upstream's key goes up, our token does not",
    "F15": "models are relayed; embeddings and completions are, and are not captured",
    "F16": "no token: 401; no scope: 403",
    "H8": "the commands print what the tools answer",
    "I3": "export and import keep ids and counts, twice over",
}
SHOULD = {
    "G7": "a page loads without a token and asks for one; no outside scripts; no path out of its files",
    "A6": "a capture is found by the raw search under its door's name",
    "A7": "the same words by two doors: two rows, one hit",
    "A8": "forgetting blanks the text everywhere, keeps the row and is journalled",
    "A9": "secrets are masked, unless that is switched off",
    "B14": "saving the same twice makes one note",
    "B17": "near duplicates appear once, limits are clamped",
    "B19": "our own recalled blocks are not captured",
    "B21": "recalled text is escaped and fenced",
    "B22": "a capture has a session of its source, or the one it names",
    "B23": "many captures and recalls at once all succeed",
    "B25": "the caller's own session can be left out",
    "C5": "a second sweep makes nothing",
    "C6": "the interval is 21,600 s, and too short a one is refused",
    "C7": "a quote that its evidence does not hold is refused",
    "C8": "evidence of another space is not found",
    "C9": "promoting what is known adds its evidence",
    "C10": "the opposite of a note is a conflict",
    "C12": "a rejected candidate is hidden and kept",
    "C14": "the journal cannot be changed, and tells if it was",
    "D6": "a rotated token works, the old one does not",
    "D7": "an expired token is refused",
    "D13": "a token that may only read writes nothing, and that is journalled",
    "D15": "the legacy variable is a token, blanks are none",
    "D18": "files are the user's alone",
    "D19": "the log holds no token and no text",
    "E3": "allowed hosts pass",
    "E4": "serving others needs an explicit yes, hosts and a token",
    "E7": "odd bodies are refused, and the server lives",
    "E8": "a slow call holds up no other",
    "E9": "stdout carries JSON-RPC and nothing else",
    "E10": "health tells strangers little",
    "H6": "a stop hook takes in the finished turn once, does nothing when it is one's own, and always ends well at once",
    "H7": "hooks are installed once, with a backup, and taken out again",
    "H9": "a text is tried against the trigger rules",
    "G5": "a slow model: what came in time, partial, with its session and a notice of progress",
    "G9": "commands inside a chat are obeyed and not sent",
    "G10": "two chats at once leave each other alone",
    "G11": "payloads are written down with masked keys",
    "H3": "DELETE /memory/<id> retires; unknown and protected ones are told apart",
    "H4": "POST /search_by_metadata: newest first, from after on, before before",
    "H5": "POST /turn captures, tells a duplicate, and may be switched off",
    "F9": "an upstream that dies in a stream: an error frame, and its part stored",
    "F10": "a pause makes no second turn",
    "F11": "odd frames pass and are read exactly",
    "F13": "the version stands once in the upstream's path",
    "F14": "a session is the caller's, or follows from how the conversation began",
    "F17": "a store that cannot be written breaks no answer, and is counted",
    "F18": "of a history that is sent again only what is new is stored",
    "F19": "the same request again is no second turn",
    "I4": "foreign exports keep their times, and add nothing twice",
    "I5": "a backup taken while others write is sound, and a restore brings it back",
    "I8": "a second server on a port ends, and names the process that has it",
}


@functools.cache
def shown_by(root: Path = TESTS) -> dict[str, list[str]]:
    """Line -> the tests that name it, as pytest names them. Skipped ones do not count."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(root.rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for line in _lines(node):
                    found[line].append(f"{file.relative_to(root.parent)}::{node.name}")
    return dict(found)


def _lines(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    marks = [
        mark for mark in test.decorator_list if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute)
    ]
    if any(mark.func.attr in ("skip", "xfail") for mark in marks if isinstance(mark.func, ast.Attribute)):
        return
    for mark in marks:
        if isinstance(mark.func, ast.Attribute) and mark.func.attr == "line":
            yield from (one.value for one in mark.args if isinstance(one, ast.Constant) and isinstance(one.value, str))


def main() -> int:
    """Print the map. Returns 1 if a line has no test."""
    found = shown_by()
    for line, said in (MUST | SHOULD).items():
        print(f"{line:4} {said}")
        for test in found.get(line, ["MISSING"]):
            print(f"       {test}")
    return int(not (MUST | SHOULD).keys() <= found.keys())


if __name__ == "__main__":
    sys.exit(main())
