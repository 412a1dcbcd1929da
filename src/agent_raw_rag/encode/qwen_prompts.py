"""The words that Qwen3-Embedding and Qwen3-Reranker were trained to see around a text, letter for letter.

Source: the model cards (Qwen/Qwen3-Embedding-4B and Qwen/Qwen3-Reranker-4B). There is no space after ``Query:`` in the first.
"""

from __future__ import annotations

INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
"""The task that the cards use; a task in the user's own words, in English, may rank a little better."""
END = "<|endoftext|>"
"""What the encoder's vector is read from. Not ``eos_token`` of the tokenizer's settings, which is the chat's end."""
YES, NO = "yes", "no"
HEAD = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided."
    ' Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
"""Before the question, with special tokens."""
TAIL = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
"""After the passage, with special tokens: the next one is the answer."""


def query_text(instruction: str, query: str) -> str:
    """What the encoder sees of a query; passages stand alone."""
    return f"{instruction_text(instruction)}{query}"


def instruction_text(instruction: str) -> str:
    """What stands before a query."""
    return f"Instruct: {instruction}\nQuery:" if instruction else ""


def question_text(instruction: str, query: str) -> str:
    """What the reranker sees before a passage. It ends before the space: a space belongs to the word after it, so that
    the passage's tokens are the same whether the two are cut apart here or not."""
    return f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>:"


def answer_text(passage: str) -> str:
    """What the reranker sees of a passage."""
    return f" {passage}"
