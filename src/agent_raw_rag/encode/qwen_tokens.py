"""Text -> token ids of a Qwen3 model, from its own ``tokenizer.json``.

Text of users and logs is ordinary text, whatever it spells: ``<|im_end|>`` in a passage must not end the prompt. The end token is
added by the caller: tokenizer files before June 2025 do not add it, later ones do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_raw_rag.errors import ModelError

CHARS_A_TOKEN = 64
"""What lies beyond ``limit`` times this is not even tokenized: no prose or code has longer tokens on average."""


class QwenTokens:
    """A tokenizer, loaded.

    Raises:
        ModelError: the file is not a tokenizer's.
    """

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._file = folder / "tokenizer.json"
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(self._file))
        except Exception as error:  # the library raises plain ``Exception``
            raise ModelError(f"{self._file} is not a tokenizer: {error}.", hint="Fetch the model again.") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True

    def token(self, text: str) -> int:
        """The id of one token.

        Raises:
            ModelError: the tokenizer has none of this text, so it is not Qwen3's.
        """
        found: int | None = self._tokenizer.token_to_id(text)
        if found is None:
            raise ModelError(f"{self._file} has no token {text!r}.", hint="Use the tokenizer of a Qwen3 model.")
        return found

    def prompt(self, text: str) -> list[int]:
        """Ids of our own words, in which special tokens are what they spell."""
        self._tokenizer.encode_special_tokens = False
        try:
            return list(self._tokenizer.encode(text, add_special_tokens=False).ids)
        finally:
            self._tokenizer.encode_special_tokens = True

    def ids(self, text: str, limit: int) -> list[int]:
        """The first ``limit`` ids of any text."""
        return list(self._encode(text, limit).ids[:limit])

    def cut(self, text: str, limit: int) -> str:
        """The part of a text that its first ``limit`` tokens spell."""
        encoded = self._encode(text, limit)
        end = encoded.offsets[limit - 1][1] if len(encoded.ids) > limit else limit * CHARS_A_TOKEN
        return text[:end]

    def _encode(self, text: str, limit: int) -> Any:
        clean = text[: limit * CHARS_A_TOKEN].encode("utf-8", "replace").decode("utf-8")  # lone surrogates are refused
        return self._tokenizer.encode(clean, add_special_tokens=False)
