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
from types import ModuleType
from typing import NoReturn

from holdfast.cli.manual import Manual
from holdfast.model import errors
from holdfast.model.text import checked_name, printable
from holdfast.version import __version__

GROUPS: dict[str, dict[str, str]] = {
    "sessions": {
        "new": "start a session and attach to it",
        "attach": "attach this terminal to a session",
        "detach": "detach others' terminals, or yours elsewhere, from a session",
        "ls": "list sessions",
        "end": "end a session",
        "recover": "start a lost session again, with its name, command and output",
        "checkpoint": "save a session to disk, with the memory of its programs",
        "restore": "continue a session from an image on disk",
        "move": "move a session to another host",
        "fork": "make a copy of a running session, memory included",
        "token": "print a session's id and incarnation, signed by this host",
        "images": "list, remove, export and import images of sessions",
        "files": "show, apply or discard a capsule's own file changes",
        "leases": "show the leases of movable sessions",
        "rename": "rename a session",
        "keep": "never reap a session, and list it after its end",
        "reap": "show which idle sessions will be reaped, and why others will not",
        "resize": "resize a session's terminal",
    },
    "inspect": {
        "screen": "print a session's screen",
        "read": "print a session's output",
        "state": "show what a session is doing now, and the evidence",
        "graph": "show a session's processes and listening ports",
        "can-checkpoint": "list what prevents a checkpoint of a session",
        "wait": "wait for output, a prompt, a port, silence, or the end",
        "watch": "print what happens in sessions, as it happens",
    },
    "act": {
        "run": "run a command in a session's shell and return its exit status",
        "exec": "run one command on a remote host, and return its exit status",
        "send": "type text into a session",
        "keys": "press keys in a session, by name",
        "answer": "type a secret that a program asks for",
        "notify": "report that a session needs input",
    },
    "turn": {
        "who": "show who is attached, who has the turn and who is waiting",
        "take": "take the turn if it is free",
        "ask": "ask for the turn and wait for the answer",
        "give": "give the turn to another operator",
        "refuse": "refuse another operator's request for the turn",
        "drop": "release the turn",
        "seize": "take the turn from its holder",
        "freeze": "stop every process of a session",
        "thaw": "resume a frozen session",
    },
    "gate": {
        "gate": "inspect the gate and answer its requests",
        "approve": "approve an input that waits for approval",
        "deny": "deny an input that waits for approval",
        "autonomy": "show how much each agent may do unasked, and what it has earned",
    },
    "record": {
        "log": "show what happened in a session",
        "record": "record what a session prints, as an asciicast file",
        "play": "play a recording in this terminal",
        "blame": "show who is behind an alias, a file, a process or a line",
        "score": "show how agents' acts came out, for each kind of action",
    },
    "operators": {
        "operators": "list, add and remove the operators of this machine",
        "grant": "set an operator's rights in a session",
        "revoke": "revoke all of an operator's rights",
        "mcp": "serve AI agents, each as a separate operator",
    },
    "remote hosts": {
        "invite": "make a link to join this host",
        "join": "join a remote host with an invitation",
        "hosts": "list the remote hosts you have joined",
        "relay": "run a relay, where hosts and operators meet",
    },
    "this machine": {
        "up": "run the host, which connects sessions to relays",
        "down": "stop holdfast's own processes and leave sessions running",
        "status": "show which of holdfast's processes run",
        "drain": "save or move sessions before this machine goes down",
        "evacuate": "move every session that can move to another host",
        "metrics": "print this machine's metrics, or serve them to Prometheus",
        "upgrade": "move running sessions to this version of the code",
        "doctor": "check what this machine supports",
        "verify": "inject nine kinds of failure, and show that sessions survive",
        "conformance": "run the wire contract against any implementation",
        "config": "show and check your settings",
        "completion": "print a completion script for your shell",
    },
}
"""The verbs, by subject."""

VERBS = {name: what for group in GROUPS.values() for name, what in group.items()}
"""Each verb is the module of its name, with `add_arguments` and `run`."""

ALIASES = {"a": "attach", "kill": "end", "list": "ls"}
"""Names from other tools, and the verbs they stand for."""

TARGET = "-t"
"""Names the session, wherever a verb takes one: as in `tmux attach -t web`."""

EXIT_STATUS: dict[type[errors.HoldfastError], int] = {
    errors.UsageError: 64,
    errors.Unavailable: 75,
    errors.Unsettled: 75,
    errors.PeerError: 76,
    errors.Forbidden: 77,
}
"""By branch of the error tree; the numbers are those of sysexits(3)."""

EXIT_INTERNAL = 70
EXIT_OUTPUT = 74
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141
"""The status a shell reports for a program ended by SIGPIPE."""

AS = "--as"
"""The operator to act as; before the verb, because it applies to all of them."""

ALONE = "ls"
"""The verb used if none is given and there is no terminal for the overview."""

MAX_SENTENCE = 1000

START_OBJECTS = 100_000
"""Objects allocated before a collection: almost all that starting allocates stays."""

UNWRITABLE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""How printing fails. Other users of descriptors wrap their errors."""


UNRECOGNIZED = "unrecognized arguments"
"""How argparse begins to say that it does not know an option."""

_LAST_WORDS = (
    "`holdfast` alone opens an overview of all sessions; without a terminal, `ls`.",
    "Run `holdfast VERB --help` for help on one verb.",
)

LITERAL = "\0--"
"""Stands for a `--` that is not a separator; no argument contains a NUL."""


class Parser(argparse.ArgumentParser):
    """argparse, with our exit status, and with control characters made visible."""

    def parse_words(self, words: list[str]) -> argparse.Namespace:
        """Accept options anywhere before `--`, and none after it.

        argparse by itself gives up on `NAME --option WORD…`. `-t NAME` stands for
        the session, which is the first of the others.
        """
        options: list[str] = []
        others: list[str] = []
        target: list[str] = []
        coming = iter(words)
        for word in coming:
            if word == "--":
                others.extend(coming)
            elif word == TARGET and not target and self._takes_session():
                target = [*itertools.islice(coming, 1)]
                if not target:
                    self.error(f"argument {TARGET}: expected a session")
            elif word.startswith("-") and word != "-":
                options.append(word)
                action = self._option_string_actions.get(word)
                if action is not None and action.nargs != 0:
                    options.extend(itertools.islice(coming, 1))
            else:
                others.append(word)
        others = target + others
        # argparse drops a `--` from each argument's values, even this one.
        kept = [LITERAL if word == "--" else word for word in others]
        found = self.parse_args([*options, "--", *kept] if kept else options)
        for name, value in vars(found).items():
            setattr(found, name, _restored(value))
        return found

    def _takes_session(self) -> bool:
        return any(one.dest in ("session", "sessions") for one in self._actions)

    def format_help(self) -> str:
        """Return the help; what a verb's page says is read only now."""
        _, _, verb = self.prog.partition(" ")
        if verb:
            from holdfast.cli import manual_pages  # noqa: PLC0415  # only for help

            manual_pages.describe(self, manual_pages.Page.of(verb))
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Report what is wrong with the arguments, and exit."""
        self.print_usage(sys.stderr)
        hint = ""
        if message.startswith(UNRECOGNIZED) and self._takes_command():
            hint = "Options of the command come after `--`.\n"
        self.exit(
            EXIT_STATUS[errors.UsageError],
            f"{self.prog}: {printable(message, MAX_SENTENCE)}\n"
            f"{hint}Try `{self.prog} --help`.\n",
        )

    def _takes_command(self) -> bool:
        return any(one.dest == "command" for one in self._actions)


def _restored(value: object) -> object:
    if isinstance(value, list):
        return [_restored(one) for one in value]
    return "--" if value == LITERAL else value


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status of the process.

    Only errors raised on purpose become a line. Anything else is a bug, and keeps its
    traceback.
    """
    _occupy_standard_descriptors()
    if arguments is None:  # Otherwise another process decides.
        gc.set_threshold(START_OBJECTS)
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        return unwritten(error)
    if arguments is None:
        # The interpreter looks for garbage once more when it ends; what is frozen
        # it leaves to the kernel, which takes it all at once.
        gc.freeze()
    return _flushed(status)


def module_of(verb: str) -> ModuleType:
    """Return the module that does what a verb asks for."""
    return importlib.import_module(f"holdfast.cli.verbs.{verb.replace('-', '_')}")


def _run(words: list[str]) -> int:
    try:
        words = _acting(words)
    except errors.UsageError as error:
        _complain(error, as_json=False)
        return EXIT_STATUS[errors.UsageError]
    words = [ALIASES.get(one, one) for one in words[:1]] + words[1:]
    if not words:
        if (status := _overview()) is not None:
            return status
        words = [ALONE]
    if words[0] not in VERBS and not words[0].startswith("-"):
        _refuse_verb(words[0])
    if words[0] not in VERBS:
        parser = _parser()
        parser.parse_args(words)
        parser.print_help()
        return EXIT_STATUS[errors.UsageError]
    verb = module_of(words[0])
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
    except errors.HoldfastError as error:
        _complain(error, as_json=getattr(options, "json", False))
        return _status(error)


def _refuse_verb(word: str) -> NoReturn:
    """Say that there is no such verb, and which may be meant."""
    import difflib  # noqa: PLC0415  # rarely needed

    near = difflib.get_close_matches(word.lower(), [*VERBS, *ALIASES])
    meant = f" Did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
    Parser(prog="holdfast").exit(
        EXIT_STATUS[errors.UsageError],
        f"holdfast: there is no verb {printable(word, 64)!r}.{meant}\n"
        "Try `holdfast --help`.\n",
    )


def _overview() -> int | None:
    """Show the overview, if there is a terminal for it; return the exit status."""
    if not (os.isatty(0) and os.isatty(1)):
        return None
    from holdfast.cli.overview import screen, start  # noqa: PLC0415  # only here

    return start.run() if screen.is_fit() else None


def _acting(words: list[str]) -> list[str]:
    """Handle `--as NAME` before the verb; return the words after it."""
    if not words or words[0].partition("=")[0] != AS:
        return words
    option, equals, name = words[0].partition("=")
    rest = words[1:] if equals else words[2:]
    if not equals and len(words) < 2:  # noqa: PLR2004  # the option and its name
        raise errors.MalformedArgument(option, "followed by an operator's name")
    from holdfast.client.own_name import VARIABLE  # noqa: PLC0415  # rarely needed

    os.environ[VARIABLE] = checked_name(name if equals else words[1])
    return rest


def _complain(error: errors.HoldfastError, *, as_json: bool) -> None:
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
    """Return a sentence with operators' names instead of their ids."""
    if "a_" not in sentence:
        return sentence
    from holdfast.cli.operator_names import Names  # noqa: PLC0415  # rarely needed

    return Names().told(sentence)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="holdfast",
        description="Terminal sessions that keep running while people come and go.",
        epilog="\n\n".join([*map(_group, GROUPS), *_LAST_WORDS]),
        formatter_class=Manual,
    )
    parser.add_argument(
        "--version", action="version", version=f"holdfast {__version__}"
    )
    parser.add_argument(
        AS,
        metavar="NAME",
        help="act as this operator (default: you, by your login name)",
    )
    parser.add_argument("verb", nargs="?", choices=VERBS, metavar="verb", help="below")
    return parser


def _group(title: str) -> str:
    short = {verb: f" (also: {one})" for one, verb in ALIASES.items()}
    verbs = [
        f"  {name:<14} {what}{short.get(name, '')}"
        for name, what in GROUPS[title].items()
    ]
    return "\n".join([f"{title}:", *verbs])


def _status(error: errors.HoldfastError) -> int:
    return next(
        (status for kind, status in EXIT_STATUS.items() if isinstance(error, kind)),
        EXIT_INTERNAL,
    )


def _occupy_standard_descriptors() -> None:
    """Reopen closed descriptors: else a socket gets number 1, and output goes there."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _flushed(status: int) -> int:
    """Flush the output; return the status, or that of a failed write."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return unwritten(error)
    return status


def unwritten(error: OSError) -> int:
    """Say that the output could not be written; return the exit status."""
    # The interpreter flushes once more when it ends, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return EXIT_UNREAD
    print(f"holdfast: cannot write: {error.strerror}", file=sys.stderr)
    return EXIT_OUTPUT
