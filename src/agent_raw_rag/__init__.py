"""The exact past conversations of your coding agents, read from their own logs."""

__version__ = "0.3.0"
