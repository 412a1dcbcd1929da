"""The always-on host: it keeps the store current, and one loaded model for every process of its home."""
