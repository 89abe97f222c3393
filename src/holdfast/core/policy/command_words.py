"""Whether the words of a command match a rule: yes, no, or undecidable.

Theory of operation
-------------------
A rule that lets something happen must be sure; one that prevents it must not be
evaded. So the same patterns are held against a command in two ways.

    key        to allow                          to deny or ask
    first      the first word, as written        also its last part: rm, /bin/rm
    any        some word                         also its last part; also targets
    sequence   the first words, side by side     in this order, others between
    exact      all words, and no others          the same

To deny or ask, what a command *carries* (`sudo rm`) or can be seen to hide
(`sh -c 'rm x'`) counts as well; if something is hidden or unknown and nothing is
seen, the answer is MAYBE. To allow, a command that is altered is at most MAYBE.

Invariants, checked by tests/core/policy/test_policy_properties.py:

I1  An allowing YES needs every word it looks at to be known.
I2  Whatever cannot be read never yields an allowing YES or a preventing NO.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.core.shell.globs import Globs
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.simple_command import Command, Sight

Word = str | OpenWord
"""A word that is known, or what it may become."""


class Match(enum.Enum):
    """Whether something fits, as far as is known."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


def both(one: Match, other: Match) -> Match:
    """Return what holds of two things that must both fit."""
    if Match.NO in (one, other):
        return Match.NO
    return Match.MAYBE if Match.MAYBE in (one, other) else Match.YES


@dataclass(frozen=True, slots=True)
class WordPatterns:
    """What a rule wants of the words; every key that is given must fit."""

    first: Globs | None = None
    any: Globs | None = None
    sequence: tuple[tuple[Globs, ...], ...] = ()
    exact: tuple[tuple[Globs, ...], ...] = ()

    def allowing(self, command: Command, *, reaches: bool = False) -> Match:
        """Tell whether a rule that allows may speak of this command.

        If it `reaches`, the rule has keys of its own for what else is done.
        """
        if command.doubt:
            return Match.MAYBE
        words = words_of(command)
        found = Match.YES
        if self.first is not None:
            found = both(found, _fits(self.first, words[0] if words else ""))
        if self.any is not None:
            found = both(found, _some(self.any, words))
        if self.sequence:
            found = both(found, _either([_begins(s, words) for s in self.sequence]))
        if self.exact:
            found = both(found, _either([_equals(s, words) for s in self.exact]))
        # An assignment or a redirection does more than the words say.
        return both(
            found, Match.MAYBE if command.altered and not reaches else Match.YES
        )

    def preventing(self, command: Command) -> Match:
        """Tell whether a rule that denies or asks speaks of this command."""
        found = Match.NO if command.doubt else self._prevents(command)
        if found is Match.YES or not (
            command.carries or command.hides or command.doubt
        ):
            return found
        if self._is_seen_in(command.sight):
            return Match.YES
        if command.doubt or command.hides or None in command.words:
            return Match.MAYBE
        return found

    def first_words(self) -> list[Globs]:
        """Return what the first word has to fit, one of them; empty for any word.

        Only for commands whose words say what runs.
        """
        heads = [sequence[0] for sequence in self.sequence or self.exact]
        return heads if self.first is None else [self.first]

    def needed_words(self) -> frozenset[str]:
        """Return words of which all must be there, if all words are known."""
        runs = [*self.sequence, *self.exact]
        if len(runs) != 1:
            return frozenset()
        named = [globs.literals for globs in runs[0] if globs.wild is None]
        return frozenset().union(*(words for words in named if len(words) == 1))

    def needed_texts(self) -> tuple[str, ...]:
        """Return texts of which one must be in some word, if all are known."""
        if self.any is None or self.any.literals:
            return ("",)
        return self.any.chunks

    def _prevents(self, command: Command) -> Match:
        words = words_of(command)
        found = Match.YES
        if self.first is not None:
            found = _fits_loosely(self.first, words[0] if words else "")
        if self.sequence and found is not Match.NO:
            found = both(found, _either([_leads(s, words) for s in self.sequence]))
        if self.exact and found is not Match.NO:
            found = both(found, _either([_equals(s, words) for s in self.exact]))
        if self.any is not None and found is not Match.NO:
            found = both(found, _some_loosely(self.any, command))
        return found

    def _is_seen_in(self, sight: Sight) -> bool:
        return (
            (self.first is None or _is_seen(self.first, sight))
            and (self.any is None or _is_seen(self.any, sight))
            and (not self.sequence or any(_passes(s, sight) for s in self.sequence))
            and (not self.exact or any(_passes(s, sight) for s in self.exact))
        )


def words_of(command: Command) -> list[Word]:
    """Return the words, and what those may become that are not known."""
    opens = command.opens or (None,) * len(command.words)
    pairs = zip(command.words, opens, strict=True)
    return [(may or ANYTHING) if word is None else word for word, may in pairs]


def _fits(globs: Globs, word: Word) -> Match:
    if isinstance(word, OpenWord):
        # Where it may be no word at all, the next one is in its place.
        ruled_out = word.is_one and not word.may_fit(globs)
        return Match.NO if ruled_out else Match.MAYBE
    return Match.YES if globs.fit(word) else Match.NO


def _fits_loosely(globs: Globs, word: Word) -> Match:
    if isinstance(word, OpenWord):
        ruled_out = word.is_one and not word.may_fit_loosely(globs)
        return Match.NO if ruled_out else Match.MAYBE
    return Match.YES if _is_like(globs, word) else Match.NO


def _is_like(globs: Globs, word: str) -> bool:
    return globs.fit(word) or ("/" in word and globs.fit(word.rsplit("/", 1)[-1]))


def _may_be_like(globs: Globs, word: Word) -> bool:
    if isinstance(word, OpenWord):
        return word.may_fit_loosely(globs)
    return _is_like(globs, word)


def _some(globs: Globs, words: Sequence[Word]) -> Match:
    if any(isinstance(word, str) and globs.fit(word) for word in words):
        return Match.YES
    may = any(isinstance(word, OpenWord) and word.may_fit(globs) for word in words)
    return Match.MAYBE if may else Match.NO


def _some_loosely(globs: Globs, command: Command) -> Match:
    if not globs.literals.isdisjoint(command.names):
        return Match.YES
    if globs.may_be_in(command.joined) and any(map(globs.fit, command.names)):
        return Match.YES
    if None not in command.words and None not in command.touched:
        return Match.NO
    may = any(one.may_fit_loosely(globs) for one in _opens(command))
    return Match.MAYBE if may else Match.NO


def _opens(command: Command) -> list[OpenWord]:
    """Return which parts of a command are open: words, variables, files."""
    words = [word for word in words_of(command) if isinstance(word, OpenWord)]
    targets = [one for one in command.redirections if one.target is None]
    is_set = any(one.value is None for one in command.assignments)
    return [
        *words,
        *(one.open or ANYTHING for one in targets),
        *([ANYTHING] if is_set else []),
    ]


def _either(found: list[Match]) -> Match:
    if Match.YES in found:
        return Match.YES
    return Match.MAYBE if Match.MAYBE in found else Match.NO


def _begins(sequence: tuple[Globs, ...], words: Sequence[Word]) -> Match:
    """Tell whether the words begin with the sequence, side by side."""
    for globs, word in zip(sequence, words, strict=False):
        if (fits := _fits(globs, word)) is not Match.YES:
            return fits
    return Match.YES if len(words) >= len(sequence) else Match.NO


def _equals(sequence: tuple[Globs, ...], words: Sequence[Word]) -> Match:
    """Tell whether the words are the sequence; one unknown may be any number."""
    begun = _begins(sequence, words)
    if begun is not Match.YES or len(words) == len(sequence):
        return begun
    more = words[len(sequence) :]
    may_be_none = all(isinstance(one, OpenWord) and not one.is_one for one in more)
    return Match.MAYBE if may_be_none else Match.NO


def _leads(sequence: tuple[Globs, ...], words: Sequence[Word]) -> Match:
    """Tell whether the first word is the sequence's, and the others follow it."""
    begun = _fits_loosely(sequence[0], words[0] if words else "")
    if begun is Match.YES:
        known = [word for word in words[1:] if isinstance(word, str)]
        if _in_order(sequence[1:], known):
            return Match.YES
        return Match.MAYBE if _may_be_in_order(sequence[1:], words[1:]) else Match.NO
    return begun


def _in_order(sequence: Sequence[Globs], words: Sequence[str]) -> bool:
    left = iter(words)
    return all(any(_is_like(globs, word) for word in left) for globs in sequence)


def _may_be_in_order(sequence: Sequence[Globs], words: Sequence[Word]) -> bool:
    """Tell the same, where some words may become one or several of these."""
    left = list(sequence)
    for word in words:
        while left and _may_be_like(left[0], word):
            del left[0]
            if isinstance(word, str) or word.is_one:
                break
    return not left


def _passes(sequence: tuple[Globs, ...], sight: Sight) -> bool:
    # In order only if there at all, which is quickly known.
    is_there = all(_is_seen(globs, sight) for globs in sequence)
    return is_there and _in_order(sequence, sight.pieces)


def _is_seen(globs: Globs, sight: Sight) -> bool:
    if not globs.literals.isdisjoint(sight.everything):
        return True
    return globs.may_be_in(sight.joined) and any(map(globs.fit, sight.distinct))
