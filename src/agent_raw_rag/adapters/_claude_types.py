"""The row types of Claude Code logs that are no conversation: all that were seen, up to 2.1.332."""

from __future__ import annotations

TITLES = {"agent-name": ("agentName", 1), "ai-title": ("aiTitle", 2), "custom-title": ("customTitle", 3)}
"""Row type -> field and rank: what the human chose is not replaced by what a model made up later."""

_FAMILIES = ("artifact-", "marble-origami-")
_COPIES = {
    "progress",  # of sub-agents' messages, as they come
    "last-prompt",
    "api-request",  # of what was sent: system prompt, tool schemas, message bodies without a uuid
    "api-request-blob",
    "api-request-resumed",
    "api-request-shape",
    "content-replacement",
}
_LINKS = {
    "continued-in",
    "derived-from",
    "fork-context-ref",
    "frame-link",
    "observer-ref",
    "pr-link",
    "relocated",
    "tag",
}
_FILES = {"attribution-snapshot", "file-history-delta", "file-history-snapshot", "data-flow-records"}
_STATE = {
    "agent-color",
    "agent-setting",
    "atis-latch",
    "bridge-session",
    "cost-state",
    "dev-mods",
    "ended-by-model",
    "history-suppression",
    "hybrid-organization",
    "isolation-latch",
    "memory-mode",
    "mode",
    "permission-mode",
    "repl-mode",
    "resume-head-vouch",
    "session-owner",
    "speculation-accept",
    "tools-used",
    "worktree-state",
}
_IGNORED = frozenset(_COPIES | _LINKS | _FILES | _STATE)


def is_ignored(kind: object) -> bool:
    """Whether rows of this type are known, and hold nothing that was said."""
    return isinstance(kind, str) and (kind in _IGNORED or kind.startswith(_FAMILIES))


def kind_name(kind: object) -> str:
    """A type nobody has seen yet, as it is counted."""
    return kind[:60] if isinstance(kind, str) else "none"
