"""The people's door: thin commands over one runtime, and one printer. Nothing else of the product imports a terminal."""
