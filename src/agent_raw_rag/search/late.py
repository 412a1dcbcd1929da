"""Late interaction: how near the nearest token of a passage comes to each token of the question. Pure.

Every token of a question counts 1, and one that belongs to a telling word up to ``TELLING`` more: by the word's idf in the
index, on a scale that ends at what a word would have that occurs nowhere. Without these weights the mean over all tokens
gained nothing on windows (see the report); with them it is the best single score there is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.encode.late import TokenStates
from agent_raw_rag.lexical.queries import STOPWORDS
from agent_raw_rag.lexical.terms import fold, word_terms

Floats = NDArray[np.float64]
TELLING = 4.0
UNSEEN = -1.0
"""The similarity of a text without tokens: as far off as a cosine can be."""
_words = re.compile(r"\w+").finditer


def token_weights(query: str, spans: NDArray[np.int32], idf: Callable[[str], float], chunks: int) -> Floats:
    """[n] weights of the query's tokens, together 1. ``idf`` is of a term in an index of ``chunks`` chunks."""
    weights = np.ones(len(spans))
    highest = math.log(1 + (chunks + 0.5) / 0.5)
    for match in _words(query):
        found = word_terms(match[0])
        if not found or fold(match[0]) in STOPWORDS:
            continue
        inside = (spans[:, 0] >= match.start()) & (spans[:, 1] <= match.end())
        weights[inside] += TELLING * min(idf(found[-1]) / highest, 1.0)
    return weights / weights.sum() if len(weights) else weights


def max_similarity(query: TokenStates, weights: Floats, passage: TokenStates) -> float:
    """The weighted mean, over the question's tokens, of the cosine to the nearest token of the passage: -1 to 1."""
    if not len(passage.vectors) or not len(query.vectors):
        return UNSEEN
    nearest = (query.vectors @ passage.vectors.T).max(axis=1)
    return float(weights @ nearest)
