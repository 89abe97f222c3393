"""The commands in a line of text, as far as the text shows them.

Theory of operation
-------------------
A line is read by the grammar of the shell that reads it: posix_line for bash, zsh and
dash, fish_line for fish. If nobody knows which it is, by all of them, and only what
they read alike counts. What comes out are the simple commands of the line, wherever
they stand in it; simple_command says what is told of each. What is left open:

* A word that is not spelled out is None; its OpenWord says what it may become.
* A command with assignments or redirections is `altered`: its words are right,
  and do not say everything.
* A command such as `sudo` or `env` `carries` another one in its words.
* A command such as `sh -c` or `eval` `hides` another one in a text.
* Where the text does not say what will run (an unfinished line, a control
  character, several lines but for heredocs), there is one command, with a `doubt`
  and no words.

In the last three cases `sight` is what can be seen of words, with quotes, escape
sequences and punctuation taken away, for rules that want to find and not to know.

Invariants, checked by tests/core/shell/test_command_line_properties.py and, against the
real shells, by tests/shells:

I1  No bytes raise anything, and there is always at least one command.
I2  Whatever runs or is written by the line is one of its commands, with words that
    are those it knows and, for the others, within what their OpenWords leave open.
I3  No more than MAX_COMMANDS commands and MAX_WORDS words are ever returned.
"""

import re

from holdfast.core.shell.fish_line import FishLine
from holdfast.core.shell.known_values import Values, hold, may_hold
from holdfast.core.shell.line_reader import NO_VALUES, SEVERAL, LineReader
from holdfast.core.shell.line_sight import sight_of
from holdfast.core.shell.posix_line import PosixLine
from holdfast.core.shell.shell_grammar import KNOWN, Grammar
from holdfast.core.shell.shell_lexeme import Unreadable
from holdfast.core.shell.simple_command import Command
from holdfast.model.text import printable

MAX_LINE = 4096
"""Characters that are read: a terminal keeps no more of a line than that."""

MAX_TEXT = 65536
"""Characters of a line and the heredocs behind it."""

_UNTYPED = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def read_line(
    raw: bytes,
    grammar: Grammar = Grammar.UNKNOWN,
    *,
    ended: bool,
    values: Values = NO_VALUES,
) -> tuple[Command, ...]:
    """Return the commands of a line, as the shell of this grammar reads it.

    `ended` if it will be run without more bytes; `values` are those of variables that
    are known at its prompt.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return (_doubtful(raw.decode("latin-1"), "it is not UTF-8"),)
    try:
        lines = _lines(text, ended=ended)
        commands = _read(lines, grammar, values)
    except Unreadable as error:
        return (_doubtful(text, error.why),)
    return commands or (Command(),)


def doubtful_line(raw: bytes, why: str) -> tuple[Command, ...]:
    """Return a line of which no more is known than what can be seen."""
    return (_doubtful(raw.decode("utf-8", "replace"), why),)


def _doubtful(text: str, why: str) -> Command:
    return Command(sight=sight_of(text), doubt=why, folders=())


def _lines(text: str, *, ended: bool) -> list[str]:
    """Return the line, and the lines behind it that may be heredocs."""
    whole = text.removesuffix("\n").removesuffix("\r")
    if whole == text and not ended:
        raise Unreadable("the line is not finished")
    if "\n" in whole and "\r" in whole:
        raise Unreadable(SEVERAL)  # Some of them may be ended twice.
    if len(whole) > MAX_TEXT:
        raise Unreadable(f"it is over {MAX_TEXT} characters long")
    lines = whole.replace("\r", "\n").split("\n")
    for line in lines:
        _check_typed(line)
    if lines[0].startswith("^"):
        raise Unreadable("it may repeat an earlier line")
    return lines


def _check_typed(line: str) -> None:
    if _UNTYPED.search(line):
        raise Unreadable("it has control characters")
    if len(line) > MAX_LINE:
        raise Unreadable(f"it is over {MAX_LINE} characters long")
    if not line.isascii() and printable(line, len(line)) != line:
        raise Unreadable("it has characters that cannot be seen")


def _read(lines: list[str], grammar: Grammar, values: Values) -> tuple[Command, ...]:
    if grammar is not Grammar.UNKNOWN:
        reader = _reader(lines, grammar)
        if not may_hold(lines[0], values):
            return reader.commands()
        reader.values = values
        commands = reader.commands()
        return commands if hold(commands) else _reader(lines, grammar).commands()
    first, *others = (_reader(lines, one).commands() for one in KNOWN)
    if any(other != first for other in others):
        raise Unreadable("not every shell reads it alike")
    return first


def _reader(lines: list[str], grammar: Grammar) -> LineReader:
    kind = FishLine if grammar is Grammar.FISH else PosixLine
    return kind(lines[0], grammar, lines[1:])
