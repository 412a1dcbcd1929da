"""``raw-rag hook``: what an agent runs at a start, at a compaction, after a turn. Never blocks, never fails, says nothing when
in doubt.

Reads the store directly instead of through the runtime: a hook has 300 ms in all, and an interpreter that starts and
imports the other commands has spent them. Only light modules are imported here, most of them at first use.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, NoReturn

LIMIT_SECONDS = 0.3
STOP_SECONDS = 0.9
"""After a turn nobody waits for words of ours, and the turn would not be taken in if the time were over."""
LIMIT_VARIABLE = "RAW_RAG_HOOK_MS"
LEAVE_SECONDS = 0.02
"""Of the limit, for the end of the process: whoever waits for it waits for that too."""
START_SECONDS = 0.08
"""What starting the interpreter took, where the system does not tell."""
MOST_INPUT = 1 << 20
LARGEST_LOG = 1 << 20
EVENTS = {"session-start": "SessionStart", "pre-compact": "PreCompact", "stop": "Stop"}
STOP = "stop"
USED = (
    "session_id", "transcript_path", "cwd", "stop_hook_active", "last_assistant_message", "prompt", "prompt_id", "turn_id",
)  # fmt: skip
"""What is read of what an agent sends after a turn."""

Remaining = Callable[[], float]


def main(arguments: Sequence[str]) -> NoReturn:
    """Answer one event and end with status 0, whatever happens."""
    try:
        _answer_in_time(arguments)
    except BaseException as error:  # a hook that fails would disturb the agent it serves
        _complain(error)
    os._exit(0)


def _answer_in_time(arguments: Sequence[str]) -> None:
    given = dict(word.partition("=")[::2] for word in arguments if word.startswith(f"{LIMIT_VARIABLE}="))
    usual = STOP_SECONDS if any(word.endswith(STOP) for word in arguments) else LIMIT_SECONDS
    deadline = time.monotonic() + limit({**os.environ, **given}, usual) - LEAVE_SECONDS - _age()
    guard = threading.Timer(max(deadline - time.monotonic(), 0.0), os._exit, (0,))
    guard.daemon = True
    guard.start()
    said = answer(arguments, _payload(), os.environ, lambda: deadline - time.monotonic())
    guard.cancel()
    if said and sys.stdout is not None:
        sys.stdout.write(said)
        sys.stdout.flush()


def limit(environment: Mapping[str, str], usual: float = LIMIT_SECONDS) -> float:
    """Seconds that a hook may take in all: the variable's, where it says a sensible number of milliseconds."""
    given = environment.get(LIMIT_VARIABLE, "")
    sensible = given.isascii() and given.isdigit() and len(given) <= 6 and int(given) > 0
    return int(given) / 1000 if sensible else usual


def answer(
    arguments: Sequence[str], payload: Mapping[str, Any], environment: Mapping[str, str], remaining: Remaining
) -> str:
    """What is printed for an event; "" for nothing.

    Args:
        arguments: The event as we call it, then ``--agent NAME`` and ``--config PATH``.
        payload: What the agent sent.
        environment: The process's.
        remaining: Seconds until the deadline.

    Raises:
        ValueError: wrong arguments.
        sqlite3.Error: the store cannot be read in time.
    """
    event, options, variables = _options(arguments)
    environment = {**environment, **variables}
    if event == "pre-compact":
        _ingest(options, environment)
        return ""
    if event == STOP:
        _stop(payload, options, environment)
        return ""
    text = session_start(payload, options, environment, remaining)
    if not text:
        return ""
    output = {"hookEventName": EVENTS[event], "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output}) + "\n"


def session_start(
    payload: Mapping[str, Any], options: Mapping[str, str], environment: Mapping[str, str], remaining: Remaining
) -> str:
    """The last turns of the project that a session starts in."""
    from agent_raw_rag.connect.location import project_folders, store_path
    from agent_raw_rag.connect.recap import recap
    from agent_raw_rag.store.glance import glance

    folder, own, source = (str(payload.get(key) or "") for key in ("cwd", "session_id", "source"))
    glimpses = glance(
        store_path(options.get("--config"), environment), project_folders(folder or os.getcwd()), remaining
    )
    return recap(glimpses, own or None, source, os.urandom(4).hex())


def _options(arguments: Sequence[str]) -> tuple[str, dict[str, str], dict[str, str]]:
    """The event, the options by name, and variables to set. An option may stand before the event."""
    options: dict[str, str] = {}
    variables: dict[str, str] = {}
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word in ("--agent", "--config"):
            options[word] = next(rest, "")
        elif word == "--set":  # not every shell of Windows takes variables before a command
            name, _, value = next(rest, "").partition("=")
            variables[name] = value
        else:
            words.append(word)
    if len(words) == 1 and words[0].endswith(f"-{STOP}"):
        options["--agent"] = words[0].removesuffix(f"-{STOP}")
        words = [STOP]
    if len(words) != 1 or words[0] not in EVENTS:
        raise ValueError(f"raw-rag hook: one of {', '.join(EVENTS)}, not {' '.join(words)!r}")
    return words[0], options, variables


def _payload() -> dict[str, Any]:
    """What the agent wrote on stdin; nothing where it is no JSON object, or there is no stdin."""
    if sys.stdin is None:
        return {}
    try:
        given = json.loads(sys.stdin.buffer.read(MOST_INPUT) or b"{}")
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _ingest(options: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Start reading the logs, in a process of its own that nobody waits for."""
    with open(os.devnull, "rb") as nothing:
        _begin(
            "from agent_raw_rag.cli.ingest import main; main()", options, environment, nothing, "--quiet", "--no-embed"
        )


def _stop(payload: Mapping[str, Any], options: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Start taking in the turn that has just ended, likewise. What is sent may be larger than a pipe holds: it goes by a file
    that has no name."""
    import tempfile

    if payload.get("stop_hook_active") or not payload:
        return
    told = {name: payload[name] for name in USED if name in payload}
    with tempfile.TemporaryFile() as sent:
        sent.write(json.dumps(told).encode("utf-8", "surrogatepass"))
        sent.seek(0)
        _begin("from agent_raw_rag.connect.stop import main; main()", options, environment, sent)


def _begin(
    program: str, options: Mapping[str, str], environment: Mapping[str, str], stdin: IO[bytes], *more: str
) -> None:
    import subprocess

    from agent_raw_rag.connect.location import store_path

    home = os.path.dirname(store_path(options.get("--config"), environment))
    os.makedirs(home, mode=0o700, exist_ok=True)
    words = [sys.executable, "-c", program, *more]
    words += [word for name in ("--agent", "--config") if options.get(name) for word in (name, options[name])]
    with open(log_file(home), "ab") as log:
        subprocess.Popen(  # noqa: S603 - ourselves
            words, stdin=stdin, stdout=subprocess.DEVNULL, stderr=log, env=dict(environment),
            start_new_session=True, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip


def log_file(home: str) -> str:
    """Where what goes wrong in the background is written, for its owner only. Begun anew when it is large."""
    path = os.path.join(home, "hook.log")
    large = os.path.exists(path) and os.path.getsize(path) > LARGEST_LOG
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | (os.O_TRUNC if large else 0), 0o600))
    return path


def _complain(error: BaseException) -> None:
    try:
        sys.stderr.write(f"raw-rag hook: {type(error).__name__}: {error}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # nobody listens: it is closed, or was never there
        pass


def _age() -> float:
    """Seconds since this process was started: the start of the interpreter counts."""
    if sys.platform != "linux":
        return START_SECONDS
    try:
        with open("/proc/self/stat", "rb") as stream:
            ticks = int(stream.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):  # no /proc here
        return START_SECONDS
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"), 0.0)
