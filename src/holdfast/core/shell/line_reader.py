"""How simple commands are combined in a line, for every shell.

Theory of operation
-------------------
A line is read from left to right, once. Lists, `&&`, `||` and pipelines are the same
in all shells and are read here; words and compound commands are not, and are read by
the reader of each family (posix_line, fish_line). Each simple command that is met is
written down, wherever it stands; what surrounds it tells in which folders it may run,
and whether it may run again after what follows it.

Whatever a reader does not know makes it stop with Unreadable: it never guesses.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from holdfast.core.shell.command_names import carries_another, hides_another
from holdfast.core.shell.line_folders import ANYWHERE, Outcome, led, still, united
from holdfast.core.shell.line_sight import NO_SIGHT, sight_of
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.shell_lexeme import Lexeme, LexemeBuilder, Unreadable
from holdfast.core.shell.simple_command import (
    HERE,
    Assignment,
    Command,
    Redirection,
    Way,
)

MAX_COMMANDS = 16
"""Commands in one line; each is judged by every rule."""

MAX_WORDS = 256
"""Words in one line, all commands together; each is held against every rule."""

MAX_NESTED = 8
"""Compound commands and substitutions inside one another."""

COMPOUND = "it is a compound command"
NOWHERE = "a redirection leads nowhere"
EMPTY = "a command is missing"
SEVERAL = "it has more than one line"
FOREIGN = "it has letters outside ASCII where no quotes are"

_BLANKS = re.compile(r"[ \t]*")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_SPECIAL = frozenset(
    {
        *("aliases", "argv", "auto_resume", "builtins", "cdpath", "commands"),
        *("dirstack", "fignore", "fpath", "functions", "galiases", "histchars"),
        *("history", "hostname", "jobstates", "jobtexts", "mailpath", "manpath"),
        *("module_path", "modules", "nameddirs", "options", "parameters", "path"),
        *("pipestatus", "prompt", "psvar", "saliases", "signals", "status"),
        *("umask", "userdirs", "version", "watch", "zsh_eval_context"),
    }
)
"""Names in small letters that mean something to a shell or to programs."""

_SETTERS = frozenset(
    {
        *("declare", "export", "getopts", "let", "local", "mapfile", "printf"),
        *("read", "readarray", "readonly", "set", "typeset", "unset", "vared", "."),
        *("eval", "source", "builtin", "command", "wait", "integer", "float"),
    }
)
"""Builtins that may set a variable that their words name."""


NAMES = OpenWord(has_slash=False, files=("", ""))
"""Any number of words, none of which has a slash in it."""

Part = Callable[[Any, LexemeBuilder], None]
"""A method that reads a part of a word."""

NO_VALUES: Mapping[str, str] = {}

Variables = dict[str, OpenWord]
"""What the variables of the loops around here may be."""


@dataclass(slots=True)
class Parts:
    """What has been read of one simple command."""

    words: list[Lexeme] = field(default_factory=list)
    assignments: list[tuple[Assignment, str | None]] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been read."""
        return not (self.words or self.assignments or self.redirections)


class LineReader(ABC):
    """Reads one line by one grammar."""

    joins: re.Pattern[str]
    """What joins commands or ends one, at this place."""

    keywords: re.Pattern[str]
    """Words of the grammar, at this place."""

    plain: re.Pattern[str]
    """Letters of a word that stand for themselves."""

    parts: ClassVar[Mapping[str, Part]]
    """What reads the part of a word that begins with this letter."""

    begins_with_redirections = True
    """Whether a redirection may stand before the first word."""

    def __init__(
        self, line: str, grammar: Grammar, following: Sequence[str] = ()
    ) -> None:
        self.line = line
        self.following = [*following]
        """Lines behind it that no heredoc of it has taken yet."""

        self.whole = line
        self.grammar = grammar
        self.place = 0
        self.here: tuple[str, ...] = HERE
        self.variables: Variables = {}
        self.values: Mapping[str, str] = NO_VALUES
        """What variables are for all of the line (core.shell.known_values)."""

        self._found: list[Command] = []
        self._keywords: set[str] = set()
        self._count = 0
        self._nested = 0

    def commands(self) -> tuple[Command, ...]:
        """Return every simple command of the line.

        Raises:
            Unreadable: The text does not tell what will run.

        """
        self.skip_blanks()
        if self.place < len(self.line):
            self.read_list(frozenset())
            self.expect_end()
        if self.following:
            raise Unreadable(SEVERAL)
        if not self._keywords:
            return tuple(self._found)
        keywords = frozenset(self._keywords)
        return tuple(replace(one, keywords=keywords) for one in self._found)

    # ── to be read by each family ─────────────────────────────────────────

    @abstractmethod
    def read_word(self) -> Lexeme:
        """Read one word."""

    @abstractmethod
    def read_redirection(self) -> Redirection | None:
        """Read one redirection, if one stands here."""

    @abstractmethod
    def read_compound(self, keyword: str) -> Outcome:
        """Read the compound command that this keyword begins."""

    @abstractmethod
    def read_inside(self, word: LexemeBuilder) -> None:
        """Read the next part of what stands in double quotes."""

    @abstractmethod
    def why_unreadable(self, character: str) -> str:
        """Say why no word goes on with this letter."""

    @abstractmethod
    def is_assignment(self, word: Lexeme) -> bool:
        """Tell whether a word before all others sets a variable."""

    @abstractmethod
    def check(self, words: list[Lexeme]) -> None:
        """Raise if the shell itself evaluates what a word holds."""

    # ── parts of a word ───────────────────────────────────────────────────

    def read_part(self, word: LexemeBuilder) -> None:
        """Read the next part of a word."""
        plain = self.plain.match(self.line, self.place)
        if plain is not None:
            self.place = plain.end()
            word.add(plain[0])
            return
        character = self.line[self.place]
        read = self.parts.get(character)
        if read is None:
            raise Unreadable(self.why_unreadable(character))
        read(self, word)

    def read_double(self, word: LexemeBuilder) -> None:
        """Read what stands in double quotes."""
        self.place += 1
        word.add("", is_quoted=True)
        while not self.line.startswith('"', self.place):
            self.read_inside(word)
        self.place += 1

    def read_glob(self, word: LexemeBuilder) -> None:
        """Read a wildcard."""
        is_deep = self.line.startswith("**", self.place)
        self.place += 2 if is_deep else 1
        word.gap(ANYTHING if is_deep else NAMES)

    # ── lists ─────────────────────────────────────────────────────────────

    def read_list(self, stops: frozenset[str]) -> Outcome:
        """Read commands up to one of the words that may follow them."""
        outcome = still(self.here)
        is_first = True
        while True:
            self.skip_blanks()
            if not is_first and self._is_at_stop(stops):
                return outcome
            is_first = False
            begun = self.here
            outcome = self._read_and_or()
            joint = self._joint()
            if joint == "&":
                changed = outcome != still(begun)
                outcome = still(ANYWHERE if changed else begun)
            self.here = outcome.either
            if joint not in (";", "&", "\n"):
                return outcome
            self.place += len(joint)

    def _read_and_or(self) -> Outcome:
        left = self._read_pipeline()
        while (joint := self._joint()) in ("&&", "||"):
            self.place += len(joint)
            self.here = left.yes if joint == "&&" else left.no
            right = self._read_pipeline()
            if joint == "&&":
                left = Outcome(right.yes, united(left.no, right.no))
            else:
                left = Outcome(united(left.yes, right.yes), right.no)
        return left

    def _read_pipeline(self) -> Outcome:
        begun = self.here
        outcomes = [self._read_statement()]
        while (joint := self._joint()) in ("|", "|&"):
            self.place += len(joint)
            self.here = begun
            outcomes.append(self._read_statement())
        if len(outcomes) == 1:
            return outcomes[0]
        # Which part of a pipeline runs in the shell itself differs.
        stays = all(outcome == still(begun) for outcome in outcomes)
        return still(begun if stays else ANYWHERE)

    def _read_statement(self) -> Outcome:
        self.skip_blanks()
        keyword = self.peek_keyword()
        return self.read_compound(keyword) if keyword else self.read_simple()

    def _joint(self) -> str:
        found = self.joins.match(self.line, self.place)
        return "" if found is None else found[0]

    def _is_at_stop(self, stops: frozenset[str]) -> bool:
        if self.place >= len(self.line):
            return True
        return self.peek_keyword() in stops

    # ── what compound commands are made of ────────────────────────────────

    def peek_keyword(self) -> str:
        """Return the word of the grammar that stands here; empty if none does."""
        found = self.keywords.match(self.line, self.place)
        return "" if found is None else found[0]

    def read_words(self) -> list[Lexeme]:
        """Read words up to the end of a part of a compound command."""
        words: list[Lexeme] = []
        while not self._is_at_end_of_command():
            self.count()
            words.append(self.read_word())
        self.take_break()
        return words

    def take_keyword(self, *wanted: str) -> str:
        """Pass over one of these words of the grammar."""
        self.skip_blanks()
        keyword = self.peek_keyword()
        if keyword not in wanted:
            raise Unreadable(COMPOUND)
        self._keywords.add(keyword)
        self.place += len(keyword)
        return keyword

    def take_break(self) -> None:
        """Pass over the `;` or the new line after a part of a compound command."""
        if self._joint() not in (";", "\n"):
            raise Unreadable(COMPOUND)
        self.place += 1

    def expect_end(self) -> None:
        """Raise if the line goes on here."""
        self.skip_blanks()
        if self.place < len(self.line):
            raise Unreadable(COMPOUND)

    def enter(self) -> int:
        """Begin something inside; return which command is its first."""
        self._nested += 1
        if self._nested > MAX_NESTED:
            raise Unreadable("it is nested too deeply")
        return len(self._found)

    def leave_word(self) -> None:
        """End what stands inside a word."""
        self._nested -= 1
        self.skip_blanks()

    def leave(self, first: int, *, is_loop: bool = False) -> None:
        """End it: redirections behind it are those of its first command."""
        self._nested -= 1
        redirections = self._read_redirections()
        if redirections and first == len(self._found):
            raise Unreadable(COMPOUND)
        if redirections:
            self._found[first] = _redirected(self._found[first], redirections)
        if is_loop:
            self._found[first:] = [
                replace(one, again=True) for one in self._found[first:]
            ]

    def settle(
        self, first: int, begun: tuple[str, ...], ended: tuple[str, ...]
    ) -> None:
        """End a loop: what runs again may run where the last round ended."""
        if united(begun, ended) == begun:
            self.here = begun
            return
        self.here = ANYWHERE
        self._found[first:] = [
            replace(one, folders=ANYWHERE) for one in self._found[first:]
        ]

    def loop_variable(self, name: Lexeme) -> str:
        """Return the variable of a loop, if it is one that nothing else looks at."""
        text = name.text or ""
        is_own = name.is_bare and _NAME.fullmatch(text) is not None
        means = text in _SPECIAL or "proxy" in text or text.startswith(("fish", "zle"))
        means = means or text.endswith("_functions")  # hooks of zsh
        if not is_own or means or text in self.variables:
            raise Unreadable("a loop sets a variable that may mean something")
        return text

    # ── simple commands ───────────────────────────────────────────────────

    def read_simple(self) -> Outcome:
        """Read a command with its words, assignments and redirections."""
        parts = Parts()
        while not self._is_at_end_of_command():
            redirection = self.read_redirection()
            if redirection is not None:
                if not parts.words and not self.begins_with_redirections:
                    raise Unreadable(EMPTY)
                self.count()
                parts.redirections.append(redirection)
            elif not parts.words and self.peek_keyword():
                # Shells differ in what a word of the grammar is to them here.
                raise Unreadable(COMPOUND)
            else:
                self._take_word(parts, self.read_word())
        if parts.is_empty:
            raise Unreadable(EMPTY)
        return self._write_down(parts)

    def _is_at_end_of_command(self) -> bool:
        self.skip_blanks()
        if self.place >= len(self.line) or self.line[self.place] == ")":
            return True
        return self.joins.match(self.line, self.place) is not None

    def _take_word(self, parts: Parts, word: Lexeme) -> None:
        parts.seen.append(word.seen)
        if not parts.words and self.is_assignment(word):
            self.count()
            name, _, value = (word.text or word.prefix).partition("=")
            known = None if word.text is None else value
            name = name.removesuffix("+")
            parts.assignments.append((Assignment(name, known), word.text))
            return
        for _ in word.texts or (None,):
            self.count()
        parts.words.append(word)

    def add_home(self, word: LexemeBuilder, tilde: str) -> None:
        """Add what stands for a tilde at the beginning of a word."""
        home = self.values.get("HOME")
        following = self.line[self.place : self.place + 1]
        if home is not None and tilde == "~" and following in ("", *"/ \t;|&<>)"):
            word.add(home, is_quoted=True)
        else:
            word.gap(OpenWord(is_one=True))

    def count(self) -> None:
        """Take note of one more word."""
        self._count += 1
        if self._count > MAX_WORDS:
            raise Unreadable(f"it has over {MAX_WORDS} words")

    def skip_blanks(self) -> None:
        """Pass over blanks, and over a comment."""
        found = _BLANKS.match(self.line, self.place)
        self.place = self.place if found is None else found.end()
        if self.line.startswith("#", self.place):
            self.skip_comment()

    def skip_comment(self) -> None:
        """Pass over a comment, to the end of its line."""
        end = self.line.find("\n", self.place)
        self.place = len(self.line) if end < 0 else end

    def _read_redirections(self) -> list[Redirection]:
        found: list[Redirection] = []
        self.skip_blanks()
        while (redirection := self.read_redirection()) is not None:
            self.count()
            found.append(redirection)
            self.skip_blanks()
        return found

    def _write_down(self, parts: Parts) -> Outcome:
        self._check_setters(parts)
        self.check(parts.words)
        command = _command(parts, self.here)
        name = _last_part(command.words[0]) if command.words else ""
        if not name.isascii():
            raise Unreadable("the name of a command has letters outside ASCII")
        if name.startswith("%"):
            raise Unreadable("it is a job")
        self._found.append(command)
        if len(self._found) > MAX_COMMANDS:
            raise Unreadable(f"it has over {MAX_COMMANDS} commands")
        return led(command.words, self.here, self.grammar)

    def _check_setters(self, parts: Parts) -> None:
        """Raise if a command may change the variable of a loop that it is in."""
        if not self.variables:
            return
        named = {assignment.name for assignment, _ in parts.assignments}
        first = parts.words[0].text if parts.words else ""
        if first is None or first in _SETTERS:
            for word in parts.words[1:]:
                named.update(self.variables if word.open else word.texts)
        if any(name in one for name in self.variables for one in named):
            raise Unreadable("it may change the variable of a loop")


def _command(parts: Parts, here: tuple[str, ...]) -> Command:
    words: list[str | None] = []
    opens: list[OpenWord | None] = []
    for word in parts.words:
        words += word.texts or (None,)
        opens += [word.open] * max(1, len(word.texts))
    touched = (
        *(text for _, text in parts.assignments),
        *_targets(parts.redirections),
    )
    name = _last_part(words[0]) if words else ""
    carries = carries_another(name, words)
    hides = hides_another(name, words)
    seen = [*parts.seen, *(one.target or "" for one in parts.redirections)]
    names = _names((*words, *touched))
    return Command(
        tuple(words),
        tuple(opens),
        tuple(parts.redirections),
        tuple(assignment for assignment, _ in parts.assignments),
        folders=here,
        touched=touched,
        names=frozenset(names),
        joined="\n".join(names),
        # Looked at only where words alone do not tell what runs.
        sight=sight_of(" ".join(seen)) if carries or hides else NO_SIGHT,
        carries=carries,
        hides=hides,
        is_quoted=bool(parts.words) and parts.words[0].has_quotes,
    )


def _redirected(command: Command, more: list[Redirection]) -> Command:
    touched = (*command.touched, *_targets(more))
    names = _names((*command.words, *touched))
    return replace(
        command,
        redirections=(*command.redirections, *more),
        touched=touched,
        names=frozenset(names),
        joined="\n".join(names),
    )


def _targets(redirections: list[Redirection]) -> list[str | None]:
    """Return what redirections name; the text of a heredoc is no name."""
    return [one.target for one in redirections if one.way is not Way.DOCUMENT]


def _names(words: tuple[str | None, ...]) -> dict[str, None]:
    """Return every word that is known, and its part after the last slash."""
    known = [word for word in words if word is not None]
    return dict.fromkeys(
        name for word in known for name in (word, word.rsplit("/", 1)[-1])
    )


def _last_part(word: str | None) -> str:
    return "" if word is None else word.rsplit("/", 1)[-1]
