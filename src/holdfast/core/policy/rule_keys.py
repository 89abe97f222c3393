"""The keys of a rule, their values and meaning.

Every key takes a text or a list of texts, of which one has to fit; `signal` takes
numbers. An empty list is refused: it would be a rule that never fits, and a rule
meant to deny would be lost without a word.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

from holdfast.core.policy.command_words import WordPatterns
from holdfast.core.policy.conditions import (
    OTHER,
    SELF,
    Condition,
    During,
    ForegroundOf,
    Named,
    NamedIs,
    OneOf,
    SignalIs,
    Under,
    is_plain_path,
)
from holdfast.core.policy.file_access import FilePatterns, Options
from holdfast.core.policy.meant_folders import HOME, MeantFolders
from holdfast.core.policy.resolved import OriginatorIs, ResolvedPatterns
from holdfast.core.shell.globs import Globs, fault_of
from holdfast.model.actors import ActorKind
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import DAYS, Place, TurnHold
from holdfast.model.resolutions import Sort, Thing
from holdfast.model.text import printable

MAX_ALTERNATIVES = 256
"""Texts after one key; more belong into another rule."""

MAX_SEQUENCE = 16
"""Words in a sequence: longer than any subcommand of a subcommand."""

MAX_PATH = 4096
"""Characters in a path, as the kernel has it."""

LAST_SIGNAL = 64

HELD = "held"
"""Says of the turn that the actor has it, in whichever way."""

EXCEPT = "!"
"""Before an actor, a session or a folder: all but this."""

NAMED = "@"
"""Before the name of folders that have one."""

_SPAN = re.compile(r"([0-2][0-9]):([0-5][0-9])-([0-2][0-9]):([0-5][0-9])", re.ASCII)
_WHOLE_DAY = 24 * 60

Complain = Callable[[str, str], None]
"""Told which key is wrong, and what was expected."""

Reader = Callable[[object, Complain], Condition]
"""Reads what stands after one key."""


def read_words(given: Mapping[str, object], complain: Complain) -> WordPatterns | None:
    """Return what a rule wants of the words, or None if it wants nothing."""
    if not (WORDS | FILES) & given.keys():
        return None
    return WordPatterns(
        _globs(given, "first", complain),
        _globs(given, "any", complain),
        _sequences(given, "sequence", complain),
        _sequences(given, "exact", complain),
    )


def read_resolved(
    given: Mapping[str, object], complain: Complain
) -> ResolvedPatterns | None:
    """Return what a rule wants of what runs, or None if it wants nothing."""
    if not RESOLVED & given.keys():
        return None
    sorts = _given(given, "resolves", [one.value for one in Sort], complain)
    kinds = _given(given, "originator_kind", [one.value for one in ActorKind], complain)
    things = _given(given, "staged", [one.value for one in Thing], complain)
    originator = given.get("originator")
    return ResolvedPatterns(
        frozenset(map(Sort, sorts)),
        _globs(given, "program", complain),
        None if originator is None else _originator(originator, complain),
        frozenset(map(ActorKind, kinds)),
        frozenset(map(Thing, things)),
    )


def _given(
    given: Mapping[str, object], key: str, words: list[str], complain: Complain
) -> frozenset[str]:
    if key not in given:
        return frozenset()
    return _among(given[key], key, frozenset(words), complain)


def _originator(value: object, complain: Complain) -> OriginatorIs:
    texts = _texts(value, "originator", complain)
    words = frozenset({OTHER, SELF}) & {*texts}
    names = [text for text in texts if text not in words]
    named = _named(names, "originator", "a_", complain) if names else None
    return OriginatorIs(words, named)


def _texts(value: object, key: str, complain: Complain) -> list[str]:
    """Return one or more texts, or none after a complaint."""
    texts = [value] if isinstance(value, str) else value
    if (
        isinstance(texts, list)
        and 0 < len(texts) <= MAX_ALTERNATIVES
        and all(isinstance(text, str) for text in texts)
    ):
        return texts
    complain(key, f"expected a text, or 1 to {MAX_ALTERNATIVES} texts in a list")
    return []


def _among(
    value: object, key: str, words: frozenset[str], complain: Complain
) -> frozenset[str]:
    texts = _texts(value, key, complain)
    for text in texts:
        if text not in words:
            expected = ", ".join(sorted(words))
            complain(key, f"expected one of {expected}, not {printable(text, 64)!r}")
    return words & set(texts)


def _patterns(texts: list[str], key: str, complain: Complain) -> list[str]:
    """Return the patterns that have no fault."""
    for text in texts:
        if fault := fault_of(text):
            complain(key, f"{printable(text, 64)!r} is not a pattern: {fault}")
    return [text for text in texts if not fault_of(text)]


def _globs(given: Mapping[str, object], key: str, complain: Complain) -> Globs | None:
    if key not in given:
        return None
    texts = _texts(given[key], key, complain)
    for text in texts:
        if " " in text:
            complain(key, f"{printable(text, 64)!r} has a blank, and no word has")
    return Globs.of(_patterns(texts, key, complain))


def _sequences(
    given: Mapping[str, object], key: str, complain: Complain
) -> tuple[tuple[Globs, ...], ...]:
    if key not in given:
        return ()
    found = []
    for text in _texts(given[key], key, complain):
        words = text.split(" ")
        if len(words) > MAX_SEQUENCE:
            complain(key, f"it has over {MAX_SEQUENCE} words")
            continue
        # Without its bad words nothing may be left, and no sequence is empty.
        if patterns := _patterns(words, key, complain):
            found.append(tuple(Globs.of([word]) for word in patterns))
    return tuple(found)


def _one_of(key: str) -> Reader:
    words = _MEANINGS[key]

    def read(value: object, complain: Complain) -> Condition:
        found = _among(value, key, frozenset(words), complain)
        return OneOf(key, frozenset(chain.from_iterable(words[one] for one in found)))

    return read


def _named_is(key: str, prefix: str) -> Reader:
    return lambda value, complain: NamedIs(key, _named(value, key, prefix, complain))


def _named(value: object, key: str, prefix: str, complain: Complain) -> Named:
    texts = [text.lower() for text in _texts(value, key, complain)]
    meant = [text for text in texts if not text.startswith(EXCEPT)]
    excepted = [text.removeprefix(EXCEPT) for text in texts if text not in meant]
    sorted_out = [
        Globs.of(text for text in some if text.startswith(prefix) is is_id)
        for some in (
            _patterns(meant, key, complain),
            _patterns(excepted, key, complain),
        )
        for is_id in (False, True)
    ]
    names, ids, not_names, not_ids = sorted_out
    return Named(names, ids, not_names, not_ids, not meant)


def _cwd(value: object, complain: Complain) -> Condition:
    return Under(read_folders(value, "cwd", complain))


def read_folders(value: object, key: str, complain: Complain) -> MeantFolders:
    """Return which folders are meant, and which are excepted."""
    folders: dict[bool, list[str]] = {True: [], False: []}
    for text in _texts(value, key, complain):
        path, is_excepted = text.removeprefix(EXCEPT), text.startswith(EXCEPT)
        folder = path if path == "/" else path.removesuffix("/")
        # Only what is excepted may lie anywhere.
        whole = folder.removeprefix("*" if is_excepted else HOME).removeprefix(HOME)
        is_path = folder == HOME or is_plain_path(whole)
        if not is_path or len(folder) > MAX_PATH:
            shown = printable(text, 64)
            wanted = f"an absolute path, or one that begins with {HOME}, without '..'"
            complain(key, f"expected {wanted}, not {shown!r}")
        elif any(one in folder for one in "*?\\") and (fault := fault_of(folder)):
            complain(key, f"{printable(text, 64)!r} is not a pattern: {fault}")
        else:
            folders[is_excepted].append(folder)
    return MeantFolders(tuple(folders[False]), tuple(folders[True]))


def with_folders(
    given: Mapping[str, object], named: Mapping[str, list[object]], complain: Complain
) -> Mapping[str, object]:
    """Return a rule with the folders in it for which their names stand."""
    found = dict(given)
    for key in FOLDERS & given.keys():
        value = given[key]
        told: list[object] = []
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, str) or not one.startswith(NAMED):
                told.append(one)
            elif (name := one.removeprefix(NAMED)) in named:
                told += named[name]
            else:
                complain(key, f"[folders] has no {printable(name, 64)!r}")
                told.append("/")  # One complaint is enough.
        found[key] = told
    return found


def _hush(_key: str, _what: str) -> None:
    """Take a complaint that was made before."""


def read_files(given: Mapping[str, object], complain: Complain) -> FilePatterns | None:
    """Return what a rule wants of files and options, or None if it wants nothing."""
    if not FILES & given.keys():
        return None
    without = _globs(given, "without", complain)
    texts = _texts(given.get("without"), "without", _hush)
    paths, writes = given.get("paths"), given.get("writes")
    return FilePatterns(
        None if without is None else Options(tuple(texts)),
        _globs(given, "sets", complain),
        None if paths is None else read_folders(paths, "paths", complain),
        None if writes is None else read_folders(writes, "writes", complain),
    )


def _hours(value: object, complain: Complain) -> Condition:
    spans = []
    for text in _texts(value, "hours", complain):
        span = _span(text)
        if span is None:
            shown = printable(text, 64)
            complain("hours", f"expected a span such as 22:00-06:00, not {shown!r}")
        else:
            spans.append(span)
    return During(tuple(spans))


def _span(text: str) -> tuple[int, int] | None:
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    start = int(found[1]) * 60 + int(found[2])
    end = int(found[3]) * 60 + int(found[4])
    is_span = start < _WHOLE_DAY and end <= _WHOLE_DAY and start != end
    return (start, end) if is_span else None


def _signal(value: object, complain: Complain) -> Condition:
    given = value if isinstance(value, list) else [value]
    # A bool is an int to isinstance, and no signal.
    numbers = [one for one in given if type(one) is int and 0 < one <= LAST_SIGNAL]
    if not numbers or len(numbers) != len(given):
        complain("signal", f"expected numbers from 1 to {LAST_SIGNAL}")
    return SignalIs(frozenset(numbers))


def _foreground(value: object, complain: Complain) -> Condition:
    found = _among(value, "foreground", frozenset({OTHER, SELF}), complain)
    return ForegroundOf(found)


_MEANINGS: dict[str, dict[str, Iterable[Any]]] = {
    "kind": {one.value: (one,) for one in ActorKind},
    "at": {one.value: (one,) for one in Place},
    "input": {one.value: (one,) for one in InputKind},
    "turn": {one.value: (one,) for one in TurnHold}
    | {HELD: frozenset(TurnHold) - {TurnHold.NONE}},
    "days": {day: (number,) for number, day in enumerate(DAYS)},
}
"""What each word means that may stand after one of these keys."""

CONDITIONS: dict[str, Reader] = {
    "kind": _one_of("kind"),
    "at": _one_of("at"),
    "input": _one_of("input"),
    "actor": _named_is("actor", "a_"),
    "session": _named_is("session", "s_"),
    "turn": _one_of("turn"),
    "signal": _signal,
    "foreground": _foreground,
    "hours": _hours,
    "days": _one_of("days"),
    "cwd": _cwd,
}
"""How each key is read that is not about words."""

WORDS = frozenset({"first", "any", "sequence", "exact"})
"""The keys that are about the words of a command."""

FOLDERS = frozenset({"cwd", "paths", "writes"})
"""The keys that are about folders."""

FILES = frozenset({"without", "sets", "paths", "writes"})
"""The keys that are about what a command reaches."""

RESOLVED = frozenset({"resolves", "program", "originator", "originator_kind", "staged"})
"""The keys that are about what runs, and about who staged it."""
