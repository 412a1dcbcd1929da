"""Every error the product raises on purpose.

RawRagError            code, message, hint; exit status for a command
├── UsageError         a bad argument: date, agent, session, number          exit 2
│   └── BadArgumentError  a memory tool's: blank content, an unknown kind    exit 2
├── ConfigError        a bad configuration: file, key, value                 exit 2
│   └── NotConfiguredError  what was asked for needs a setting that is empty  exit 2
├── NotFoundError      a session, turn or note that the store does not hold  exit 1
├── NotActiveError     a note that was superseded or deprecated              exit 1
├── ConflictError      what contradicts, or would repeat, what is there      exit 1
│   └── ProtectedError what is kept on purpose                           exit 1
├── UnauthorizedError  no token, or one that is not good                     exit 1
├── ForbiddenError     a good token that may not do this                     exit 1
├── SourceError        a log that cannot be read                             exit 1
├── StoreError         our own store cannot be opened, read or written       exit 1
│   └── StoreBusyError another process is writing                            exit 1
├── ModelError         a model that is missing, damaged or of another kind   exit 1
│   └── TextRefusedError  one text that a working model will not take        exit 1
├── UpstreamError      a server of generation models that does not answer    exit 1
│   └── UpstreamTimeoutError  one that does not answer in time               exit 1
├── ServiceError       the system's services cannot be used                  exit 1
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

    def as_json(self) -> dict[str, str]:
        """The one shape of an error, wherever it is told."""
        return {"code": self.code, "message": self.message, "hint": self.hint}

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(RawRagError):
    """A bad argument."""

    code = "bad_argument"
    exit_status = 2


class BadArgumentError(UsageError):
    """A memory tool's argument that cannot be taken. Nothing was written."""


class ConfigError(RawRagError):
    """A bad configuration."""

    code = "bad_config"
    exit_status = 2


class NotConfiguredError(ConfigError):
    """A part of the product that is off until something is set."""

    code = "not_configured"


class NotFoundError(RawRagError):
    """The store holds nothing under this name."""

    code = "not_found"


class NotActiveError(RawRagError):
    """A note that no longer holds, so that it cannot be changed; the message names the one that does."""

    code = "not_active"


class ConflictError(RawRagError):
    """What was asked for contradicts, or would repeat, what is there."""

    code = "conflict"


class ProtectedError(ConflictError):
    """What is to be taken away is kept on purpose. The hint says how to let it go first."""

    code = "protected"


class UnauthorizedError(RawRagError):
    """No token, or one that is unknown, expired or revoked."""

    code = "unauthorized"


class ForbiddenError(RawRagError):
    """The token is good, and does not allow this."""

    code = "forbidden"


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


class UpstreamError(RawRagError):
    """A server of generation models refuses, fails, or is not there."""

    code = "upstream"


class UpstreamTimeoutError(UpstreamError):
    """A server of generation models did not answer in time."""

    code = "timeout"


class ServiceError(RawRagError):
    """The system's own services cannot be asked to run the daemon."""

    code = "service"


class TextRefusedError(ModelError):
    """A model that works will not take this one text, whoever asks again."""

    code = "text_refused"


class WiringError(RawRagError):
    """An agent's own configuration cannot be read or edited. It is left as it is."""

    code = "wiring"
