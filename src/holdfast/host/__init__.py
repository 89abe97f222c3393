"""One per user and machine, replaceable at any moment: no session depends on it."""
