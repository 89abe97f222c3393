"""Capsules: sessions with a view of the machine that is their own."""
