"""Which commands would a shell make of this text, as far as the text tells?

Theory of operation
-------------------
A line is cut into simple commands at `;`, `&`, `|`, `&&` and `||`, and each of
them into words, with quotes and backslashes taken away. What is left open:

* A word with a variable, a wildcard or braces is None: it stands for any words, or
  for those that its OpenWord leaves open.
* A command with assignments or redirections is `altered`: its words are right,
  and do not say everything. simple_command says what else is told of a command.
* A command such as `sudo` or `env` `carries` another one in its words.
* A command such as `sh -c` or `eval` `hides` another one in a text.
* Where the text does not say what will run (an unfinished line, a control
  character, `$(`, a heredoc), there is one command, with a `doubt` and no words.

In the last three cases `sight` is what can be seen of words, with quotes, escape
sequences and punctuation taken away, for rules that want to find and not to know.

Invariants, checked by tests/core/test_command_line_properties.py:

I1  No bytes raise anything, and there is always at least one command.
I2  Words that are known are those that a POSIX shell would make of the text.
I3  No more than MAX_COMMANDS commands and MAX_WORDS words are ever returned.
"""

import re

from holdfast.core.globs import MAX_TEXT
from holdfast.core.open_words import ANYTHING, OpenWord
from holdfast.core.shell_grammar import Grammar
from holdfast.core.simple_command import (
    HERE,
    Assignment,
    Command,
    Redirection,
    Sight,
    Way,
)
from holdfast.model.text import printable

MAX_LINE = 4096
"""Characters that are read: a terminal keeps no more of a line than that."""

MAX_COMMANDS = 16
"""Commands in one line; each is judged by every rule."""

MAX_WORDS = 256
"""Words in one line, all commands together; each is held against every rule."""

MAX_PIECES = 512
"""Pieces kept in order, for patterns with wildcards and for sequences."""

_CARRIER = re.compile(
    r"-|and|begin|builtin|busybox|chroot|command|doas|env|exec|find|flock|ionice"
    r"|ltrace|nice|nocorrect|noglob|nohup|not|nsenter|or|pkexec|run0|setpriv|setsid|ssh|stdbuf"
    r"|strace|su|sudo|systemd-run|taskset|time|timeout|toybox|unshare|watch"
)
"""Programs that run another one, which their own words name."""

_HIDER = re.compile(r"alias|awk|eval|gawk|mawk|parallel|script|trap|xargs")
"""Programs that run, now or later, what one of their words or their input says."""

_INTERPRETER = re.compile(
    r"(?:ash|bash|csh|dash|fish|ksh|lua|node|perl|php|python|ruby|sh|tclsh|tcsh|zsh)"
    r"[0-9.]*"
)
_RESERVED = re.compile(
    r"!|\[\[|case|coproc|do|done|elif|else|end|esac|fi|for|foreach|function|if|in"
    r"|repeat|select|switch|then|until|while"
)
_MOVERS = frozenset({"cd", "chdir", "popd", "pushd", "z"})

_DUPLICATE = re.compile(r"[<>]&(?:[0-9]|-)", re.ASCII)
_WAYS = {"<": Way.READ, "<>": Way.BOTH, ">>": Way.APPEND, "&>>": Way.APPEND}

_TOKEN = re.compile(
    r"""(?P<blank>[ ]+)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\`!$]|\\.|\$(?![({'"]))*)"
    | \\(?P<escape>.)
    | (?P<open>\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*\#?$-])|[*?\[\]{}])
    | (?P<redirect>[0-9]*(?:>>|>\||>&|<>|<&|>|<(?!<))|&>>|&>)
    | (?P<join>&&|\|\||\|&|[;|&])
    | (?P<plain>[A-Za-z0-9_./:=,@%+^\#~-]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTING = frozenset({"single", "double", "escape"})
_SUBSTITUTION = "it runs a command inside another, or expands one"
_QUOTE = "a quote does not end, or holds a substitution"
_COMPOUND = "it is a compound command"
_REASONS = {
    "$": _SUBSTITUTION,
    "`": _SUBSTITUTION,
    "'": _QUOTE,
    '"': _QUOTE,
    "(": _COMPOUND,
    ")": _COMPOUND,
    "<": "it has a heredoc",
    "!": "it may repeat an earlier line",
    "\\": "it goes on in the next line",
}
"""Why reading stops at a character."""

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=", re.ASCII)
_UNESCAPE = re.compile(r'\\(["\\$`])')
_UNTYPED = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])?", re.DOTALL)
_QUOTES = re.compile(r"['\"\\]")
_BORDERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f;&|<>()$`{}!]+")
_INNER_BORDERS = re.compile(r"[,=:]+")


class _Unreadable(Exception):
    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def read_line(
    raw: bytes, grammar: Grammar = Grammar.UNKNOWN, *, ended: bool
) -> tuple[Command, ...]:
    """Return the commands of a line, as the shell of this grammar reads it.

    `ended` if it will be run without more bytes.
    """
    del grammar
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return (_doubtful(raw.decode("latin-1"), "it is not UTF-8"),)
    try:
        line = _one_line(text, ended=ended)
        commands = _Splitter(line).commands()
    except _Unreadable as error:
        return (_doubtful(text, error.why),)
    return commands or (Command(),)


def doubtful_line(raw: bytes, why: str) -> tuple[Command, ...]:
    """Return a line of which no more is known than what can be seen."""
    return (_doubtful(raw.decode("utf-8", "replace"), why),)


def sight_of(text: str) -> Sight:
    """Return what can be seen of words, quotes and escape sequences taken away."""
    bare = _QUOTES.sub("", _SEQUENCE.sub(" ", text))
    pieces = [piece for piece in _BORDERS.split(bare) if piece]
    parts = [part for piece in pieces for part in _INNER_BORDERS.split(piece)]
    names = [part.rsplit("/", 1)[-1] for part in parts]
    everything = [one for one in dict.fromkeys([*pieces, *parts, *names]) if one]
    distinct = tuple(everything[:MAX_PIECES])
    ordered = tuple(pieces[:MAX_PIECES])
    return Sight(ordered, distinct, "\n".join(distinct), frozenset(everything))


def _doubtful(text: str, why: str) -> Command:
    return Command(sight=sight_of(text), doubt=why, folders=())


def _one_line(text: str, *, ended: bool) -> str:
    line = text.removesuffix("\n").removesuffix("\r")
    if line == text and not ended:
        raise _Unreadable("the line is not finished")
    if "\n" in line or "\r" in line:
        raise _Unreadable("it has more than one line")
    if _UNTYPED.search(line):
        raise _Unreadable("it has control characters")
    if len(line) > MAX_LINE:
        raise _Unreadable(f"it is over {MAX_LINE} characters long")
    if line.startswith("^"):
        raise _Unreadable("it may repeat an earlier line")
    if not line.isascii() and printable(line, len(line)) != line:
        raise _Unreadable("it has characters that cannot be seen")
    return line


class _Splitter:
    """Collects words into commands while the tokens of one line go by."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._commands: list[Command] = []
        self._count = 0
        self._moved = False
        self._begin()

    def commands(self) -> tuple[Command, ...]:
        place = 0
        while place < len(self._line):
            token = _TOKEN.match(self._line, place)
            if token is None:
                raise _Unreadable(_reason(self._line[place]))
            self._take(str(token.lastgroup), token)
            place = token.end()
        self._end_command()
        return tuple(self._commands)

    def _begin(self) -> None:
        self._words: list[str | None] = []
        self._opens: list[OpenWord | None] = []
        self._redirections: list[Redirection] = []
        self._assignments: list[Assignment] = []
        self._touched: list[str | None] = []
        self._seen: list[str] = []
        self._redirected = ""
        self._word: list[str] | None = None
        self._is_open = False
        self._assigns = False
        self._has_quotes = self._is_quoted = False

    def _take(self, kind: str, token: re.Match[str]) -> None:
        match kind:
            case "blank":
                self._end_word()
            case "join":
                self._end_command()
            case "redirect":
                self._redirect(token[0])
            case "open":
                self._add(token[0], is_open=True)
            case "plain":
                self._add_plain(token[0])
            case "double":
                inside = token["double"]
                self._add(_UNESCAPE.sub(r"\1", inside), is_open="$" in inside)
            case _:
                self._add(token[kind], is_open=False)
        self._has_quotes = self._has_quotes or kind in _QUOTING

    def _add_plain(self, text: str) -> None:
        begins = self._word is None
        if begins and not self._words:
            self._assigns = _ASSIGNMENT.match(text) is not None
        # A tilde is a home folder; `=ls` is, in zsh, the path of a program.
        self._add(text, is_open=begins and text[0] in "~=")

    def _add(self, text: str, *, is_open: bool) -> None:
        self._word = [*(self._word or []), text]
        self._is_open = self._is_open or is_open

    def _redirect(self, operator: str) -> None:
        if self._word is not None and operator[0].isdigit():
            raise _Unreadable("a number stands between a quote and a redirection")
        self._end_word()
        if self._redirected:
            raise _Unreadable("a redirection leads nowhere")
        self._redirected = operator.lstrip("0123456789")

    def _end_word(self) -> None:
        if self._word is None:
            return
        text = "".join(self._word)
        word = None if self._is_open or len(text) > MAX_TEXT else text
        assigns, self._word = self._assigns, None
        self._is_open = self._assigns = False
        self._seen.append(text)
        self._count += 1
        if self._count > MAX_WORDS:
            raise _Unreadable(f"it has over {MAX_WORDS} words")
        if self._redirected:
            self._target(word)
        elif assigns:
            self._touched.append(word)
            name, _, value = text.partition("=")
            known = None if word is None else value
            self._assignments.append(Assignment(name.removesuffix("+"), known))
        else:
            self._is_quoted = self._is_quoted if self._words else self._has_quotes
            self._words.append(word)
            self._opens.append(ANYTHING if word is None else None)
        self._has_quotes = False

    def _target(self, word: str | None) -> None:
        way = _WAYS.get(self._redirected, Way.WRITE)
        if _DUPLICATE.fullmatch(f"{self._redirected}{word}"):
            way = Way.DUPLICATE
        elif self._redirected == "<&":
            way = Way.READ
        shape = ANYTHING if word is None else None
        self._redirections.append(Redirection(way, word, shape))
        self._touched.append(word)
        self._redirected = ""

    def _end_command(self) -> None:
        self._end_word()
        if self._redirected:
            raise _Unreadable("a redirection leads nowhere")
        if self._words or self._touched:
            self._commands.append(self._command())
        if len(self._commands) > MAX_COMMANDS:
            raise _Unreadable(f"it has over {MAX_COMMANDS} commands")
        self._begin()

    def _command(self) -> Command:
        words = tuple(self._words)
        first = words[0] if words else ""
        name = "" if first is None else first.rsplit("/", 1)[-1]
        if _RESERVED.fullmatch(name):
            raise _Unreadable(_COMPOUND)
        if not name.isascii():
            raise _Unreadable("the name of a command has letters outside ASCII")
        moved = self._moved
        # A first word that is not known may be any program, or none at all.
        carries = first is None or _CARRIER.fullmatch(name) is not None
        hides = _hides(name, words)
        self._moved = moved or carries or hides or name in _MOVERS
        known = [word for word in (*words, *self._touched) if word is not None]
        names = {name for word in known for name in (word, word.rsplit("/", 1)[-1])}
        return Command(
            words,
            tuple(self._opens),
            tuple(self._redirections),
            tuple(self._assignments),
            folders=() if moved else HERE,
            touched=tuple(self._touched),
            names=frozenset(names),
            joined="\n".join(names),
            # Looked at only where words alone do not tell what runs.
            sight=sight_of(" ".join(self._seen)) if carries or hides else Sight(),
            carries=carries,
            hides=hides,
            is_quoted=self._is_quoted,
        )


def _hides(name: str, words: tuple[str | None, ...]) -> bool:
    if _HIDER.fullmatch(name):
        return True
    if _INTERPRETER.fullmatch(name) is None:
        return False
    # What is in a file or a module is somebody's program, as `make` is; what is
    # in an option or comes through a pipe was chosen with this very line.
    argument = words[1] if len(words) > 1 else "-"
    return argument is None or (argument.startswith("-") and argument != "-m")


def _reason(character: str) -> str:
    foreign = "it has letters outside ASCII where no quotes are"
    return _REASONS.get(character, foreign)
