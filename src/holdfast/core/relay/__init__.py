"""Relay decisions: who meets whom, and who holds which lease."""
