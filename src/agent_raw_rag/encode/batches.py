"""Texts of different lengths -> batches that waste little and fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of the texts, the longest first, in batches whose padded size (count times longest) is within ``budget``.

    Every place comes once. A text that is longer than the budget makes a batch of its own.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
