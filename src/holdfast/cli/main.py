"""Which verb was asked for, and with what?

Every verb is a file of its own and is imported only when it is called, so that
starting costs what the one verb needs.
"""

import argparse
import errno
import importlib
import itertools
import os
import sys
from typing import NoReturn

from holdfast.model.errors import (
    Forbidden,
    HoldfastError,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
)
from holdfast.model.text import printable
from holdfast.version import __version__

VERBS: dict[str, str] = {
    "new": "start a session, and attach to it",
    "attach": "show a session on this terminal",
    "ls": "list the sessions",
    "end": "end a session",
    "rename": "give a session another name",
    "keep": "exempt a session from being ended for idleness",
    "send": "type text into a session",
    "keys": "press keys in a session, by their names",
    "read": "print what a session has printed",
    "wait": "wait for output, for quiet, or for the end",
    "resize": "give a session another size",
    "status": "say what runs on this machine",
    "completion": "print a script that completes words in your shell",
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
EXIT_OUTPUT = 74
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141
"""What a shell says of a program that SIGPIPE ended."""

MAX_SENTENCE = 1000

UNWRITABLE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What printing fails with. Whatever else uses descriptors wraps its errors."""


class Parser(argparse.ArgumentParser):
    """argparse, with our exit status, and with nothing printed as it came."""

    def parse_words(self, words: list[str]) -> argparse.Namespace:
        """Read options wherever they stand, up to `--`; the rest are no options.

        argparse by itself gives up on `NAME --option WORD…`.
        """
        options: list[str] = []
        others: list[str] = []
        coming = iter(words)
        for word in coming:
            if word == "--":
                others.extend(coming)
            elif word.startswith("-") and word != "-":
                options.append(word)
                action = self._option_string_actions.get(word)
                if action is not None and action.nargs != 0:
                    options.extend(itertools.islice(coming, 1))
            else:
                others.append(word)
        return self.parse_args([*options, "--", *others] if others else options)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, and exit."""
        self.print_usage(sys.stderr)
        self.exit(
            EXIT_STATUS[UsageError],
            f"{self.prog}: {printable(message, MAX_SENTENCE)}\n"
            f"Try `{self.prog} --help`.\n",
        )


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status of the process.

    Only errors we raise on purpose become a line. Anything else is a bug, and
    a bug keeps its traceback.
    """
    _occupy_standard_descriptors()
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        return _unwritten(error)
    return _flushed(status)


def _run(words: list[str]) -> int:
    parser = _parser()
    if not words or words[0] not in VERBS:
        parser.parse_args(words)
        parser.print_help()
        return EXIT_STATUS[UsageError] if words else 0
    verb = importlib.import_module(f"holdfast.cli.{words[0]}")
    own = Parser(
        prog=f"holdfast {words[0]}", description=VERBS[words[0]], allow_abbrev=False
    )
    verb.add_arguments(own)
    options = own.parse_words(words[1:])
    try:
        return int(verb.run(options))
    except HoldfastError as error:
        _complain(error, as_json=getattr(options, "json", False))
        return _status(error)


def _complain(error: HoldfastError, *, as_json: bool) -> None:
    if as_json:
        import json  # noqa: PLC0415  # only who asked for it pays for it

        facts = {
            "code": error.code,
            "text": str(error),
            "facts": error.facts,
            "retryable": error.retryable,
            "next_step": error.next_step,
        }
        print(json.dumps({"error": facts}), file=sys.stderr)
        return
    lines = [str(error), *getattr(error, "__notes__", ()), error.next_step]
    for number, line in enumerate(filter(None, lines)):
        lead = "          " if number else "holdfast: "
        print(lead + printable(line, MAX_SENTENCE), file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="holdfast",
        description="Live executions that nobody owns and nobody's departure ends.",
        epilog="verbs:\n"
        + "\n".join(f"  {name:<10} {what}" for name, what in VERBS.items())
        + "\n\n`holdfast VERB --help` says more about each.",
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


def _occupy_standard_descriptors() -> None:
    """Open what was closed: else a socket gets number 1, and output goes there."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _flushed(status: int) -> int:
    """Write out what was printed; return the status, or that this failed."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return _unwritten(error)
    return status


def _unwritten(error: OSError) -> int:
    # The interpreter flushes once more when it ends, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return EXIT_UNREAD
    print(f"holdfast: cannot write: {error.strerror}", file=sys.stderr)
    return EXIT_OUTPUT
