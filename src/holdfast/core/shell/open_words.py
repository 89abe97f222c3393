r"""What a word may expand to that the text does not spell out.

`*.py` may be any names of files, `"$X"` any text, `./$(date)` any that begins with
`./`. A word whose value is not in the text is an OpenWord: how it surely begins and
ends, whether what is between may have a slash, and whether it is one word or any
number of them. A rule that prevents is held against everything it may become.

    text          head    tail    slash between   one word
    *.py                  .py     no              no
    ./*.py        ./      .py     no              no
    "$X/a"                /a      yes             yes
    $X.py                         yes             no, it is split at blanks

Invariants, checked by tests/core/shell/test_open_words.py:

I1  If a word begins, ends and is made as an OpenWord says, and fits a pattern, then
    the OpenWord may fit that pattern.
"""

from dataclasses import dataclass, replace

from holdfast.core.shell.globs import Globs


@dataclass(frozen=True, slots=True)
class OpenWord:
    """A word, or several, of which the text tells only a part."""

    head: str = ""
    tail: str = ""
    has_slash: bool = True
    """Whether there may be a slash between head and tail."""

    is_one: bool = False
    """Whether it is exactly one word; otherwise any number, also none."""

    files: tuple[str, str] | None = None
    """If a wildcard made it of names of files, how those begin and end; it is then one
    of them, or the pattern itself, or what is left of them when they are cut at blanks.
    """

    @property
    def may_be_option(self) -> bool:
        """Tell whether a program may take it for an option."""
        return not self.head or self.head.startswith("-")

    def may_fit(self, globs: Globs) -> bool:
        """Tell whether it may become a word that one of the patterns fits."""
        return any(map(self._may_be, globs.literals)) or any(
            self._may_fit(*ends) for ends in globs.ends
        )

    def may_fit_loosely(self, globs: Globs) -> bool:
        """Tell the same of the word or its part after the last slash."""
        if self.may_fit(globs):
            return True
        if "/" in self.tail:
            return globs.fit(self.tail.rsplit("/", 1)[-1])
        head = "" if self.has_slash else self.head.rsplit("/", 1)[-1]
        return replace(self, head=head, has_slash=False).may_fit(globs)

    def _may_be(self, text: str) -> bool:
        between = text[len(self.head) : len(text) - len(self.tail)]
        return (
            len(text) >= len(self.head) + len(self.tail)
            and text.startswith(self.head)
            and text.endswith(self.tail)
            and (self.has_slash or "/" not in between)
        )

    def _may_fit(self, begins: str, ends: str, slashes: int) -> bool:
        own = self.head.count("/") + self.tail.count("/")
        return (
            (self.head.startswith(begins) or begins.startswith(self.head))
            and (self.tail.endswith(ends) or ends.endswith(self.tail))
            and (self.has_slash or slashes <= own)
        )


ANYTHING = OpenWord()
"""Any words."""
