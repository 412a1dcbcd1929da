"""What each feature counts in the ranking of windows and turns: two fitted tables, in the words of ``features``.

Fitted by ``benchmarks/fit_ranking.py`` on LoCoMo's conversations 5 to 9 together with the coding dialogues' questions about
even sessions. Conversations 0 to 4 and the odd sessions were never seen; the report has what both halves score with
either half's weights. To fit again, run that command and copy its ``B``.

=============  ==========================================================================================
of a piece
words_near     BM25 of the piece together with the pieces before and after it, over the pool's best
covered        share of the query's idf that the piece holds (below 0: what its neighbours hold counts more)
named          the name before the piece's text (``Ann: …``) stands in the query
pairs          share of the query's neighbouring words that stand side by side here as well
asks           the piece asks a question: answers are wanted, not questions
answers        the piece before it asks one
length         log of its terms: a longer piece says more
time, number   it has a time word or a digit, and the query asks when or how many
window_words   BM25 of its window, over the pool's best
window_sense   cosine of its window, stretched over the pool
window_states  MaxSim of its window (``late``)
states         MaxSim of the piece by itself
of a window
sense          cosine, stretched over the pool
covered        share of the query's idf that the window holds
best_states    MaxSim of its best piece
pieces         its pieces' scores in one (``learned.pooled_pieces``)
=============  ==========================================================================================
"""

from __future__ import annotations

from agent_raw_rag.search.learned import Weights

WORDS = Weights(
    pieces={
        "words_near": 2.24,
        "covered": 1.72,
        "named": 2.08,
        "pairs": 1.28,
        "asks": -0.35,
        "answers": 0.36,
        "length": 4.72,
        "time": 1.92,
        "number": 1.07,
        "window_words": 2.88,
        "window_sense": 3.26,
    },
    windows={
        "sense": 0.87,
        "covered": 1.93,
        "pieces": 3.17,
    },
)
"""Before any token states are made: text and coarse scores only."""

STATES = Weights(
    pieces={
        "words_near": 1.76,
        "covered": -0.93,
        "named": 1.61,
        "pairs": 0.62,
        "asks": -0.43,
        "answers": 0.37,
        "length": 4.51,
        "time": 1.92,
        "number": 0.75,
        "window_words": 1.59,
        "window_sense": -0.89,
        "window_states": 3.98,
        "states": 2.28,
    },
    windows={
        "best_states": 2.29,
        "pieces": 3.15,
    },
)
"""With token states."""
