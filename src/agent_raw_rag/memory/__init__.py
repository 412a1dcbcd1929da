"""What agents and people write and recall on purpose: capture, notes, promotion, spaces and tokens."""
