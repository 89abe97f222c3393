"""Dispatches the command line to its verb.

Every verb is a file of its own and is imported only when it is called, so that
starting costs only what that verb needs.
"""

import argparse
import errno
import gc
import importlib
import itertools
import os
import sys
from typing import NoReturn

from holdfast.cli.manual import Manual
from holdfast.model.errors import (
    Forbidden,
    HoldfastError,
    MalformedArgument,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
)
from holdfast.model.text import checked_name, printable
from holdfast.version import __version__

GROUPS: dict[str, dict[str, str]] = {
    "sessions": {
        "new": "start a session, and attach to it",
        "attach": "show a session on this terminal",
        "ls": "list the sessions",
        "end": "end a session",
        "rename": "give a session another name",
        "keep": "leave a session in the list after it has ended",
        "resize": "give a session another size",
    },
    "what they do": {
        "screen": "print what a session shows at this moment",
        "read": "print what a session has printed",
        "state": "say what a session does now, and how that is known",
        "graph": "show what runs in a session, and what listens where",
        "wait": "wait for output, for a prompt, for a port, for quiet, or for the end",
        "watch": "tell what happens in sessions, as it happens",
    },
    "doing something there": {
        "run": "run a command in a session's shell, and return its exit status",
        "send": "type text into a session",
        "keys": "press keys in a session, by their names",
        "answer": "type a secret for a program that asks for one",
    },
    "the turn": {
        "who": "say who is attached, who has the turn and who waits for what",
        "take": "take the turn, if it is free",
        "ask": "ask for the turn, and wait for the answer",
        "give": "give the turn to somebody",
        "refuse": "say no to somebody who asks for the turn",
        "drop": "let the turn go",
        "seize": "take the turn, whoever has it",
        "freeze": "stop every process of a session where it stands",
        "thaw": "let a frozen session run again",
    },
    "the gate": {
        "gate": "look at what the gate does, and answer what it asks",
        "approve": "let an input through that waits for approval",
        "deny": "refuse an input that waits for approval",
    },
    "the record": {
        "log": "tell what happened in a session",
        "blame": "say who is behind something: an alias, a file, a process, a line",
    },
    "operators": {
        "operators": "list who is known on this machine, add or remove one",
        "grant": "let an operator do something in a session",
        "revoke": "revoke all of an operator's rights",
        "mcp": "serve AI agents, as an operator with a key of its own",
    },
    "elsewhere": {
        "invite": "let somebody elsewhere join this host",
        "join": "become an operator of a host elsewhere, by its invitation",
        "hosts": "list the hosts elsewhere that you may reach",
        "relay": "run a relay, where hosts and operators meet",
    },
    "this machine": {
        "up": "run the host, which looks after the sessions of this machine",
        "down": "stop holdfast's own processes, and leave the sessions running",
        "status": "say what runs on this machine",
        "upgrade": "put this code under the running sessions",
        "doctor": "say what this machine can do for sessions, and what it cannot",
        "completion": "print a script that completes words in your shell",
    },
}
"""Every verb, by what it is about."""

VERBS = {name: what for group in GROUPS.values() for name, what in group.items()}
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

AS = "--as"
"""As whom to act; before the verb, because it is about all of them."""

MAX_SENTENCE = 1000

START_OBJECTS = 100_000
"""Objects made before garbage is looked for: what starting makes is all kept."""

UNWRITABLE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What printing fails with. Whatever else uses descriptors wraps its errors."""


LITERAL = "\0--"
"""Stands for a `--` that is no separator; no word of a command line has a NUL."""


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
        # argparse drops a `--` from what each argument is given, ours included.
        kept = [LITERAL if word == "--" else word for word in others]
        found = self.parse_args([*options, "--", *kept] if kept else options)
        for name, value in vars(found).items():
            setattr(found, name, _restored(value))
        return found

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, and exit."""
        self.print_usage(sys.stderr)
        self.exit(
            EXIT_STATUS[UsageError],
            f"{self.prog}: {printable(message, MAX_SENTENCE)}\n"
            f"Try `{self.prog} --help`.\n",
        )


def _restored(value: object) -> object:
    if isinstance(value, list):
        return [_restored(one) for one in value]
    return "--" if value == LITERAL else value


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status of the process.

    Only errors we raise on purpose become a line. Anything else is a bug, and
    a bug keeps its traceback.
    """
    _occupy_standard_descriptors()
    if arguments is None:  # Else somebody else's process has its own idea.
        gc.set_threshold(START_OBJECTS)
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        return _unwritten(error)
    if arguments is None:
        # The interpreter looks for garbage once more when it ends; what is frozen
        # it leaves to the kernel, which takes it all at once.
        gc.freeze()
    return _flushed(status)


def _run(words: list[str]) -> int:
    try:
        words = _acting(words)
    except UsageError as error:
        _complain(error, as_json=False)
        return EXIT_STATUS[UsageError]
    if not words or words[0] not in VERBS:
        parser = _parser()
        parser.parse_args(words)
        parser.print_help()
        return EXIT_STATUS[UsageError] if words else 0
    verb = importlib.import_module(f"holdfast.cli.verbs.{words[0]}")
    own = Parser(
        prog=f"holdfast {words[0]}",
        description=VERBS[words[0]],
        formatter_class=Manual,
        allow_abbrev=False,
    )
    verb.add_arguments(own)
    options = own.parse_words(words[1:])
    try:
        return int(verb.run(options))
    except HoldfastError as error:
        _complain(error, as_json=getattr(options, "json", False))
        return _status(error)


def _acting(words: list[str]) -> list[str]:
    """Take note of `--as NAME` before the verb; return the words after it."""
    if not words or words[0].partition("=")[0] != AS:
        return words
    option, equals, name = words[0].partition("=")
    rest = words[1:] if equals else words[2:]
    if not equals and len(words) < 2:  # noqa: PLR2004  # the option and its name
        raise MalformedArgument(option, "followed by an operator's name")
    from holdfast.client.profile import VARIABLE  # noqa: PLC0415  # rarely needed

    os.environ[VARIABLE] = checked_name(name if equals else words[1])
    return rest


def _complain(error: HoldfastError, *, as_json: bool) -> None:
    if as_json:
        import json  # noqa: PLC0415  # only who asked for it pays for it

        facts = {
            "code": error.code,
            "text": _named(str(error)),
            "facts": error.facts,
            "retryable": error.retryable,
            "next_step": error.next_step,
        }
        print(json.dumps({"error": facts}), file=sys.stderr)
        return
    lines = [_named(str(error)), *getattr(error, "__notes__", ()), error.next_step]
    for number, line in enumerate(filter(None, lines)):
        lead = "          " if number else "holdfast: "
        print(lead + printable(line, MAX_SENTENCE), file=sys.stderr)


def _named(sentence: str) -> str:
    """Return a sentence with operators' names in the place of their ids."""
    if "a_" not in sentence:
        return sentence
    from holdfast.cli.operator_names import Names  # noqa: PLC0415  # rarely needed

    return Names().told(sentence)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="holdfast",
        description="Live executions that nobody owns and nobody's departure ends.",
        epilog="\n\n".join(
            [*map(_group, GROUPS), "`holdfast VERB --help` says more about each."]
        ),
        formatter_class=Manual,
    )
    parser.add_argument(
        "--version", action="version", version=f"holdfast {__version__}"
    )
    parser.add_argument(
        AS, metavar="NAME", help="act as this operator (you, by your login name)"
    )
    parser.add_argument("verb", nargs="?", choices=VERBS, metavar="verb", help="below")
    return parser


def _group(title: str) -> str:
    verbs = [f"  {name:<10} {what}" for name, what in GROUPS[title].items()]
    return "\n".join([f"{title}:", *verbs])


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
