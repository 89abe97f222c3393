"""The release number, kept apart so that reading it costs one tiny import."""

__version__ = "0.1.0"
