"""A conversation of an export as a tree of messages, and the tree as stretches: what is live, what was edited away. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent_raw_rag.models import Message, Millis


@dataclass(frozen=True, slots=True)
class Node:
    """One message of a conversation, or a place in its tree that says nothing."""

    id: str
    parent: str | None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, read."""

    session: str
    """Its own id at the service."""
    title: str | None
    started: Millis | None
    changed: Millis | None
    """When the service last changed it: of two exports the later one's is the better."""
    nodes: tuple[Node, ...]
    """In the order of the export."""
    leaf: str | None
    """Id of the last message of the live branch; None: the last node."""
    unknown: tuple[str, ...] = ()
    """Kinds of content never seen before, one entry each time."""
    skipped: tuple[str, ...] = ()
    """Why an entry inside it was passed over, one each."""
    left_out: int = 0
    """Attached files whose contents were left out; their names are kept."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a conversation in which each message answers the one before it."""

    messages: tuple[Message, ...]
    abandoned: bool


def stretches(conversation: Conversation) -> Iterator[Stretch]:
    """The tree from its root on; at each fork what was abandoned comes first, so that the live branch goes on to the end."""
    nodes = {node.id: node for node in conversation.nodes}
    children = _children(conversation.nodes, nodes)
    live = set(_chain(nodes, _leaf(conversation, nodes)))
    for path in _paths(children, live):
        messages = tuple(message for name in path for message in nodes[name].messages)
        if messages:
            yield Stretch(messages, path[0] not in live)


def _leaf(conversation: Conversation, nodes: Mapping[str, Node]) -> str | None:
    if conversation.leaf in nodes:
        return conversation.leaf
    return conversation.nodes[-1].id if conversation.nodes else None


def _children(order: Iterable[Node], nodes: Mapping[str, Node]) -> dict[str | None, list[str]]:
    """Parent -> children, in the order of the export. A parent that is not there is none."""
    found: dict[str | None, list[str]] = {}
    for node in dict.fromkeys(node.id for node in order):
        parent = nodes[node].parent
        found.setdefault(parent if parent in nodes and parent != node else None, []).append(node)
    return found


def _chain(nodes: Mapping[str, Node], leaf: str | None) -> Iterator[str]:
    """From a node to its root."""
    seen: set[str] = set()
    while leaf is not None and leaf in nodes and leaf not in seen:
        seen.add(leaf)
        yield leaf
        leaf = nodes[leaf].parent


def _paths(children: Mapping[str | None, list[str]], live: set[str]) -> Iterator[list[str]]:
    """The nodes, cut at every fork, depth first, abandoned children before the live one. Nodes in a circle are left out."""
    waiting: list[str] = _turned(children.get(None, []), live)
    path: list[str] = []
    while waiting:
        node = waiting.pop()
        path.append(node)
        below = children.get(node, [])
        if len(below) != 1 or (below[0] in live) != (node in live):
            yield path
            path = []
        waiting += _turned(below, live)


def _turned(siblings: list[str], live: set[str]) -> list[str]:
    """Siblings as they go on a stack: the live one at the bottom."""
    return [*(node for node in siblings if node in live), *(node for node in reversed(siblings) if node not in live)]
