"""Recordings of sessions, as asciicast files: written, kept and played."""
