"""A session's own state: its output, screen, life and end."""
