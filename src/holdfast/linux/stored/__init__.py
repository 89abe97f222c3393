"""Our files: where they are, and what they contain."""
