"""Which verb was asked for, and with what?"""

from holdfast.version import __version__


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status of the process."""
    del arguments
    print(__version__)
    return 0
