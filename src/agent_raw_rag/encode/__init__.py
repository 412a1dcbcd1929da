"""Models: text -> vectors and scores, and the tokenizer that chunks are measured with. Knows nothing of the store."""
