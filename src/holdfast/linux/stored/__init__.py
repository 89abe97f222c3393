"""Files of ours: where they are, and what they hold."""
