"""Any server with a rerank endpoint: vLLM, llama.cpp, TEI, Jina, Cohere. Scores are asked for, never the server's own cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_raw_rag.encode.http_client import HttpClient, RefusedError
from agent_raw_rag.encode.http_connection import Connection
from agent_raw_rag.encode.http_models import NO_SUCH_PATH, Offered, offered, only_model
from agent_raw_rag.encode.http_parts import batches, in_halves, sendable
from agent_raw_rag.encode.http_patience import Patience, Timing
from agent_raw_rag.encode.instructions import instructed
from agent_raw_rag.encode.rerank_forms import AUTO, FORMS, Form, read_scores
from agent_raw_rag.errors import ConfigError, ModelError

RERANK_SECONDS = 10.0
"""For all passages of a query together."""
ROUNDING = 1e-3
"""How far a probability in half precision may lie outside 0 to 1."""


class HttpReranker:
    """A ``Reranker``. Its form is found out at the first call and remembered; safe to use from several threads."""

    def __init__(
        self, url: str, *, model: str = "", form: str = "auto", instruction: str | None = None,
        probability: bool | None = None, key_variable: str = "", timeout_seconds: float = RERANK_SECONDS,
        batch_texts: int = 32, batch_chars: int = 65_536, retries: int = 0, environment: Mapping[str, str],
        timing: Timing | None = None,
    ) -> None:  # fmt: skip
        """``probability`` None: as the form's documentation says.

        Raises:
            ConfigError: the url is none, or there is no such form.
        """
        if form != "auto" and form not in FORMS:
            raise ConfigError(f"There is no rerank form {form!r}.", hint=f"Known: auto, {', '.join(sorted(FORMS))}.")
        patience = Patience(timeout_seconds, timeout_seconds, retries)
        self._connection = Connection(url, key_variable=key_variable, environment=environment)
        self._client = HttpClient(self._connection, patience, timing=timing)
        self._form = FORMS.get(form)
        self._model = model
        self._instruction = instruction or ""
        self._probability = probability
        self._batch_texts, self._batch_chars = batch_texts, batch_chars

    @property
    def name(self) -> str:
        """The model, as far as it is known, and the server's form."""
        return f"{self._model or 'the model'} over http ({self._form.name if self._form else 'form not known yet'})"

    @property
    def is_probability(self) -> bool:
        """As configured, else what the form promises; no before the form is known."""
        if self._probability is not None:
            return self._probability
        return self._form is not None and self._form.is_probability

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See ``Reranker``.

        Raises:
            ModelError: the server cannot be reached, refuses, or answers with anything but one good score a passage.
        """
        asked, until = sendable(instructed(self._instruction, query)), self._client.deadline()
        scores: list[float] = []
        for batch in batches([sendable(passage) for passage in passages], self._batch_texts, self._batch_chars):
            scores += in_halves(batch, lambda part: self._scores(asked, part, until))
        if self.is_probability and any(not -ROUNDING <= score <= 1 + ROUNDING for score in scores):
            raise ModelError(
                f"The reranker {self.name} answered with scores that are no probabilities.",
                hint="Set reranker.probability = false: then only their order counts.",
            )
        return scores

    def close(self) -> None:
        """Give the connections back."""
        self._connection.close()

    # ------------------------------------------------------------ requests

    def _scores(self, query: str, passages: Sequence[str], until: float) -> list[float]:
        if self._form is None:
            self._form, scores = self._detect(query, passages, until)
            return scores
        return self._try(self._form, query, passages, until)

    def _try(self, form: Form, query: str, passages: Sequence[str], until: float) -> list[float]:
        answer = self._client.post(form.path, form.request(self._model, query, passages), until)
        return read_scores(form, answer, len(passages), self._client.root)

    def _offered(self) -> list[Offered]:
        """The server's models. A key that may not list them is no reason not to rerank: that request tells."""
        try:
            return offered(self._client)
        except RefusedError:
            return []

    def _detect(self, query: str, passages: Sequence[str], until: float) -> tuple[Form, list[float]]:
        """The form of a server: that of the name it gives itself, else the first whose path it knows."""
        models = self._offered()
        owners = {model.owner for model in models}
        if not self._model and models:
            self._model = only_model(models, "rerank", "reranker.model").name
        named = [form for form in FORMS.values() if form.owner and form.owner in owners]
        for form in named or [FORMS[name] for name in AUTO]:
            try:
                return form, self._try(form, query, passages, until)
            except RefusedError as error:
                if error.status not in NO_SUCH_PATH:
                    raise
        raise ModelError(
            f"The inference server {self._client.root} has no rerank endpoint.",
            hint="Start it with a reranker (llama.cpp: --rerank), or set reranker.form.",
        )
