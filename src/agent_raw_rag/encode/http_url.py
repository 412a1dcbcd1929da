"""The address of an inference server, as people write it -> the root that the paths of its API are appended to."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from agent_raw_rag.errors import ConfigError

EXAMPLE = "Write it as http://127.0.0.1:8080 or https://host/path; the key goes into an environment variable."
_tail = re.compile(r"(?:/v[12])?/(?:embeddings|rerank|models)$|/v[12]$")


def server_root(url: str) -> str:
    """``http://host:port/path`` without a trailing slash and without ``/v1`` or one of the API's own paths.

    Raises:
        ConfigError: no http or https address, or one that carries credentials, a query or a fragment.
    """
    parts = _split(url)
    if parts.scheme not in ("http", "https"):
        raise ConfigError("The url of an inference server must begin with http:// or https://.", hint=EXAMPLE)
    if parts.username is not None or parts.password is not None:
        raise ConfigError("The url of an inference server must not carry a user name or a password.", hint=EXAMPLE)
    if not parts.hostname or parts.query or parts.fragment:
        raise ConfigError("The url of an inference server is a host and a path, without `?` and `#`.", hint=EXAMPLE)
    return f"{parts.scheme}://{parts.netloc.lower()}{_tail.sub('', parts.path.rstrip('/')).rstrip('/')}"


def shown(location: str) -> str:
    """An address for a message: where it leads to, without the parts in which secrets are carried."""
    try:
        parts = urlsplit(location)
        return f"{parts.scheme}://{parts.hostname}{parts.path}" if parts.hostname else parts.path
    except ValueError:
        return "an address that cannot be read"


def _split(url: str) -> SplitResult:
    """The parts. The url is not repeated in the error, since it may hold a password."""
    if not url.isascii() or any(character <= " " or character == "\\" for character in url):
        raise ConfigError("The url of an inference server is empty or holds a character that no url has.", hint=EXAMPLE)
    try:
        parts = urlsplit(url)
        _ = parts.port  # read here, since it is checked only when it is read
        (parts.hostname or "").encode("idna")  # a label that is too long would fail at the first call only
    except ValueError as error:
        raise ConfigError("The url of an inference server cannot be read.", hint=EXAMPLE) from error
    return parts
