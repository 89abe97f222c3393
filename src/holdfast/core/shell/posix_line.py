"""The simple commands that bash, zsh and dash find in a line.

Compound commands are read where the three agree: `if`, `while`, `until`, `for … in`,
`case`, `{ … }`, `( … )` and `!`. Everything else that has a word of its own in one of
them (`[[`, `function`, `select`, `coproc`, `repeat`, zsh's short forms) is Unreadable.
"""

import re
from collections.abc import Sequence

from holdfast.core.shell.evaluated_words import may_run_a_word
from holdfast.core.shell.line_folders import Outcome, still, united
from holdfast.core.shell.line_reader import COMPOUND
from holdfast.core.shell.open_words import OpenWord
from holdfast.core.shell.posix_words import SUBSTITUTION, PosixWords
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.shell_lexeme import Lexeme, Unreadable

_KEYWORD = re.compile(
    r"(?:!|\[\[|\{|\}|case|coproc|do|done|elif|else|end|esac|fi|for|foreach|function|if"
    r"|in|repeat|select|then|until|while)(?=[ \t\n;&|()<>]|$)|[()]|;;"
)
_JOINS = re.compile(r"&&|\|\||;;|\|&|[;|\n]|&(?!>)")
_JOINS_OF_DASH = re.compile(r"&&|\|\||;;|[;|\n&]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

_BEFORE = frozenset({"-", "builtin", "command", "exec", "nocorrect", "noglob", "time"})
"""Words of zsh after which there may be no command."""


class PosixLine(PosixWords):
    """Reads a line as bash, zsh or dash does."""

    keywords = _KEYWORD

    def __init__(
        self, line: str, grammar: Grammar, following: Sequence[str] = ()
    ) -> None:
        super().__init__(line, grammar, following)
        self.joins = _JOINS_OF_DASH if grammar is Grammar.DASH else _JOINS

    def is_assignment(self, word: Lexeme) -> bool:
        """Tell whether a word before all others sets a variable."""
        if word.has_bracket and _NAME.fullmatch(word.prefix):
            raise Unreadable("it may set an element of an array")
        return _ASSIGNMENT.match(word.prefix) is not None

    def check(self, words: list[Lexeme]) -> None:
        """Raise if the shell itself evaluates what a word holds."""
        self._check_nothing(words)
        if may_run_a_word(words, self.grammar):
            raise Unreadable("the shell may run what one of its words says")

    def _check_nothing(self, words: list[Lexeme]) -> None:
        if self.grammar is Grammar.ZSH and {one.text for one in words} <= _BEFORE:
            # With a redirection alone zsh runs a program, such as cat.
            raise Unreadable("it has no command")
        if words and len(words[0].texts) > 1 and self.grammar is Grammar.ZSH:
            raise Unreadable("how zsh expands a brace is not clear")

    # ── compound commands ─────────────────────────────────────────────────

    def read_compound(self, keyword: str) -> Outcome:
        """Read the compound command that this keyword begins."""
        match keyword:
            case "!":
                self.take_keyword("!")
                yes, no = self._read_statement()
                return Outcome(no, yes)
            case "(" | "{":
                return self._read_group(keyword)
            case "if":
                return self._read_if()
            case "while" | "until" | "for":
                return self._read_loop(keyword)
            case "case":
                return self._read_case()
            case _:
                raise Unreadable(COMPOUND)

    def read_nested(self, closer: str) -> None:
        """Read commands inside a word up to what closes them."""
        here = self.here
        following, self.following = self.following, []
        self.enter()
        self.read_list(frozenset({closer} - {""}))
        self.leave_word()
        self.following = following
        if self.line[self.place : self.place + 1] != closer:
            raise Unreadable(SUBSTITUTION)
        self.place += len(closer)
        self.here = here

    def _read_group(self, opener: str) -> Outcome:
        here = self.here
        first = self.enter()
        self.take_keyword(opener)
        if opener == "(" and self.line.startswith("(", self.place):
            raise Unreadable(COMPOUND)
        closer = ")" if opener == "(" else "}"
        outcome = self.read_list(frozenset({closer}))
        self.take_keyword(closer)
        self.leave(first)
        if opener == "(":
            self.here = here
            return still(here)
        return outcome

    def _read_if(self) -> Outcome:
        first = self.enter()
        self.take_keyword("if")
        ends: list[Outcome] = []
        while True:
            asked = self.read_list(frozenset({"then"}))
            self.take_keyword("then")
            self.here = asked.yes
            ends.append(self.read_list(frozenset({"elif", "else", "fi"})))
            self.here = asked.no
            keyword = self.take_keyword("elif", "else", "fi")
            if keyword == "elif":
                continue
            if keyword == "else":
                ends.append(self.read_list(frozenset({"fi"})))
                self.take_keyword("fi")
            else:
                ends.append(still(asked.no))
            break
        self.leave(first)
        return _any(ends)

    def _read_loop(self, keyword: str) -> Outcome:
        begun = self.here
        first = self.enter()
        self.take_keyword(keyword)
        name = ""
        if keyword == "for":
            name = self._read_for()
        else:
            asked = self.read_list(frozenset({"do"}))
            self.here = asked.either
        self.take_keyword("do")
        ended = self.read_list(frozenset({"done"}))
        self.take_keyword("done")
        self.variables.pop(name, None)
        self.leave(first, is_loop=True)
        self.settle(first, begun, united(self.here, ended.either))
        return still(self.here)

    def _read_for(self) -> str:
        self.skip_blanks()
        name = self.loop_variable(self.read_word())
        self.take_keyword("in")
        self.variables[name] = value_of(self.read_words())
        self.skip_blanks()
        return name

    def _read_case(self) -> Outcome:
        first = self.enter()
        self.take_keyword("case")
        self.skip_blanks()
        self.read_word()
        self.take_keyword("in")
        begun = self.here
        ends = [still(begun)]
        while True:
            self.skip_blanks()
            if self.peek_keyword() == "esac":
                break
            self._read_patterns()
            self.here = begun
            self.skip_blanks()
            if self.peek_keyword() not in (";;", "esac"):
                ends.append(self.read_list(frozenset({";;", "esac"})))
            if self.peek_keyword() == ";;":
                self.take_keyword(";;")
        self.take_keyword("esac")
        self.leave(first)
        return _any(ends)

    def _read_patterns(self) -> None:
        if self.line.startswith("(", self.place):
            self.place += 1
        while True:
            self.skip_blanks()
            self.count()
            self.read_word()
            self.skip_blanks()
            following = self.line[self.place : self.place + 1]
            self.place += 1
            if following == ")":
                return
            if following != "|":
                raise Unreadable(COMPOUND)


def value_of(words: list[Lexeme]) -> OpenWord:
    """Return what the variable of a loop over these words may be."""
    if len(words) == 1 and words[0].open is not None:
        one = words[0].open
        return OpenWord(one.head, one.tail, one.has_slash, is_one=True, files=one.files)
    opens = [word.open for word in words if word.open is not None]
    texts = [text for word in words for text in word.texts]
    ends = [*texts, *(end for one in opens for end in (one.head, one.tail))]
    slash = any("/" in end for end in ends) or any(one.has_slash for one in opens)
    return OpenWord(has_slash=slash, is_one=True)


def _any(ends: list[Outcome]) -> Outcome:
    yes, no = ends[0]
    for end in ends[1:]:
        yes, no = united(yes, end.yes), united(no, end.no)
    return Outcome(yes, no)
