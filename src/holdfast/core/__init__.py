"""Decisions, one state machine per file. Events in, effects out; time is handed in."""
