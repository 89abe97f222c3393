"""The outcome of an input.

    APPLIED    the terminal took every byte; the only outcome called acknowledged
    REFUSED    no byte was written, and why
    DROPPED    accepted, but no byte was written before the turn moved
    CUT        a seize came while it was being written; `written` bytes went in
    UNKNOWN    the process that wrote it died before it could say; never repeated

Acknowledged means accepted by the terminal, never that the program read it.
"""

from dataclasses import dataclass
from typing import ClassVar

from holdfast.model.errors import HoldfastError
from holdfast.model.ids import Index


@dataclass(frozen=True, slots=True)
class Applied:
    """The terminal accepted every byte of the input logged at `index`."""

    word: ClassVar[str] = "applied"
    index: Index


@dataclass(frozen=True, slots=True)
class Refused:
    """No byte was written. `error` says why and what to do next."""

    word: ClassVar[str] = "refused"
    error: HoldfastError


@dataclass(frozen=True, slots=True)
class Dropped:
    """Logged at `index`, and thrown away unwritten when the turn moved."""

    word: ClassVar[str] = "dropped"
    index: Index


@dataclass(frozen=True, slots=True)
class Cut:
    """Logged at `index`; the turn moved after `written` bytes had gone in."""

    word: ClassVar[str] = "cut"
    index: Index
    written: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """Logged at `index`; whether it was written died with the writer."""

    word: ClassVar[str] = "unknown"
    index: Index


Outcome = Applied | Refused | Dropped | Cut | Unknown


def outcome_from(
    word: str, index: Index, written: int = 0
) -> Applied | Dropped | Cut | Unknown:
    """Return the outcome of an accepted input by its word in the logbook."""
    if word == Cut.word:
        return Cut(index, written)
    if word == Applied.word:
        return Applied(index)
    return Dropped(index) if word == Dropped.word else Unknown(index)
