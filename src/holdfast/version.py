"""Which release is this? Kept apart so that asking costs one tiny import."""

__version__ = "0.1.0"
