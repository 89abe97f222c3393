"""The outcome of an input.

    APPLIED    the terminal took every byte; the only outcome called acknowledged
    REFUSED    no byte was written, and why
    DROPPED    accepted, but no byte was written before the turn moved
    CUT        a seize came while it was being written; `written` bytes went in
    UNKNOWN    the process that wrote it died before it could say; never repeated

Acknowledged means accepted by the terminal, never that the program read it.
"""

from dataclasses import dataclass

from holdfast.model.errors import HoldfastError
from holdfast.model.ids import Index


@dataclass(frozen=True, slots=True)
class Applied:
    """The terminal accepted every byte of the input logged at `index`."""

    index: Index


@dataclass(frozen=True, slots=True)
class Refused:
    """No byte was written. `error` says why and what to do next."""

    error: HoldfastError


@dataclass(frozen=True, slots=True)
class Dropped:
    """Logged at `index`, and thrown away unwritten when the turn moved."""

    index: Index


@dataclass(frozen=True, slots=True)
class Cut:
    """Logged at `index`; the turn moved after `written` bytes had gone in."""

    index: Index
    written: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """Logged at `index`; whether it was written died with the writer."""

    index: Index


Outcome = Applied | Refused | Dropped | Cut | Unknown
