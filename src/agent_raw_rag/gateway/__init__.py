"""Generation models of others: what they speak, asking them, and an exchange with one -> captures.

Wire: the frames of a stream, the requests and answers of each form, whatever way they are cut. Proxy: an exchange that passes
through -> what was said on both sides. Chat: memory -> prompt -> model -> answer. It knows no host.
"""
