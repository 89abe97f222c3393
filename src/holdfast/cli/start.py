"""Entry point: runs common commands before the rest is loaded.

To load the command line takes longer than all that `attach` has to do before the
session is shown. So the verbs that people and agents use all day begin with a small
part of it, which loads next to nothing, does what is usual, and leaves the rest to
`main`: that goes on where it ended, or begins where it could not (ADR 0037).

It has no rules of its own. What it cannot do as usual it does not do at all.
"""

import os
import sys

from holdfast.wire.first_messages import NotOneOfThese

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NUMBER_OF_DESCRIPTORS = 3

TARGET = frozenset({"-t"})
"""What names a session; as in `main`."""

EXIT_INTERRUPTED = 130
"""As in `main`."""


class Printed(str):
    """What a command prints that has an exit status of its own."""

    __slots__ = ("status",)

    status: int


def main() -> int:
    """Run the command that the process was started for; return its exit status."""
    words = sys.argv[1:]
    if words and words[0] in EARLY and _has_descriptors():
        try:
            said = _begun(EARLY[words[0]], words[1:])
        except KeyboardInterrupt:
            return EXIT_INTERRUPTED
        if said is not None:
            _end(said)
    if not words and _has_descriptors() and os.isatty(0) and os.isatty(1):
        from holdfast.cli.overview import screen, start  # noqa: PLC0415  # only here

        if screen.is_fit():
            return start.run()
    from holdfast.cli.main import main as run  # noqa: PLC0415  # slow to load

    return run()


def _begun(
    verb: "Callable[[Sequence[str]], str | None]", words: "Sequence[str]"
) -> str | None:
    """Begin; return what to print if that was all, or None if the rest is needed."""
    try:
        return verb(words)
    except NotOneOfThese:
        return None
    except Exception as error:
        # The ordinary way reports it. A bug is not reported.
        from holdfast.model.errors import HoldfastError  # noqa: PLC0415  # slow to load

        if not isinstance(error, OSError | HoldfastError):
            raise
        return None


def _end(said: str) -> None:
    """Print what there is to say, and end the process, which has nothing to undo."""
    try:
        sys.stdout.write(said)
        sys.stdout.flush()
    except OSError as error:
        from holdfast.cli.main import unwritten  # noqa: PLC0415  # slow to load

        os._exit(unwritten(error))
    os._exit(said.status if isinstance(said, Printed) else 0)


def _has_descriptors() -> bool:
    """Tell whether the standard descriptors are open; else sockets would get them."""
    try:
        for fd in range(NUMBER_OF_DESCRIPTORS):
            os.fstat(fd)
    except OSError:
        return False
    return True


def _split(
    words: "Sequence[str]",
    flags: frozenset[str],
    values: frozenset[str] = frozenset(),
) -> "tuple[dict[str, str], list[str]] | None":
    """Return options, some with values, and other words; None if there are more.

    Options stand anywhere up to `--`, as in `main`.
    """
    given: dict[str, str] = {}
    others: list[str] = []
    coming = iter(words)
    for word in coming:
        if word == "--":
            others.extend(coming)
        elif word in flags:
            given[word] = ""
        elif word in values:
            value = next(coming, "-")
            if value.startswith("-"):
                return None
            given[word] = value
        elif word.startswith("-") and word != "-":
            return None
        else:
            others.append(word)
    return given, others


def _named(
    words: "Sequence[str]", flags: frozenset[str]
) -> "tuple[dict[str, str], str] | None":
    """Return options and the session; None if there is more or less."""
    split = _split(words, flags, TARGET)
    if split is None:
        return None
    given, others = split
    others = [*([given.pop("-t")] if "-t" in given else []), *others]
    return (given, others[0]) if len(others) == 1 else None


def _attach(words: "Sequence[str]") -> str | None:
    if (asked := _named(words, frozenset({"--observe"}))) is not None:
        from holdfast.cli.early_attach import attach  # noqa: PLC0415  # only here

        attach(asked[1], observes=bool(asked[0]))
    return None


def _state(words: "Sequence[str]") -> str | None:
    if (asked := _named(words, frozenset({"--json"}))) is None:
        return None
    from holdfast.cli.early_answers import state  # noqa: PLC0415  # only here

    return _line(state(asked[1], as_json=bool(asked[0])))


def _screen(words: "Sequence[str]") -> str | None:
    if (asked := _named(words, frozenset())) is None:
        return None
    from holdfast.cli.early_answers import screen  # noqa: PLC0415  # only here

    return _line(screen(asked[1]))


def _send(words: "Sequence[str]") -> str | None:
    split = _split(words, frozenset({"--enter", "--json"}))
    if split is None or not split[1]:
        return None
    from holdfast.cli.early_answers import send  # noqa: PLC0415  # only here

    given, (name, *text) = split
    # Words that are not UTF-8 arrive as they were written.
    payload = os.fsencode(" ".join(text)) + b"\r" * ("--enter" in given)
    return send(name, payload, as_json="--json" in given)


def _end_session(words: "Sequence[str]") -> str | None:
    split = _split(words, frozenset())
    if split is None or len(split[1]) != 1:
        return None
    from holdfast.cli.early_answers import end  # noqa: PLC0415  # only here

    return end(split[1][0])


def _run(words: "Sequence[str]") -> str | None:
    split = _split(words, frozenset())
    if split is None or len(split[1]) < 2:  # noqa: PLR2004  # where, and what
        return None
    from holdfast.cli.early_run import run  # noqa: PLC0415  # only here

    _, (name, *command) = split
    found = run(name, command)
    if found is None:
        return None
    said = Printed(found[0])
    said.status = found[1]
    return said


def _ls(words: "Sequence[str]") -> str | None:
    if words:
        return None
    from holdfast.cli.early_list import table  # noqa: PLC0415  # only here

    return table()


def _new(words: "Sequence[str]") -> str | None:
    flags = frozenset({"--detach", "-d", "--json", "--capsule"})
    split = _split(words, flags, frozenset({"--name", "-n"}))
    if split is None:
        return None
    from holdfast.cli.early_new import new  # noqa: PLC0415  # only here
    from holdfast.cli.new_request import NewOptions  # noqa: PLC0415  # only here

    given, command = split
    options = NewOptions(command, given.get("--name", given.get("-n")))
    options.capsule = "--capsule" in given
    detach = "--detach" in given or "-d" in given
    return new(options, detach=detach, as_json="--json" in given)


def _line(said: str | None) -> str | None:
    return None if said is None else f"{said}\n"


EARLY: "dict[str, Callable[[Sequence[str]], str | None]]" = {
    "a": _attach,
    "attach": _attach,
    "end": _end_session,
    "list": _ls,
    "ls": _ls,
    "new": _new,
    "run": _run,
    "screen": _screen,
    "send": _send,
    "state": _state,
}
"""What can be begun early, by its verb."""
