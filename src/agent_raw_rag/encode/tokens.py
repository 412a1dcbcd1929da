"""cl100k_base (OpenAI, as shipped with tiktoken) from the package's own ranks: what chunks are measured in.

Never ``tiktoken.get_encoding``, which would fetch the ranks from the network.
"""

from __future__ import annotations

import binascii
import gzip
import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from agent_raw_rag.encode.files import DATA, REINSTALL
from agent_raw_rag.errors import ModelError

RANKS = DATA / "cl100k_base.tiktoken.gz"
RANKS_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""Of the unpacked file."""
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_SPECIAL = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


class Cl100k:
    """A ``models.Tokenizer``. Safe to use from several threads."""

    def __init__(self, ranks: Path = RANKS) -> None:
        import tiktoken

        self._encoding = tiktoken.Encoding(
            "cl100k_base", pat_str=_PATTERN, mergeable_ranks=_read_ranks(ranks), special_tokens=_SPECIAL
        )
        self._encoding._mergeable_ranks = {}  # a second copy, kept for pickling only: 14 MB in every process

    def encode(self, text: str) -> list[int]:
        """Token ids; special tokens are ordinary text, a lone surrogate is U+FFFD."""
        return self._encoding.encode_ordinary(text)

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens; may begin or end inside a character."""
        return self._encoding.decode_bytes(tokens)


_lock = Lock()
_loaded: list[Cl100k] = []


def tokenizer() -> Cl100k:
    """The one tokenizer of this process, loaded at first use.

    Raises:
        ModelError: the ranks are missing or damaged.
    """
    with _lock:
        if not _loaded:
            _loaded.append(Cl100k())
        return _loaded[0]


def _read_ranks(path: Path) -> dict[bytes, int]:
    """Token bytes -> id.

    Raises:
        ModelError: the file is missing or damaged.
    """
    try:
        unpacked = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ModelError(f"The token ranks {path.name} cannot be read: {error}.", hint=REINSTALL) from error
    if hashlib.sha256(unpacked).hexdigest() != RANKS_SHA256:
        raise ModelError(f"The token ranks {path.name} are damaged: their checksum differs.", hint=REINSTALL)
    fields = unpacked.split()
    return dict(zip(map(binascii.a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
