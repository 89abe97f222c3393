"""Holds one session: terminal, stream, line, gate, logbook. A plain selector loop."""
