"""The conditions of a rule other than the words of a command.

Each key of a rule that is not about words becomes one condition. All conditions
of a rule must hold. What a condition needs and nobody knows makes it MAYBE: a
folder that cannot be read, a signal that is no number.

Names are compared without regard to case, as everywhere. A pattern that begins
like an id is held against ids and any other against names, so that nobody gets
an id's rights by a name. An empty name fits no pattern.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.meant_folders import MeantFolders
from holdfast.core.shell.globs import Globs
from holdfast.model.actors import ActorKind
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Place, Question, TurnHold

_SIGNAL = re.compile(rb"[1-9][0-9]?")

INTERRUPT = 2
"""The signal that a terminal makes of its interrupt key."""

SELF = "self"
"""Stands for the operator who makes the input."""

OTHER = "other"
"""Negates a name."""


_ASKED: dict[str, Callable[[Question], object]] = {
    "kind": attrgetter("actor.kind"),
    "input": attrgetter("kind"),
    "at": attrgetter("place"),
    "turn": attrgetter("turn"),
    "days": attrgetter("clock.weekday"),
}
"""Which part of a question each of these keys is about."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """What the key is about is one of these."""

    key: str
    values: frozenset[ActorKind | InputKind | Place | TurnHold | int]

    def match(self, question: Question) -> Match:
        """Tell whether it holds."""
        return _known(_ASKED[self.key](question) in self.values)


@dataclass(frozen=True, slots=True)
class Named:
    """A name and an id, of which one is meant and none is excepted."""

    names: Globs
    ids: Globs
    not_names: Globs
    not_ids: Globs
    anybody: bool
    """Whether everything is meant that is not excepted."""

    def fit(self, name: str, number: str) -> bool:
        """Tell whether an operator of this name and id is meant."""
        lower = name.lower()
        if (name and self.not_names.fit(lower)) or self.not_ids.fit(number):
            return False
        return self.anybody or bool(
            (name and self.names.fit(lower)) or self.ids.fit(number)
        )


_CALLED: dict[str, Callable[[Question], tuple[str, str]]] = {
    "actor": attrgetter("actor.name", "actor.id"),
    "session": attrgetter("session_name", "session"),
}
"""The name and the id that each of these keys is about."""


@dataclass(frozen=True, slots=True)
class NamedIs:
    """Who or what the key is about is one of those meant."""

    key: str
    named: Named

    def match(self, question: Question) -> Match:
        """Tell whether it holds."""
        return _known(self.named.fit(*_CALLED[self.key](question)))


@dataclass(frozen=True, slots=True)
class SignalIs:
    """The input is one of these signals; the terminal's interrupt key is one too."""

    key: ClassVar[str] = "signal"
    numbers: frozenset[int]

    def match(self, question: Question) -> Match:
        """Tell whether it holds."""
        if question.interrupts:
            return _known(INTERRUPT in self.numbers)
        if question.kind is not InputKind.SIGNAL:
            return Match.NO
        if _SIGNAL.fullmatch(question.payload) is None:
            return Match.MAYBE
        return _known(int(question.payload) in self.numbers)


@dataclass(frozen=True, slots=True)
class ForegroundOf:
    """The signal, or interrupt, is for a command that one of these started."""

    key: ClassVar[str] = "foreground"
    words: frozenset[str]

    def match(self, question: Question) -> Match:
        """Tell whether it holds."""
        if question.kind is not InputKind.SIGNAL and not question.interrupts:
            return Match.NO
        people = question.started_by
        if people is None:
            return Match.MAYBE
        others = [one for one in people if one != question.actor.id]
        return _known(bool(people) and (OTHER if others else SELF) in self.words)


@dataclass(frozen=True, slots=True)
class During:
    """The clock on the wall shows one of these times, each up to its end."""

    key: ClassVar[str] = "hours"
    spans: tuple[tuple[int, int], ...]

    def match(self, question: Question) -> Match:
        """Tell whether it holds."""
        minute = question.clock.minute
        return _known(any(_within(minute, *span) for span in self.spans))


@dataclass(frozen=True, slots=True)
class Under:
    """The session works in one of these folders, or in a folder of theirs."""

    key: ClassVar[str] = "cwd"
    meant: MeantFolders

    def match(self, question: Question) -> Match:
        """Tell whether it holds."""
        cwd = question.cwd
        if cwd is None or not is_plain_path(cwd):
            return Match.MAYBE
        return self.meant.has(cwd, question.home)


Condition = OneOf | NamedIs | SignalIs | ForegroundOf | During | Under


def is_plain_path(path: str) -> bool:
    """Tell whether a path is absolute and says where it leads without `..`."""
    if path == "/":
        return True
    root, *parts = path.split("/")
    return not root and bool(parts) and not {"", ".", ".."} & set(parts)


def _within(minute: int, start: int, end: int) -> bool:
    if start < end:
        return start <= minute < end
    return minute >= start or minute < end  # past midnight


def _known(holds: bool) -> Match:  # noqa: FBT001  # it is the only thing converted
    return Match.YES if holds else Match.NO
