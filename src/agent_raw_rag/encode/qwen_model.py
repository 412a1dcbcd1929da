"""A Qwen3 network on MLX: token ids -> the last token's state. Made and used in the MLX thread only.

Batches are padded on the right, and each text's own last place is read. A causal network never looks to the right, so
padding cannot change a state; padding on the left would need masks that ``mlx_lm``'s models do not take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_raw_rag.encode.mlx_backend import mlx
from agent_raw_rag.encode.weights import Weights
from agent_raw_rag.errors import ModelError

REMEDY = "`raw-rag models verify` checks its files."


class QwenModel:
    """The network, in memory.

    Args:
        weights: Checked files.
        with_head: Keep the rows that score words; an encoder needs none, and some checkpoints have none.

    Raises:
        ModelError: MLX is missing, or the weights do not fit the configuration.
    """

    def __init__(self, weights: Weights, *, with_head: bool) -> None:
        self._mlx = mlx()
        self._mx = self._mlx.core
        names = {tensor.name for _, tensor in weights.tensors()}
        headless = not any(name.startswith("lm_head.") for name in names)
        tied = bool(weights.config.get("tie_word_embeddings"))
        if with_head and headless and not tied:
            raise ModelError(f"The model in {weights.folder} is no reranker: it has no head.", hint=REMEDY)
        # An encoder of 8B is not tied and yet has no head; taken as tied, the missing one is not asked for.
        self._network = self._load(weights, tied=tied or not with_head)

    def states(self, rows: Sequence[Sequence[int]], prefix: Sequence[_Prefix] | None = None) -> Any:
        """[n, hidden] of ids: the state of each row's last token, behind a prefix that all rows share, if any. Not evaluated."""
        mx = self._mx
        longest = max(map(len, rows))
        padded = mx.array([[*row, *([0] * (longest - len(row)))] for row in rows])
        hidden = self._network.model(padded, cache=prefix)
        return hidden[mx.arange(len(rows)), mx.array([len(row) - 1 for row in rows])]

    def unit_vectors(self, rows: Sequence[Sequence[int]], dim: int) -> Any:
        """[n, dim] float32 (numpy), of length 1: the first ``dim`` numbers of the states."""
        import numpy as np

        states = self.states(rows)[:, :dim].astype(self._mx.float32)
        found = np.array(states)  # evaluates here, in this thread
        if not np.isfinite(found).all():
            raise ModelError("The model gives vectors that are no numbers.", hint=REMEDY)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)

    def head_rows(self, tokens: Sequence[int]) -> Any:
        """[len(tokens), hidden] float32: what scores these tokens, and no others, from a state. The whole head would give
        151,669 numbers a place."""
        mx, rows = self._mx, self._mx.array(list(tokens))
        head = getattr(self._network, "lm_head", None)
        if head is None:
            found = self._network.model.embed_tokens(rows)
        elif "scales" in head:
            biases = head["biases"][rows] if head.get("biases") is not None else None
            found = mx.dequantize(
                head["weight"][rows], head["scales"][rows], biases,
                group_size=head.group_size, bits=head.bits, mode=head.mode,
            )  # fmt: skip
        else:
            found = head["weight"][rows]
        found = found.astype(mx.float32)
        mx.eval(found)
        return found

    def probabilities(self, rows: Sequence[Sequence[int]], prefix: Sequence[_Prefix], no_yes: Any) -> list[float]:
        """P(yes) of each row behind the prefix. ``no_yes``: two ``head_rows``."""
        mx = self._mx
        scores = self.states(rows, prefix).astype(mx.float32) @ no_yes.T
        found = [float(one) for one in mx.softmax(scores, axis=-1)[:, 1].tolist()]
        if any(one != one for one in found):
            raise ModelError("The model gives scores that are no numbers.", hint=REMEDY)
        return found

    def prefix(self, ids: Sequence[int]) -> list[_Prefix]:
        """What the layers remember of tokens that every row of a batch begins with, computed once."""
        layers = [_Prefix(self._mx) for _ in self._network.layers]
        self._network.model(self._mx.array([list(ids)]), cache=layers)
        for layer in layers:
            layer.keep()
        self._mx.eval([layer.kept for layer in layers])
        return layers

    def _load(self, weights: Weights, *, tied: bool) -> Any:
        try:
            network, _ = self._mlx.load_model(
                weights.folder,
                model_config={"tie_word_embeddings": tied},
                get_model_classes=lambda config: (self._fitting, self._mlx.classes[1]),
            )
        except (ValueError, RuntimeError, KeyError, TypeError, OSError) as error:
            said = str(error).strip().split("\n")[0][:200]
            raise ModelError(f"The model in {weights.folder} cannot be loaded: {said}.", hint=REMEDY) from error
        return network

    def _fitting(self, args: Any) -> Any:
        """The network that the checkpoint is poured into. Checkpoints of the original embedding models name their tensors without
        ``model.`` in front."""
        network = self._mlx.classes[0](args)

        def fit(weights: dict[str, Any]) -> dict[str, Any]:
            if not any(name.startswith("model.") for name in weights):
                weights = {
                    name if name.startswith("lm_head.") else f"model.{name}": one for name, one in weights.items()
                }
            if args.tie_word_embeddings:
                weights = {name: one for name, one in weights.items() if not name.startswith("lm_head.")}
            return weights

        object.__setattr__(network, "sanitize", fit)
        return network


class _Prefix:
    """One layer's keys and values of a shared prefix, in the form of ``mlx_lm``'s caches. What comes behind is seen once and not
    kept: a cache that grows would hold every layer's keys of a whole batch."""

    def __init__(self, mx: Any) -> None:
        self._mx = mx
        self._seen: tuple[Any, Any] | None = None
        self.kept: tuple[Any, Any] | None = None
        self.offset = 0

    def keep(self) -> None:
        """Make what was seen the prefix."""
        assert self._seen is not None
        self.kept, self._seen = self._seen, None
        self.offset = self.kept[0].shape[2]

    def update_and_fetch(self, keys: Any, values: Any) -> tuple[Any, Any]:
        """Keys and values [n, heads, tokens, size] of new tokens -> those of the prefix and of them."""
        if self.kept is None:
            self._seen = (keys, values)
            return self._seen
        before = [self._mx.broadcast_to(one, (keys.shape[0], *one.shape[1:])) for one in self.kept]
        return (
            self._mx.concatenate([before[0], keys], axis=2),
            self._mx.concatenate([before[1], values], axis=2),
        )

    def make_mask(self, tokens: int, **ignored: Any) -> str | None:
        """Causal, aligned to the end."""
        return "causal" if tokens > 1 else None
