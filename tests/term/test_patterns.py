"""Possessive groups work in every Python that we promise to run on.

Python before 3.11.5, Debian 12's among them, goes on in the wrong place when a group
with a possessive quantifier (`(?:…)*+`) has failed half-way. An atomic group
(`(?>…)*+`) matches the same, and right.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import holdfast
import holdfast.core
import holdfast.term

PURE = (holdfast.term, holdfast.core)


def patterns() -> Iterator[tuple[str, re.Pattern[bytes] | re.Pattern[str]]]:
    for package in PURE:
        for one in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            for name, value in vars(importlib.import_module(one.name)).items():
                if isinstance(value, re.Pattern):
                    yield f"{one.name}.{name}", value


def backtracking(parsed: Any) -> bool:  # noqa: ANN401  # Python has no type for it
    """Tell whether a possessive group in it is not atomic."""
    for operation, value in parsed:
        if operation is _constants.POSSESSIVE_REPEAT:
            first = value[2][0][0]
            if first in (_constants.SUBPATTERN, _constants.BRANCH) or len(value[2]) > 1:
                return True
        parts = value if isinstance(value, tuple | list) else ()
        inner = [one for one in parts if isinstance(one, _parser.SubPattern)]
        if operation is _constants.BRANCH:
            inner = value[1]
        elif operation is _constants.ATOMIC_GROUP:
            inner = [value]
        if any(map(backtracking, inner)):
            return True
    return False


def has_one(pattern: bytes | str, flags: int = 0) -> bool:
    return backtracking(_parser.parse(pattern, flags))


def test_what_is_looked_for_is_found() -> None:
    for pattern in (r"(?:a|bc)*+", r"(a)++", r"x(?:(?>(?:ab)?+)|c)", r"(?=(?:ab)*+)"):
        assert has_one(pattern), pattern
    for pattern in (r"a*+", r"[ab]++", r"(?>a|bc)*+", r"(?:a|bc)*", r"x{0,3}+"):
        assert not has_one(pattern), pattern


def test_every_possessive_group_is_atomic() -> None:
    found = dict(patterns())

    assert len(found) > 50
    assert [n for n, one in found.items() if has_one(one.pattern, one.flags)] == []
