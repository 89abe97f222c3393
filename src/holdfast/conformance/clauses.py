"""The list of clauses, in the order in which they are tried."""

from collections.abc import Callable
from typing import NamedTuple

from holdfast.conformance.subject import Subject

Check = Callable[[Subject], str]
"""Tries a clause; returns what was seen, or raises Broken or NotTried."""


class Clause(NamedTuple):
    """Something that an implementation must do, and how it is tried."""

    section: str
    name: str
    text: str
    check: Check


CLAUSES: list[Clause] = []


def clause(section: str) -> Callable[[Check], Check]:
    """Add a check to the list, under the section of wire.md that it is about.

    The first line of its docstring is the clause.
    """

    def added(check: Check) -> Check:
        name = check.__name__.replace("_", "-")
        text = (check.__doc__ or "").partition("\n")[0].removesuffix(".")
        CLAUSES.append(Clause(section, name, text, check))
        return check

    return added
