"""An independent, naive reading of logs: what the human typed and what the model said, by the simplest rules that are true.

Shares nothing with the product. Yields (agent, role, identity, text): one per native message, however often it is copied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Said = tuple[str, str, str, str]

INJECTED = (
    "<command-", "<local-command", "Caveat: The messages below", "<bash-", "<system-reminder>", "<task-notification>",
    "<ide_", "<user-memory-input>", "[Request interrupted", "This session is being continued", "Continue from where you",
    "# AGENTS.md instructions", "<user_instructions>", "<environment_context>", "<turn_aborted>", "<user_shell_command>",
    "<subagent_notification>", "<skill>", "<INSTRUCTIONS>", "<image name=", "</image>",
)  # fmt: skip
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def texts(content: Any, kinds: tuple[str, ...] = ("text",)) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [
        b["text"] for b in blocks if isinstance(b, dict) and b.get("type") in kinds and isinstance(b.get("text"), str)
    ]


def claude(root: Path) -> Iterator[Said]:
    for path in sorted((root / "projects").rglob("*.jsonl")):
        for row in rows(path):
            message = row.get("message")
            if not isinstance(message, dict) or row.get("type") not in ("user", "assistant"):
                continue
            if row["type"] == "assistant":
                if message.get("model") == "<synthetic>" or row.get("isApiErrorMessage"):
                    continue
                for text in texts(message.get("content")):
                    yield "claude", "assistant", f"{message.get('id') or row.get('uuid')}:{text}", text
            elif _claude_human(row, path):
                for text in texts(message.get("content")):
                    if not text.lstrip().startswith(INJECTED):
                        yield "claude", "user", f"{row.get('uuid')}:{text}", REMINDER.sub("", text)


def _claude_human(row: dict[str, Any], path: Path) -> bool:
    flags = (
        "isMeta",
        "isCompactSummary",
        "isVisibleInTranscriptOnly",
        "isSidechain",
        "toolUseResult",
        "sourceToolUseID",
    )
    if any(row.get(flag) for flag in flags) or path.name.startswith("agent-"):
        return False
    if isinstance(row.get("origin"), dict) and row["origin"].get("kind") != "human":
        return False
    content = row["message"].get("content")
    blocks = content if isinstance(content, list) else []
    return not any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)


def codex(root: Path) -> Iterator[Said]:
    for path in sorted(root.rglob("rollout-*.jsonl")):
        found = list(rows(path))
        events = any(
            row.get("type") == "event_msg" and (row.get("payload") or {}).get("type") == "user_message" for row in found
        )
        for number, row in enumerate(found):
            payload = row.get("payload") if isinstance(row.get("payload"), dict) else row
            kind, role = payload.get("type"), payload.get("role")
            if kind == "user_message" and row.get("type") == "event_msg":
                yield "codex", "user", f"{path.name}:{number}", payload.get("message") or ""
            elif kind == "message" and role == "user" and not events:
                for text in texts(payload.get("content"), ("input_text",)):
                    if not text.lstrip().startswith(INJECTED):
                        yield "codex", "user", f"{path.name}:{number}", text
            elif kind == "message" and role == "assistant":
                for text in texts(payload.get("content"), ("output_text", "text")):
                    yield "codex", "assistant", f"{path.name}:{number}", text


def pi(root: Path, agent: str = "omp") -> Iterator[Said]:
    for path in sorted((root / "sessions").rglob("*.jsonl")):
        for number, row in enumerate(rows(path)):
            message = row.get("message") if row.get("type") == "message" else None
            if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
                continue
            if message.get("attribution") == "agent":
                continue
            for text in texts(message.get("content")):
                yield agent, message["role"], f"{row.get('id') or f'{path.name}:{number}'}:{text[:50]}", text


def antigravity(root: Path) -> Iterator[Said]:
    for path in sorted(root.glob("*.jsonl")):
        for row in rows(path):
            content = row.get("content")
            if not isinstance(content, str) or not content.strip():
                continue
            if row.get("type") == "USER_INPUT":
                found = re.search(r"<USER_REQUEST>\n?(.*?)\n?</USER_REQUEST>", content, re.DOTALL)
                yield "antigravity", "user", f"{path.name}:{row.get('step_index')}", found[1] if found else content
            elif row.get("type") == "PLANNER_RESPONSE":
                yield "antigravity", "assistant", f"{path.name}:{row.get('step_index')}", content


def opencode(root: Path) -> Iterator[Said]:
    for store in sorted(root.glob("storage_*")):
        loaded = [json.loads(path.read_bytes()) for path in store.glob("message/*/*.json")]
        messages = {str(message.get("id")): message for message in loaded}
        for path in sorted(store.glob("part/**/*.json")):
            try:
                part = json.loads(path.read_bytes())
            except ValueError:
                continue
            owner = messages.get(str(part.get("messageID")))
            if owner and part.get("type") == "text" and not part.get("synthetic") and part.get("text"):
                yield "opencode", str(owner.get("role")), str(part.get("id") or path), part["text"]


def everything(logs: Path) -> list[Said]:
    """All that was said in a folder of logs, each native message once."""
    found: dict[tuple[str, str, str], Said] = {}
    for said in [
        *claude(logs / "claude"), *codex(logs / "codex"), *pi(logs / "omp"), *pi(logs / "pi"),
        *antigravity(logs / "antigravity"), *opencode(logs / "opencode_json"),
    ]:  # fmt: skip
        if said[3].strip():
            found.setdefault(said[:3], said)
    return list(found.values())
