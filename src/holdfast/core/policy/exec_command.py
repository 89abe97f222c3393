"""An exec as a command, for rules about words.

Theory of operation
-------------------
At an exec nothing is left to guess: the words are those that the program gets,
no shell will change them, and whatever the program executes in turn is judged by
itself. So a program that only carries or hides another one, such as `env` or
`sh -c`, is judged as what it is. Those that run another one without an exec stay
carriers: `busybox`, and the loader of programs.

The first word is the program, and its caller may call it anything. Rules find it

    to allow             by the path that is executed; by its last part, if it is in
                         one of STANDARD, where only the administrator writes
    to deny or to ask    also by the last part of any path, by the name that the
                         program is told (argv[0]), and by the file behind a link

A copy under another name is none of these: names are not contents.

Invariants, checked by tests/core/policy/test_exec_command.py:

I1  What is not known of an exec is never sure to be allowed by a rule about words.
I2  No name that an exec has is passed over by a rule that denies or asks.
I3  Every command of an exec has its first word among `first_words`, and its names
    among `all_names`.
"""

import re

from holdfast.core.shell.globs import MAX_TEXT
from holdfast.core.shell.line_reader import MAX_WORDS
from holdfast.core.shell.line_sight import sight_of
from holdfast.core.shell.simple_command import Assignment, Command
from holdfast.model.policy_questions import Execution
from holdfast.model.resolutions import Link, Resolved, Sort

STANDARD = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)
"""Folders whose programs are known by their names, as every PATH has them."""

ELSEWHERE = "it runs among files of its own"
UNKNOWN = "which file it is could not be determined"

_UNSEEN = Command().sight
"""What is seen of a command that nobody needs to look at."""

_CARRIER = re.compile(r"busybox|toybox|ld\.so.*|ld[-0-9].*\.so.*|ld-musl-.*")
"""Programs that run another one, or a part of themselves, without an exec."""


def commands_of(execution: Execution) -> tuple[Command, ...]:
    """Return an exec as commands: rules allow it if they allow either."""
    if execution.is_elsewhere:
        text = " ".join(word or "" for word in _words(execution, execution.path))
        return (Command(sight=sight_of(text), doubt=ELSEWHERE, folders=()),)
    set_for_it = execution.variables
    found = [_command(_words(execution, execution.path), set_for_it)]
    folder, _, name = (execution.path or "").rpartition("/")
    if folder in STANDARD and name:
        found.append(_command(_words(execution, name), set_for_it))
    return tuple(found)


def other_names(execution: Execution) -> tuple[Command, ...]:
    """Return an exec under its other names, for rules that deny or ask."""
    given = execution.words[0] if execution.words else ""
    # A login shell is told its name with a dash before it. A file that is not
    # known may have any name.
    names = [None if given is None else given.lstrip("-"), execution.real]
    path = execution.path or ""
    # By the last part of its path it is found anyway.
    found = {"", path, path.rpartition("/")[2]}
    return tuple(
        _command(_words(execution, name))
        for name in dict.fromkeys(names)
        if name not in found
    )


def first_words(execution: Execution) -> frozenset[str] | None:
    """Return all first words of its commands, and what is behind their last slash.

    None if they do not say what runs: one is not known, or runs another program
    without an exec.
    """
    given = execution.words[0] if execution.words else ""
    path, real = execution.path, execution.real
    if execution.is_elsewhere or path is None or real is None or given is None:
        return None
    found = {path, real, given, given.lstrip("-")}
    found |= {one.rsplit("/", 1)[-1] for one in found}
    is_plain = not any(len(one) > MAX_TEXT or _CARRIER.fullmatch(one) for one in found)
    return frozenset(found) if is_plain else None


def all_names(execution: Execution, firsts: frozenset[str]) -> frozenset[str] | None:
    """Return the names of all words of its commands; None if one is not known."""
    words = execution.words[1:]
    if len(words) >= MAX_WORDS or None in words or execution.variables:
        return None
    known = [word for word in words if word is not None]
    if any(len(word) > MAX_TEXT for word in known):
        return None
    return firsts.union(known, [word.rsplit("/", 1)[-1] for word in known])


def resolved_of(execution: Execution) -> Resolved:
    """Return what an exec runs: its path, and the file behind that."""
    paths = dict.fromkeys((execution.path, execution.real))
    links = tuple(Link(Sort.PROGRAM, path) for path in paths if path is not None)
    doubt = UNKNOWN if None in paths else ""
    return Resolved(links, doubt=ELSEWHERE if execution.is_elsewhere else doubt)


def _words(execution: Execution, first: str | None) -> tuple[str | None, ...]:
    words = (first, *execution.words[1:])
    return tuple(
        None if word is None or len(word) > MAX_TEXT else word
        for word in words[:MAX_WORDS]
    ) + ((None,) if len(words) > MAX_WORDS else ())


def _command(words: tuple[str | None, ...], touched: tuple[str, ...] = ()) -> Command:
    known = [word for word in (*words, *touched) if word is not None]
    names = {name for word in known for name in (word, word.rsplit("/", 1)[-1])}
    first = words[0]
    name = "" if first is None else first.rsplit("/", 1)[-1]
    carries = first is None or _CARRIER.fullmatch(name) is not None
    return Command(
        words,
        assignments=tuple(map(_assignment, touched)),
        touched=touched,
        names=frozenset(names),
        joined="\n".join(names),
        sight=sight_of(" ".join(known)) if carries else _UNSEEN,
        carries=carries,
    )


def _assignment(variable: str) -> Assignment:
    name, equals, value = variable.partition("=")
    return Assignment(name, value if equals else None)
