"""Which verb was asked for, and with what?

Every verb is a file of its own and is imported only when it is called, so that
starting costs what the one verb needs.
"""

import argparse
import importlib
import sys

from holdfast.model.errors import (
    Forbidden,
    HoldfastError,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
)
from holdfast.version import __version__

VERBS: dict[str, str] = {
    "tour": "show what works today, on this machine, and what comes next",
}
"""Each verb is the module of its name, with `add_arguments` and `run`."""

EXIT_STATUS: dict[type[HoldfastError], int] = {
    UsageError: 64,
    Unavailable: 75,
    Unsettled: 75,
    PeerError: 76,
    Forbidden: 77,
}
"""By branch of the error tree; the numbers are those of sysexits(3)."""

EXIT_INTERNAL = 70


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status of the process.

    Only errors we raise on purpose become a line. Anything else is a bug, and
    a bug keeps its traceback.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    if not words or words[0] not in VERBS:
        parser.parse_args(words)
        parser.print_help()
        return EXIT_STATUS[UsageError] if words else 0
    verb = importlib.import_module(f"holdfast.cli.{words[0]}")
    own = argparse.ArgumentParser(
        prog=f"holdfast {words[0]}", description=VERBS[words[0]]
    )
    verb.add_arguments(own)
    options = own.parse_args(words[1:])
    try:
        return int(verb.run(options))
    except HoldfastError as error:
        print(f"holdfast: {error}", file=sys.stderr)
        if error.next_step:
            print(f"          {error.next_step}", file=sys.stderr)
        return _status(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="holdfast",
        description="Live executions that nobody owns and nobody's departure ends.",
        epilog="verbs:\n"
        + "\n".join(f"  {name:<10} {what}" for name, what in VERBS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"holdfast {__version__}"
    )
    parser.add_argument("verb", nargs="?", choices=VERBS, metavar="verb", help="below")
    return parser


def _status(error: HoldfastError) -> int:
    return next(
        (status for kind, status in EXIT_STATUS.items() if isinstance(error, kind)),
        EXIT_INTERNAL,
    )
