"""The measuring host: question sets with known answers -> figures of retrieval, and the reports that hold them.

Below ``cli``, beside ``server``. It measures which turns come back, never what a model makes of them.
"""
