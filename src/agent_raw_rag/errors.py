"""Every error the product raises on purpose.

RawRagError            code, message, hint; exit status for a command
├── UsageError         a bad argument: date, agent, session, number          exit 2
├── ConfigError        a bad configuration: file, key, value                 exit 2
├── NotFoundError      a session or turn that the store does not hold        exit 1
├── SourceError        a log that cannot be read                             exit 1
├── StoreError         our own store cannot be opened, read or written       exit 1
│   └── StoreBusyError another process is writing                            exit 1
├── ModelError         a model that is missing, damaged or of another kind   exit 1
│   └── TextRefusedError  one text that a working model will not take        exit 1
└── WiringError        an agent's configuration that cannot be edited        exit 1

Nothing above this module invents other families. ``server`` and ``cli`` each hold one map from
these to the wire and to the terminal; everything else is a bug and looks like one.
"""

from __future__ import annotations


class RawRagError(Exception):
    """Base of all expected errors: what is wrong, where, and what to do about it."""

    code = "error"
    exit_status = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(RawRagError):
    """A bad argument."""

    code = "bad_argument"
    exit_status = 2


class ConfigError(RawRagError):
    """A bad configuration."""

    code = "bad_config"
    exit_status = 2


class NotFoundError(RawRagError):
    """The store holds nothing under this name."""

    code = "not_found"


class SourceError(RawRagError):
    """A log that cannot be read."""

    code = "source_unreadable"


class StoreError(RawRagError):
    """Our own store cannot be used."""

    code = "store"


class StoreBusyError(StoreError):
    """Another process holds the writer lock."""

    code = "store_busy"


class ModelError(RawRagError):
    """A model is missing, damaged, or not what the store expects."""

    code = "model"


class TextRefusedError(ModelError):
    """A model that works will not take this one text, whoever asks again."""

    code = "text_refused"


class WiringError(RawRagError):
    """An agent's own configuration cannot be read or edited. It is left as it is."""

    code = "wiring"
