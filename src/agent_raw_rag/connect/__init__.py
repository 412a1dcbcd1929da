"""Agent wiring: entries, hooks and instructions in the agents' own files, and what a hook answers."""
