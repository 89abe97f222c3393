"""A word of a line before a shell expands it.

A word is collected piece by piece: text as it stands, texts of which it becomes each
(`{a,b}`), and gaps, for which the shell puts in what the line does not tell. At the
end it is one known text, several, or an OpenWord.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod

from holdfast.core.shell.globs import MAX_TEXT
from holdfast.core.shell.open_words import ANYTHING, OpenWord

MAX_CHOICES = 32
"""Words that braces in one word may stand for; what is more is not spelled out."""


class Unreadable(Exception):
    """The text does not tell what will run."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One word of a line."""

    texts: tuple[str, ...]
    """What it becomes, one word each; empty if it is open."""

    open: OpenWord | None
    prefix: str
    """How it begins, up to the first quote, escape or gap."""

    is_bare: bool
    """Whether that is all of it."""

    has_quotes: bool
    has_bracket: bool
    """Whether a bracket comes right after its prefix: `a[1]`."""

    seen: str
    """What can be seen of it."""

    @property
    def text(self) -> str | None:
        """The word, if it is one and known."""
        return self.texts[0] if len(self.texts) == 1 else None


@dataclass(slots=True)
class LexemeBuilder:
    """Collects the pieces of one word."""

    _parts: list[tuple[str, ...]] = field(default_factory=list)
    _between: list[str] = field(default_factory=list)
    _head: str = ""
    _tail: str = ""
    _prefix: str = ""
    _is_bare: bool = True
    _is_open: bool = False
    _is_fixed: bool = False
    _is_one: bool = True
    _splits: bool = False
    _has_slash: bool = False
    _files: tuple[str, str] | None = None
    has_quotes: bool = False
    has_bracket: bool = False
    first_varies_fastest: bool = False
    """Whether several choices are combined as fish does it, not as bash does."""

    def add(self, text: str, *, is_quoted: bool = False) -> None:
        """Add text that stays as it is."""
        self._parts.append((text,))
        if is_quoted:
            self.has_quotes = True
            self._is_bare = False
        elif self._is_bare:
            self._prefix += text
        if self._is_open:
            self._tail += text
            if self._files is not None:
                self._files = (self._files[0], self._files[1] + text)
        else:
            self._head += text

    def choose(self, texts: tuple[str, ...]) -> None:
        """Add texts of which there will be a word each."""
        self._parts.append(texts)
        self.gap(is_noted=True)

    def gap(
        self,
        shape: OpenWord = ANYTHING,
        *,
        splits: bool = False,
        is_noted: bool = False,
    ) -> None:
        """Add what is not known; if it `splits`, blanks in it end the word."""
        if not is_noted:
            self._parts.append(())
        self._files = self._named(shape.files)
        if not self._is_open:
            self._head += shape.head
        self._between.append(self._tail + shape.head)
        self._tail = shape.tail
        self._is_bare = False
        self._is_open = True
        self._is_one = self._is_one and shape.is_one
        self._splits = self._splits or splits
        self._has_slash = self._has_slash or shape.has_slash

    def _named(self, files: tuple[str, str] | None) -> tuple[str, str] | None:
        """Return how names of files begin and end, with these after what was before."""
        if files is None:
            return None
        if not self._is_open:
            return self._head + files[0], files[1]
        if self._files is None or "/" in self._files[1] + files[0]:
            return None
        return self._files[0], files[1]

    def rest(self, *, is_headless: bool = False) -> None:
        """Leave open everything from here to the end of the word."""
        self.gap()
        self._is_fixed = True
        self._splits = self._splits or is_headless

    @property
    def prefix(self) -> str:
        """How the word begins, up to the first quote, escape or gap."""
        return self._prefix

    @property
    def is_bare(self) -> bool:
        """Whether it has no quote, escape or gap so far."""
        return self._is_bare

    def built(self) -> Lexeme:
        """Return the word."""
        seen = "".join(" ".join(texts) for texts in self._parts)
        texts = self._texts()
        shape = None if texts else self._shape()
        return Lexeme(
            texts,
            shape,
            self._prefix,
            self._is_bare,
            self.has_quotes,
            self.has_bracket,
            seen,
        )

    def _texts(self) -> tuple[str, ...]:
        if () in self._parts or prod(map(len, self._parts)) > MAX_CHOICES:
            return ()
        texts = tuple(self._combined())
        return () if max(map(len, texts)) > MAX_TEXT else texts

    def _combined(self) -> Iterator[str]:
        if self.first_varies_fastest:
            for chosen in product(*reversed(self._parts)):
                yield "".join(reversed(chosen))
        else:
            for chosen in product(*self._parts):
                yield "".join(chosen)

    def _shape(self) -> OpenWord:
        ends = self._head + self._tail
        if self._splits or len(ends) > MAX_TEXT:
            inside = self._has_slash or any("/" in one for one in self._between)
            return OpenWord(has_slash=inside or "/" in ends, files=self._files)
        inside = self._has_slash or any("/" in one for one in self._between[1:])
        tail = "" if self._is_fixed else self._tail
        return OpenWord(self._head, tail, inside, self._is_one, self._files)
