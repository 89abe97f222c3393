"""Rules: read from a file, and applied to a command, an exec or a start."""
