"""A home for the page: the sample logs, a year of sessions, a long session, one with a gap, a hostile one, notes, candidates."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

from agent_raw_rag.memory.notes import Save
from agent_raw_rag.models import Actor, Ask, Capture, Millis, Role, SessionInfo
from agent_raw_rag.runtime import Runtime
from tests.samples import sample_environment

ACTOR = Actor("filler", "cli")
DAY: Millis = 86_400_000
LAST: Millis = int(datetime(2026, 11, 20, 15, tzinfo=UTC).timestamp() * 1000)
LONG = "http:long-session"
HOSTILE = "mcp:hostile"
PASTED = "mcp:pasted"
GAPS = "http:gaps"
"""A session of 700 turns of which 101 to 650 are forgotten."""
HOSTILE_TEXT = (
    "The zeppelin page <script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'> said "
    '</p></article><a href="javascript:window.hacked=3">click</a> & &lt;b&gt; 🐘 `<i>code</i>`\n'
    "```html\n<script>window.hacked = 4</script>\n```\n"
    "<svg onload=window.hacked=5>\u202egnirts"
)
CONFIG = '[encoder]\nname = "none"\n[promotion]\nauto_promote = "off"\n'
PROJECTS = ("/home/dev/uploader", "/home/dev/gallery", "/home/dev/billing-api", "/srv/infra")
DECISIONS = (
    "We decided to keep thumbnails at 512 pixels because larger ones doubled the traffic.",
    "Remember: the staging database is read-only on weekends.",
    "We agreed to sign every release with the offline key.",
)
WORDS = (
    "the cache was cold after the deploy so the first request paid for all of it",
    "a retry without an idempotency key stores the same photo twice",
    "the index is rebuilt when its generation does not match",
    "timeouts belong to the caller, not to the socket",
    "the test waits for the event and never for the clock",
    "thumbnails are made on upload and thrown away on delete",
)


def fill(folder: Path, config: str = "") -> dict[str, str]:
    """Make the home under a folder, with more in its configuration; the environment of its commands."""
    environment = sample_environment(folder, config=CONFIG + config)
    runtime = Runtime.load(None, environment)
    runtime.ingest()
    raw = runtime.memory.raw
    for batch in (_year(), _long(), _hostile(), _decisions(), _pasted(), _gaps()):
        raw.capture_all(batch, ACTOR)
    gap = runtime.forget_scope(Ask(session=GAPS, after="2026-03-01", before="2026-03-31"))
    assert runtime.forget(gap).turns == 550
    _notes(runtime)
    runtime.memory.promotion.sweep()
    runtime.spaces_registry.create("garden", actor=ACTOR, now=LAST)
    return environment


def _year() -> list[Capture]:
    chance, found = random.Random(7), []
    for day in range(0, 330, 3):
        for session in range(chance.randint(0, 3)):
            project, door = chance.choice(PROJECTS), chance.choice(("mcp", "http", "proxy"))
            info = SessionInfo(cwd=project, branch=chance.choice(("main", "fix/cache")), title=_said(chance, 1)[:60])
            for turn in range(2 * chance.randint(1, 6)):
                role = (Role.USER, Role.ASSISTANT)[turn % 2]
                time = LAST - day * DAY + session * 3_600_000 + turn * 60_000
                text = _said(chance, chance.randint(1, 3))
                found.append(_capture(text, f"year-{day}-{session}", turn, role, time, door, info))
    return found


def _long() -> list[Capture]:
    """450 turns, the last with a word of its own, one of them with more lines than are shown at once."""
    chance = random.Random(8)
    info = SessionInfo(cwd=PROJECTS[1], branch="main", title="A long talk about thumbnails")
    texts = [f"{n + 1}. {_said(chance, 2)}" for n in range(450)]
    texts[5] = "All of the output:\n```text\n" + "\n".join(f"line {n}" for n in range(120)) + "\n```"
    texts[449] += " quagga"
    return [
        _capture(
            text, "long-session", n, (Role.USER, Role.ASSISTANT)[n % 2], LAST - 40 * DAY + n * 30_000, "http", info
        )
        for n, text in enumerate(texts)
    ]


def _hostile() -> list[Capture]:
    info = SessionInfo(
        cwd="/home/dev/<b>odd</b>", branch='"><script>x</script>', title="<script>window.hacked = 6</script>"
    )
    return [
        _capture("What does the zeppelin page say?", "hostile", 0, Role.USER, LAST - 2 * DAY, "mcp", info),
        _capture(HOSTILE_TEXT, "hostile", 1, Role.ASSISTANT, LAST - 2 * DAY + 1000, "mcp", info),
    ]  # fmt: skip


def _pasted() -> list[Capture]:
    """Somebody pastes a log whose lines look like actions; the answer has real ones."""
    info = SessionInfo(cwd=PROJECTS[0], title="A pasted log")
    texts = (
        "The quokka job fails:\n[ERROR] cannot open the quokka file\n[INFO] gave up",
        "I look at the quokka file.\n[Read] src/quokka.py\n[Bash] make quokka (exit 2)\n  | no rule to make it",
    )
    roles = (Role.USER, Role.ASSISTANT)
    return [
        _capture(text, "pasted", n, roles[n], LAST - 3 * DAY + n * 1000, "mcp", info) for n, text in enumerate(texts)
    ]


def _gaps() -> list[Capture]:
    """Most of it was said in March, which is forgotten later."""
    info, found = SessionInfo(cwd=PROJECTS[2], title="Before and after the gap"), []
    for n in range(700):
        month = 2 if n < 100 else 3 if n < 650 else 4
        time: Millis = int(datetime(2026, month, 15, 12, tzinfo=UTC).timestamp() * 1000) + n * 1000
        found.append(
            _capture(f"{n + 1}. Of the gap.", "gaps", n, (Role.USER, Role.ASSISTANT)[n % 2], time, "http", info)
        )
    return found


def _decisions() -> list[Capture]:
    info = SessionInfo(cwd=PROJECTS[1], title="What we settled")
    return [
        _capture(text, "settled", n, Role.USER, LAST - DAY + n * 1000, "mcp", info) for n, text in enumerate(DECISIONS)
    ]


def _notes(runtime: Runtime) -> None:
    for kind, content in (
        ("rule", "Run the linter before every commit."),
        ("fact", "The release window is Tuesday morning."),
        ("decision", "Uploads are chunked at 8 MiB; smaller chunks cost more round trips than they save."),
        ("preference", "<b>Plain</b> English in commit messages."),
    ):
        runtime.memory.notes.save(Save(content, "me", topic="work", kind=kind), ACTOR)


def _capture(
    text: str, session: str, turn: int, role: Role, time: Millis, door: str, info: SessionInfo
) -> Capture:  # fmt: skip
    return Capture(
        text, "editor", door=door, session=session, host_turn_id=str(turn), role=role, time=time, info=info
    )  # fmt: skip


def _said(chance: random.Random, sentences: int) -> str:
    return " ".join(f"{chance.choice(WORDS).capitalize()}." for _ in range(sentences))
