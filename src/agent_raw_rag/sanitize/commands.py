"""The command of a shell call: from a list, a string, a script; its first line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from agent_raw_rag.sanitize.arguments import text_of

_KEYS = ("command", "cmd", "commandline", "script", "code", "input", "chars", "text")
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd"))
_SCRIPT_FLAGS = frozenset(("-c", "-lc", "-ic", "-lic", "-command", "/c", "-cl"))


def command_of(args: Mapping[str, Any]) -> str:
    """The command as a person would have typed it. Empty if the arguments hold none."""
    for key in _KEYS:
        value = args.get(key)
        words = [word for word in value if isinstance(word, str)] if isinstance(value, list | tuple) else []
        if words:
            return _typed(words)
        command = text_of(args, (key,))
        if command:
            return command
    return ""


def _typed(words: list[str]) -> str:
    """``["/bin/bash", "-lc", "ls"]`` -> ``ls``; other lists as one line."""
    shell = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    if shell in _SHELLS:
        for place, word in enumerate(words[1:-1], 1):
            if word.lower() in _SCRIPT_FLAGS:
                return " ".join(words[place + 1 :]).strip()
    if len(words) == 1:
        return words[0].strip()
    return " ".join(word if "\n" in word else shlex.quote(word) for word in words)
