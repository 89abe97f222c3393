r"""The simple commands that fish finds in a line.

fish is not a POSIX shell. The differences that would mislead a POSIX reader most:

* Outside of quotes a backslash may stand for another character: `\x72m` is `rm`.
* In single quotes `\'` is a quote and `\\` a backslash.
* `(…)` is a substitution, and runs in the shell itself: `cd` in it moves the shell.
* A variable is not split at blanks; it may be any number of words.
* `&` inside a word is a letter; `and`, `or`, `not`, `begin`, `end` are its grammar.
* A folder may stand as a command, and is changed to.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from holdfast.core.shell import line_reader
from holdfast.core.shell.line_folders import ANYWHERE, Outcome, still, united
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.posix_line import value_of
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.shell_lexeme import Lexeme, LexemeBuilder, Unreadable
from holdfast.core.shell.simple_command import Redirection, Way

_ESCAPE = "it has an escape that cannot be decoded"
_SUBSTITUTION = "it runs a command inside another, or expands one"
_QUOTE = "a quote does not end, or holds a substitution"

_ENDS = frozenset(" \t\n;|&<>)")
_SINGLE = re.compile(r"'((?:[^'\\]|\\.)*)'")
_INSIDE = re.compile(r'[^"\\$]+')
_CHOICES = re.compile(r"\{([A-Za-z0-9_./+-]*(?:,[A-Za-z0-9_./+-]*)+)\}")
_TILDE = re.compile(r"~[A-Za-z0-9_.+-]*")
_VARIABLE = re.compile(r"\$+([A-Za-z_][A-Za-z0-9_]*)")
_NUMBERED = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})(?![0-9a-fA-F])|([0-7]{3})"
    r"|u([0-9a-fA-F]{4})(?![0-9a-fA-F])|U([0-9a-fA-F]{8})(?![0-9a-fA-F]))"
)
_REDIRECTION = re.compile(r"([0-9]?)(>>|>&|<&|<|>)|()(&>>|&>)")
_COPIED = re.compile(r"[0-9]|-")
_WAYS = {"<": Way.READ, ">>": Way.APPEND, "&>>": Way.APPEND}
_KEYWORD = re.compile(
    r"(?:!|and|begin|case|else|end|for|function|if|in|not|or|switch|while|\{|\})"
    r"(?=[ \t\n;&|()<>]|$)|[()]"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=", re.ASCII)

_BLOCK = frozenset({"end"})


class FishLine(line_reader.LineReader):
    """Reads a line as fish does."""

    begins_with_redirections = False
    keywords = _KEYWORD
    plain = re.compile(r"[A-Za-z0-9_./:=,@+!\]-]+")
    joins = re.compile(r"&&|\|\||[;|\n]|&(?![>|&])(?=[ \t\n;)]|$)")

    def __init__(
        self,
        line: str,
        grammar: Grammar = Grammar.FISH,
        following: Sequence[str] = (),
    ) -> None:
        super().__init__(line, grammar, following)

    # ── words ─────────────────────────────────────────────────────────────

    def read_word(self) -> Lexeme:
        """Read one word."""
        word = LexemeBuilder()
        begun = self.place
        if self.line[begun : begun + 1] in ("%", "^"):
            raise Unreadable(_SUBSTITUTION)
        while self.place < len(self.line) and self.line[self.place] not in _ENDS:
            self.read_part(word)
        if self.place == begun:
            raise Unreadable("a command is missing")
        text = self.line[begun : self.place]
        if self.line[self.place : self.place + 1] in ("<", ">") and text[-1:].isdigit():
            raise Unreadable("which descriptor is redirected is not clear")
        return word.built()

    def why_unreadable(self, character: str) -> str:
        """Say why no word goes on with this letter."""
        return line_reader.FOREIGN if ord(character) > ord("~") else _ESCAPE

    def _read_letter(self, word: LexemeBuilder) -> None:
        word.add(self.line[self.place])
        self.place += 1

    def _read_bracket(self, word: LexemeBuilder) -> None:
        if word.prefix or not word.is_bare:
            raise Unreadable(_SUBSTITUTION)  # Blanks in brackets end no word.
        self._read_letter(word)

    def _read_single(self, word: LexemeBuilder) -> None:
        found = _SINGLE.match(self.line, self.place)
        if found is None:
            raise Unreadable(_QUOTE)
        self.place = found.end()
        word.add(re.sub(r"\\(['\\])", r"\1", found[1]), is_quoted=True)

    def _read_escape(self, word: LexemeBuilder) -> None:
        numbered = _NUMBERED.match(self.line, self.place)
        following = self.line[self.place + 1 : self.place + 2]
        if numbered is not None:
            self.place = numbered.end()
            word.add(_numbered(numbered), is_quoted=True)
        elif not following or following.isalnum() or following == "\n":
            raise Unreadable(_ESCAPE)
        else:
            self.place += 2
            word.add(following, is_quoted=True)

    def read_inside(self, word: LexemeBuilder) -> None:
        """Read the next part of what stands in double quotes."""
        inside = _INSIDE.match(self.line, self.place)
        following = self.line[self.place + 1 : self.place + 2]
        if inside is not None:
            self.place = inside.end()
            word.add(inside[0], is_quoted=True)
        elif self.line.startswith("$", self.place):
            self._read_dollar(word, is_quoted=True)
        elif not following or following == "\n":
            raise Unreadable(_QUOTE)
        else:
            self.place += 2
            is_escape = following in '"\\$'
            word.add(following if is_escape else f"\\{following}", is_quoted=True)

    def _read_dollar(self, word: LexemeBuilder, *, is_quoted: bool = False) -> None:
        variable = _VARIABLE.match(self.line, self.place)
        if variable is None:
            if not self.line.startswith("$(", self.place):
                raise Unreadable(_SUBSTITUTION)
            self.place += 1
            self._read_parentheses(word, is_quoted=is_quoted)
            return
        self.place = variable.end()
        if self.line.startswith("[", self.place):
            raise Unreadable(_SUBSTITUTION)
        value = self.values.get(variable[1])
        if value is not None and not variable[0].startswith("$$"):
            word.add(value, is_quoted=True)
            return
        known = self.variables.get(variable[1])
        if known is None or variable[0].startswith("$$"):
            known = OpenWord(is_one=is_quoted)
        word.gap(known)

    def _read_parentheses(
        self, word: LexemeBuilder, *, is_quoted: bool = False
    ) -> None:
        self.place += 1
        self.enter()
        self.read_block(frozenset({")"}))
        self.leave_word()
        if not self.line.startswith(")", self.place):
            raise Unreadable(_SUBSTITUTION)
        self.place += 1
        if self.line.startswith("[", self.place):
            raise Unreadable(_SUBSTITUTION)
        word.gap(OpenWord(is_one=is_quoted))

    def _read_brace(self, word: LexemeBuilder) -> None:
        choices = _CHOICES.match(self.line, self.place)
        if choices is None:
            raise Unreadable("how fish expands a brace is not clear")
        self.place = choices.end()
        word.first_varies_fastest = True  # a{b,c}{d,e} is abd acd abe ace.
        word.choose(tuple(choices[1].split(",")))

    def _read_tilde(self, word: LexemeBuilder) -> None:
        if word.prefix or not word.is_bare:
            self._read_letter(word)
            return
        tilde = _TILDE.match(self.line, self.place)
        assert tilde is not None  # noqa: S101  # we have seen the tilde
        self.place = tilde.end()
        self.add_home(word, tilde[0])

    # ── redirections and assignments ──────────────────────────────────────

    def read_redirection(self) -> Redirection | None:
        """Read one redirection, if one stands here."""
        found = _REDIRECTION.match(self.line, self.place)
        if found is None:
            return None
        operator = found[2] or found[4]
        self.place = found.end()
        if self.line[self.place : self.place + 1] in ("", *"?&|<>("):
            raise Unreadable(line_reader.NOWHERE)
        self.skip_blanks()
        target = self.read_word()
        if operator in (">&", "<&"):
            if target.text is None or not _COPIED.fullmatch(target.text):
                raise Unreadable(line_reader.NOWHERE)
            return Redirection(Way.DUPLICATE, target.text)
        way = _WAYS.get(operator, Way.WRITE)
        shape = None if target.text is not None else (target.open or ANYTHING)
        return Redirection(way, target.text, shape)

    def is_assignment(self, word: Lexeme) -> bool:
        """Tell whether a word before all others sets a variable."""
        return _ASSIGNMENT.match(word.prefix) is not None

    def check(self, words: list[Lexeme]) -> None:
        """Raise if no word tells the command."""
        if not words or words[0].open is not None:
            raise Unreadable("it has no command that is spelled out")
        is_alone = len(words) == 1 and words[0].text == "time"
        if is_alone or _KEYWORD.fullmatch(words[0].texts[0]):
            raise Unreadable(line_reader.COMPOUND)  # It is one in quotes as well.

    # ── compound commands ─────────────────────────────────────────────────

    def read_compound(self, keyword: str) -> Outcome:
        """Read the compound command that this keyword begins."""
        match keyword:
            case "!" | "not":
                self.take_keyword(keyword)
                yes, no = self._read_statement()
                return Outcome(no, yes)
            case "and" | "or":
                # Whether it runs depends on what came before it.
                before = self.here
                self.take_keyword(keyword)
                after = self._read_statement().either
                return still(united(before, after))
            case "begin" | "if" | "while" | "for" | "switch":
                return self._read_block(keyword)
            case _:
                raise Unreadable(line_reader.COMPOUND)

    def read_block(self, stops: frozenset[str]) -> Outcome:
        """Read commands, of which there may be none, up to one of these words."""
        self.skip_blanks()
        while self.line.startswith(";", self.place):
            self.place += 1
            self.skip_blanks()
        if self.peek_keyword() in stops:
            return still(self.here)
        return self.read_list(stops)

    def _read_block(self, keyword: str) -> Outcome:
        begun = self.here
        first = self.enter()
        self.take_keyword(keyword)
        match keyword:
            case "begin":
                self.read_block(_BLOCK)
            case "if":
                self._read_if()
            case "while":
                self.read_block(_BLOCK)
            case "for":
                self._read_for()
            case _:
                self._read_switch()
        ended = self.here
        self.take_keyword("end")
        is_loop = keyword in ("while", "for")
        self.leave(first, is_loop=is_loop)
        if is_loop:
            self.settle(first, begun, ended)
        else:
            self.here = begun if ended == begun else ANYWHERE
        return still(self.here)

    def _read_if(self) -> None:
        begun = self.here
        ends = self.read_block(frozenset({"else", "end"})).either
        while self.peek_keyword() == "else":
            self.take_keyword("else")
            self.skip_blanks()
            if self.peek_keyword() == "if":
                self.take_keyword("if")
            more = self.read_block(frozenset({"else", "end"})).either
            ends = united(ends, more)
        self.here = united(begun, ends)

    def _read_for(self) -> None:
        self.skip_blanks()
        name = self.loop_variable(self.read_word())
        self.take_keyword("in")
        self.variables[name] = value_of(self.read_words())
        self.read_block(_BLOCK)
        del self.variables[name]

    def _read_switch(self) -> None:
        begun = self.here
        self.skip_blanks()
        self.read_word()
        self.take_break()
        self.skip_blanks()
        while self.peek_keyword() == "case":
            self.take_keyword("case")
            self.read_words()
            after = self.read_block(frozenset({"case", "end"})).either
            self.here = united(begun, after)

    parts: ClassVar[Mapping[str, line_reader.Part]] = {
        "'": _read_single,
        '"': line_reader.LineReader.read_double,
        "\\": _read_escape,
        "$": _read_dollar,
        "(": _read_parentheses,
        "*": line_reader.LineReader.read_glob,
        "?": line_reader.LineReader.read_glob,
        "{": _read_brace,
        "[": _read_bracket,
        "~": _read_tilde,
        "#": _read_letter,
        "%": _read_letter,
        "^": _read_letter,
    }


def _numbered(found: re.Match[str]) -> str:
    digits = found[1] or found[3] or found[4]
    code = int(found[2], 8) if found[2] else int(digits, 16)
    if not ord(" ") <= code <= ord("~"):
        raise Unreadable(_ESCAPE)
    return chr(code)
