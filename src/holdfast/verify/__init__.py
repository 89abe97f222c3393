"""Breaks every promise on purpose, with real processes, and reports what was seen.

It uses holdfast's command line, /proc and the standard library, and nothing else of
holdfast: a proof that shares code with what it proves shares its mistakes.
"""
