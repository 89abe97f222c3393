"""An input's way: rights, turn, gate, order, outcome."""
