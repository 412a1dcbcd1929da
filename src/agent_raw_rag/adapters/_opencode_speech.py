"""One message of OpenCode on its way to events: who speaks, when, and after which prompt; and so the keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.adapters._opencode_items import Item, Prompt, Thought, Used
from agent_raw_rag.adapters.base import State, digest, mapping, sequence, string
from agent_raw_rag.models import Event, Message, Part, Role, Text, Thinking, Unknown

RAN_BY_HUMAN = "The following tool was executed by the user"
"""1.x: the prompt that the harness writes for a ``!`` command; the call stands in the answer."""


@dataclass(frozen=True, slots=True)
class Speech:
    """An arranged record of a message, and the session's state at that place."""

    piece: dict[str, Any]
    state: State

    @property
    def id(self) -> str:
        """The native id of this copy of the message."""
        return str(self.piece.get("id") or "")

    @property
    def kind(self) -> str | None:
        """The role (1.x) or type (2.x)."""
        return string(self.piece.get("type"))

    @property
    def time(self) -> int | None:
        """When it was created."""
        time = self.piece.get("time")
        return time if isinstance(time, int) else None

    @property
    def info(self) -> dict[str, Any]:
        """The message's own data."""
        return mapping(self.piece.get("info"))

    @property
    def parts(self) -> list[Any]:
        """The parts of a 1.x message."""
        return sequence(self.piece.get("parts"))

    @property
    def unfinished(self) -> bool:
        """It may still grow."""
        return self.piece.get("open") is True

    # ------------------------------------------------------------ the asker

    def prompt(self, prompt: Prompt) -> Iterator[Message]:
        """What was asked; the key of what follows depends on it."""
        words = (Text(prompt.text),) if prompt.text.strip() else ()
        if words or prompt.images:
            # Parts are stored one after another: only the first paragraph cannot change by what is still to come.
            message = self.message(self._asker, (*words, *prompt.images), "user", prompt.text.strip().split("\n\n")[0])
            self.state.update(prompt=message.key, command=False)
            yield message

    def command(self, command: object, code: object, status: object = None) -> Iterator[Message]:
        """A command that the human ran with ``!``."""
        if isinstance(command, str) and command:
            known = isinstance(code, int) and not isinstance(code, bool)
            ending = f" (exit {code})" if known else f" ({status})" if status in ("timeout", "killed") else ""
            yield self.message(self._asker, (Text(f"! {command}{ending}"),), "shell", command)

    def note_command(self, injected: object) -> None:
        """Remember that the next answer is not the model's, if an injected text says so."""
        self.state["command"] = isinstance(injected, str) and injected.startswith(RAN_BY_HUMAN)

    @property
    def _asker(self) -> Role:
        return Role.TASK if self.state["task"] else Role.USER

    # ------------------------------------------------------------ the assistant

    def answer(self, items: Iterable[Item]) -> Iterator[Event]:
        """One message a text or call. Thoughts go with what follows them, as a copy may lack them."""
        by_human, self.state["command"] = self.state["command"], False
        thoughts: list[Part] = []
        texts = 0
        for item in items:
            if isinstance(item, Unknown):
                yield item
            elif isinstance(item, Thought):
                thoughts.append(Thinking(item.text))
            elif isinstance(item, Used) and by_human:
                yield from self._ran(item)
            elif isinstance(item, Used):
                yield self._spoke((*thoughts, *_action(item)), "tool", item.native or item.call.call_id)
                thoughts = []
            else:
                texts += 1
                if not item.hidden:
                    yield self._spoke((*thoughts, Text(item.text)), "text", texts)
                    thoughts = []
        if thoughts and not self.unfinished:
            yield self._spoke(tuple(thoughts), "thoughts")

    def summary(self, text: str, at: int | None) -> Message:
        """What a compaction left, asked for at the time ``at``."""
        return self._message(Role.SUMMARY, (Text(text),), at, "summary", self.state["prompt"])

    def message(self, role: Role, parts: tuple[Part, ...], *key: object) -> Message:
        """A message whose key is made of its time and ``key``."""
        return self._message(role, parts, self.time, *key)

    def _spoke(self, parts: tuple[Part, ...], *key: object) -> Message:
        return self.message(Role.ASSISTANT, parts, "assistant", self.state["prompt"], *key)

    def _ran(self, item: Used) -> Iterator[Message]:
        arguments = item.call.args
        command = None if isinstance(arguments, str) else arguments.get("command")
        return self.command(command, item.result.exit_code if item.result else None)

    def _message(self, role: Role, parts: tuple[Part, ...], at: int | None, *key: object) -> Message:
        return Message(
            role=role,
            key=digest(at if at is not None else self.id, *key),
            parts=parts,
            time=self.time,
            session=self.state["session"],
            record_id=self.id or None,
            group=self.id or None,
        )


def _action(item: Used) -> tuple[Part, ...]:
    return (item.call, item.result) if item.result else (item.call,)
