r"""The words that bash, zsh and dash make of a text.

The three read words almost alike. Where one of them differs, its way is followed, or
the text is Unreadable to it:

    text          bash, zsh                         dash
    $'\x72m'       rm                                cannot be told
    {a,b}         two words                         one, as it is written
    !x            may repeat an earlier line        !x
    x &>y         x, written to y                   x in the background; y is emptied
    # x           a comment; zsh cannot be told     a comment
    <<x           the lines that follow             the same
    =x ^x a#b     zsh: may be expanded              as it is written

What an option of the shell can change is left open rather than guessed.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from holdfast.core.shell.line_reader import FOREIGN, NOWHERE, LineReader, Part
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.shell_lexeme import Lexeme, LexemeBuilder, Unreadable
from holdfast.core.shell.simple_command import Redirection, Way

SUBSTITUTION = "it runs a command inside another, or expands one"
_QUOTE = "a quote does not end, or holds a substitution"
_REPEAT = "it may repeat an earlier line"
_DESCRIPTOR = "which descriptor is redirected is not clear"

_ENDS = frozenset(" \t\n;|&<>()")
_INSIDE = re.compile(r'[^"\\$`!]+')
_CHOICES = re.compile(r"\{([A-Za-z0-9_./+-]*(?:,[A-Za-z0-9_./+-]*)+)\}")
_TILDE = re.compile(r"~[A-Za-z0-9_.+-]*")
_VARIABLE = re.compile(
    r"""\$(?:
      (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>[#?$]) | (?P<many>[@*]) | (?P<special>[0-9-])
    | \{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}
    | \{(?P<cut>[A-Za-z_][A-Za-z0-9_]*)(?:%%?|\#\#?)[A-Za-z0-9_.,/*?-]+\}
    | (?P<sum>\(\([0-9 +*%-]+\)\))
    )""",
    re.VERBOSE,
)
_ANSI = re.compile(r"\\(?:([\\'\"])|([nt])|x([0-9a-fA-F]{2})|([0-7]{3}))|([^\\']+)")
_LETTERS = {"n": "\n", "t": "\t"}
_REDIRECTION = re.compile(r"([0-9]?)(<<<|<>|<&|<(?!<)|>>|>\||>&|>)|()(&>>|&>)")
_WAYS = {"<": Way.READ, "<>": Way.BOTH, ">>": Way.APPEND, "&>>": Way.APPEND}
_COPIED = re.compile(r"[0-9]|-")
_HEREDOC = re.compile(
    r"""<<-?[ \t]*(?:'(?P<single>[\w.+-]+)'|"(?P<double>[\w.+-]+)"|\\(?P<escaped>\w+)
    |(?P<plain>\w+))(?=[ \t;|&<>()]|$)""",
    re.VERBOSE | re.ASCII,
)
_EXPANDED = re.compile(r"[$`\\]")
_REPEATED = re.compile(r"!(?![ =]|$)", re.MULTILINE)
_NUMBER_GLOB = re.compile(r"<[0-9]*-[0-9]*>")
_UNSAFE_HISTORY = re.compile(r"\$[('{]|`|(?:^|\s)#")

NUMBER = OpenWord(has_slash=False, is_one=True)


class PosixWords(LineReader):
    """Reads the words and redirections of bash, zsh and dash."""

    plain = re.compile(r"[A-Za-z0-9_./,@%+\]-]+")

    def read_word(self) -> Lexeme:
        """Read one word."""
        word = LexemeBuilder()
        begun = self.place
        while self.place < len(self.line) and self.line[self.place] not in _ENDS:
            self.read_part(word)
        if self.place == begun:
            raise Unreadable(self.why_unreadable(self.line[begun : begun + 1]))
        lexeme = word.built()
        following = self.line[self.place : self.place + 1]
        if following == "(":
            raise Unreadable(self.why_unreadable("("))
        text = self.line[begun : self.place]
        if following in ("<", ">") and (text.isdigit() or text.endswith("}")):
            raise Unreadable(_DESCRIPTOR)
        return lexeme

    @abstractmethod
    def read_nested(self, closer: str) -> None:
        """Read commands inside a word up to what closes them."""

    def skip_comment(self) -> None:
        """Pass over a comment, if the shell takes it for one."""
        if self.grammar is Grammar.ZSH:
            raise Unreadable("it may have a comment")
        super().skip_comment()

    def why_unreadable(self, character: str) -> str:
        """Say why no word goes on with this letter."""
        return _REASONS.get(character, FOREIGN)

    @property
    def _repeats(self) -> bool:
        return self.grammar is not Grammar.DASH

    # ── parts of a word ───────────────────────────────────────────────────

    def _read_single(self, word: LexemeBuilder) -> None:
        end = self.line.find("'", self.place + 1)
        if end < 0:
            raise Unreadable(_QUOTE)
        text = self.line[self.place + 1 : end]
        if "!" in text and self._repeats and _UNSAFE_HISTORY.search(self.whole):
            raise Unreadable(_REPEAT)
        self.place = end + 1
        # With an option of zsh two quotes stand for one.
        if self.grammar is Grammar.ZSH and self.line.startswith("'", self.place):
            raise Unreadable(_QUOTE)
        word.add(text, is_quoted=True)

    def _read_escape(self, word: LexemeBuilder) -> None:
        text = self.line[self.place + 1 : self.place + 2]
        if text in ("", "\n"):
            raise Unreadable("it continues on the next line")
        if text == "!" and self._repeats and _UNSAFE_HISTORY.search(self.whole):
            raise Unreadable(_REPEAT)
        self.place += 2
        word.add(text, is_quoted=True)

    def read_inside(self, word: LexemeBuilder) -> None:
        """Read the next part of what stands in double quotes."""
        inside = _INSIDE.match(self.line, self.place)
        if inside is not None:
            self.place = inside.end()
            word.add(inside[0], is_quoted=True)
            return
        character = self.line[self.place : self.place + 1]
        if character == "$":
            self._read_dollar(word, is_quoted=True)
        elif character == "`":
            self._read_backticks(word, is_quoted=True)
        elif character == "!":
            self._read_bang(word)
        elif character == "\\":
            self._read_inside_escape(word)
        else:
            raise Unreadable(_QUOTE)

    def _read_inside_escape(self, word: LexemeBuilder) -> None:
        following = self.line[self.place + 1 : self.place + 2]
        if following in ("", "\n", "!"):
            raise Unreadable(_QUOTE)
        self.place += 2
        word.add(
            following if following in '"\\$`' else f"\\{following}", is_quoted=True
        )

    def _read_bang(self, word: LexemeBuilder) -> None:
        following = self.line[self.place + 1 : self.place + 2]
        if self._repeats and following not in ("", " ", "\t", "="):
            raise Unreadable(_REPEAT)
        self.place += 1
        word.add("!")

    # ── variables and substitutions ───────────────────────────────────────

    def _read_dollar(self, word: LexemeBuilder, *, is_quoted: bool = False) -> None:
        variable = _VARIABLE.match(self.line, self.place)
        following = self.line[self.place + 1 : self.place + 2]
        if variable is not None:
            self.place = variable.end()
            self._add_variable(word, variable, is_quoted=is_quoted)
        elif following == "(":
            self.place += 2
            if self.line.startswith("(", self.place):
                raise Unreadable(SUBSTITUTION)
            self.read_nested(")")
            self._add_output(word, is_quoted=is_quoted)
        elif following == "'" and not is_quoted and self._repeats:
            self._read_ansi(word)
        elif self._is_dollar(following, is_quoted=is_quoted):
            self.place += 1
            word.add("$", is_quoted=True)
        else:
            raise Unreadable(SUBSTITUTION)

    def _is_dollar(self, following: str, *, is_quoted: bool) -> bool:
        """Tell whether a dollar sign stands for itself."""
        return following in (*'" |/,;.', "") if is_quoted else following in ("", " ")

    def _add_variable(
        self, word: LexemeBuilder, found: re.Match[str], *, is_quoted: bool
    ) -> None:
        following = self.line[self.place : self.place + 1]
        if self.grammar is Grammar.ZSH:
            if following in ("[", "(") or (found["number"] and following.isalnum()):
                raise Unreadable(SUBSTITUTION)
            if following == ":":
                word.rest(is_headless=not is_quoted)
                return
        known = self.values.get(found["name"] or found["braced"] or "")
        if known is not None:
            word.add(known, is_quoted=True)
            return
        shape = self._shape(found)
        if is_quoted:
            word.add("", is_quoted=True)
            is_one = found["many"] is None
            word.gap(
                OpenWord(shape.head, shape.tail, shape.has_slash, is_one, shape.files)
            )
        else:
            word.gap(shape, splits=True)

    def _shape(self, found: re.Match[str]) -> OpenWord:
        if found["number"] or found["sum"]:
            return NUMBER
        name = found["name"] or found["braced"] or ""
        cut = self.variables.get(found["cut"] or "", ANYTHING)
        known = self.variables.get(name, ANYTHING)
        return known if cut is ANYTHING else OpenWord(has_slash=cut.has_slash)

    def _add_output(self, word: LexemeBuilder, *, is_quoted: bool) -> None:
        if is_quoted:
            word.gap(OpenWord(is_one=True))
        else:
            word.gap(splits=True)

    def _read_backticks(self, word: LexemeBuilder, *, is_quoted: bool = False) -> None:
        end = self.line.find("`", self.place + 1)
        inside = self.line[self.place + 1 : end]
        if end < 0 or "\\" in inside or (is_quoted and '"' in inside):
            raise Unreadable(SUBSTITUTION)
        line, self.line, self.place = self.line, inside, 0
        self.read_nested("")
        self.line, self.place = line, end + 1
        self._add_output(word, is_quoted=is_quoted)

    def _read_ansi(self, word: LexemeBuilder) -> None:
        r"""Read what bash and zsh decode: `$'\x72m'`."""
        if "!" in self.whole:
            raise Unreadable(_REPEAT)
        self.place += 2
        while not self.line.startswith("'", self.place):
            found = _ANSI.match(self.line, self.place)
            if found is None:
                raise Unreadable(_QUOTE)
            self.place = found.end()
            word.add(_decoded(found), is_quoted=True)
        self.place += 1
        word.add("", is_quoted=True)

    # ── what is expanded to names, or to several words ────────────────────

    def _read_bracket(self, word: LexemeBuilder) -> None:
        following = self.line[self.place + 1 : self.place + 2]
        self.place += 1
        if word.is_bare and not word.prefix and following in ("", *_ENDS):
            word.add("[")  # It is the program, or a word by itself.
        else:
            word.has_bracket = word.has_bracket or word.is_bare
            word.rest()

    def _read_brace(self, word: LexemeBuilder) -> None:
        if self.grammar is Grammar.DASH or self.line.startswith("{}", self.place):
            end = self.place + (1 if self.grammar is Grammar.DASH else 2)
            word.add(self.line[self.place : end])
            self.place = end
            return
        choices = _CHOICES.match(self.line, self.place)
        if choices is None:
            if self.grammar is Grammar.ZSH:
                raise Unreadable("how zsh expands a brace is not clear")
            self.place += 1
            word.rest()
            return
        self.place = choices.end()
        word.choose(tuple(choices[1].split(",")))

    def _read_closing_brace(self, word: LexemeBuilder) -> None:
        if self.grammar is Grammar.ZSH:
            raise Unreadable("how zsh expands a brace is not clear")
        self.place += 1
        word.add("}")

    def _read_tilde(self, word: LexemeBuilder) -> None:
        if word.is_bare and not word.prefix:
            tilde = _TILDE.match(self.line, self.place)
            assert tilde is not None  # noqa: S101  # we have seen the tilde
            self.place = tilde.end()
            self.add_home(word, tilde[0])
            return
        self.place += 1
        if "=" in word.prefix or self.grammar is Grammar.ZSH:
            word.rest()
        else:
            word.add("~")

    def _read_equals(self, word: LexemeBuilder) -> None:
        character = self.line[self.place]
        self.place += 1
        is_first = word.is_bare and not word.prefix
        if character == "=" and is_first and self.grammar is Grammar.ZSH:
            word.rest()  # In zsh `=ls` is the path of a program.
        else:
            word.add(character)

    def _read_pattern(self, word: LexemeBuilder) -> None:
        character = self.line[self.place]
        self.place += 1
        if self.grammar is Grammar.ZSH:
            word.rest(is_headless=True)
        else:
            word.add(character)

    # ── redirections ──────────────────────────────────────────────────────

    def read_redirection(self) -> Redirection | None:
        """Read one redirection, if one stands here."""
        heredoc = _HEREDOC.match(self.line, self.place)
        if heredoc is not None:
            self.place = heredoc.end()
            return Redirection(Way.DOCUMENT, self._body(heredoc))
        found = _REDIRECTION.match(self.line, self.place)
        if found is None or (found[4] and self.grammar is Grammar.DASH):
            return None
        operator = found[2] or found[4]
        if self.grammar is Grammar.ZSH and _NUMBER_GLOB.match(self.line, self.place):
            raise Unreadable("it may be a pattern for numbers")
        self.place = found.end()
        following = self.line[self.place : self.place + 1]
        if following in ("", *"!&|<>("):
            raise Unreadable(self.why_unreadable("(") if following == "(" else NOWHERE)
        self.skip_blanks()
        if self.place >= len(self.line):
            raise Unreadable(NOWHERE)
        if self.line[self.place] in _ENDS:
            raise Unreadable(NOWHERE)
        target = self.read_word()
        return self._redirection(operator, found[1] or "", target)

    def _body(self, heredoc: re.Match[str]) -> str:
        """Take the lines of a heredoc from those that follow.

        No line has a tab in it, so that `<<-` is the same as `<<`.
        """
        delimiter = next(filter(None, heredoc.groups()))
        if delimiter not in self.following:
            raise Unreadable("a heredoc does not end")
        end = self.following.index(delimiter)
        body = "\n".join(self.following[:end])
        if heredoc["plain"] and _EXPANDED.search(body):
            raise Unreadable("the shell expands what is in a heredoc")
        # Some versions give up the heredoc then, and run the rest of it.
        if self._repeats and _REPEATED.search(body):
            raise Unreadable(_REPEAT)
        del self.following[: end + 1]
        return body

    def _redirection(self, operator: str, given: str, target: Lexeme) -> Redirection:
        text = target.text
        if operator == "<<<":
            if self.grammar is Grammar.DASH:
                raise Unreadable(NOWHERE)
            return Redirection(Way.TEXT, text, None if text else target.open)
        if operator in (">&", "<&"):
            if text is None or not target.is_bare:
                raise Unreadable(_DESCRIPTOR)
            if _COPIED.fullmatch(text):
                return Redirection(Way.DUPLICATE, text)
            is_file = operator == ">&" and not given
            if not is_file or self.grammar is not Grammar.BASH:
                raise Unreadable(_DESCRIPTOR)
            # To bash `>&-` is whole, and what is glued to it a word of the command.
            if text[0].isdigit() or text[0] == "-":
                raise Unreadable(_DESCRIPTOR)
        way = _WAYS.get(operator, Way.WRITE)
        shape = None if text is not None else (target.open or ANYTHING)
        return Redirection(way, text, shape)

    parts: ClassVar[Mapping[str, Part]] = {
        "'": _read_single,
        '"': LineReader.read_double,
        "\\": _read_escape,
        "$": _read_dollar,
        "`": _read_backticks,
        "!": _read_bang,
        "*": LineReader.read_glob,
        "?": LineReader.read_glob,
        "[": _read_bracket,
        "{": _read_brace,
        "}": _read_closing_brace,
        "~": _read_tilde,
        "=": _read_equals,
        ":": _read_equals,
        "^": _read_pattern,
        "#": _read_pattern,
    }


def _decoded(found: re.Match[str]) -> str:
    if found[5] is not None:
        return found[5]
    if found[1] is not None:
        return found[1]
    if found[2] is not None:
        return _LETTERS[found[2]]
    code = int(found[3], 16) if found[3] else int(found[4], 8)
    if not ord(" ") <= code <= ord("~"):
        raise Unreadable("it has control characters")
    return chr(code)


_REASONS = {
    "": "a command is missing",
    "$": SUBSTITUTION,
    "`": SUBSTITUTION,
    "(": "it is a compound command",
    ")": "it is a compound command",
    "<": "it has a heredoc",
    ">": NOWHERE,
    "&": "a command is missing",
    "|": "a command is missing",
    ";": "a command is missing",
}
"""Why reading stops at a character."""
