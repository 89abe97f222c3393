"""How shells read a line, and what is set in them."""
