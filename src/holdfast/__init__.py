"""Live executions that nobody owns and nobody's departure ends."""

from holdfast.version import __version__

__all__ = ["__version__"]
