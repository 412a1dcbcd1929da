"""The user's own trigger rules: whether a sweep can use them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agent_raw_rag.cli.checks.finding import Finding, Subject
from agent_raw_rag.errors import ConfigError


def own_rules(subject: Subject) -> Iterator[Finding]:
    """Whether each ``triggers.toml`` there is can be read and holds what it promises. Without one there is nothing to say."""
    from agent_raw_rag.memory.triggers import OWN_FILE, Triggers
    from agent_raw_rag.runtime.sweeping import homes_of_rules

    for home in homes_of_rules(subject.runtime):
        path = os.path.join(home, OWN_FILE)
        if not os.path.exists(path):
            continue
        try:
            rules = Triggers.load(home).rules
        except ConfigError as error:
            where = "" if path in error.message else f"{path}: "
            reads = subject.command("raw-rag", "triggers", "list")
            remedy = (
                f"{error.hint} Mend the file; until then no sweep finds anything. {reads} tells whether it is good."
            )
            yield Finding("error", "triggers", f"{where}{error.message}", remedy.strip())
        else:
            yield Finding("ok", "triggers", f"{path}: {len(rules)} rules in force")
