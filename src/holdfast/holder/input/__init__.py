"""Operators' input: from a client's packet to the terminal."""
