"""What a program that reads single keys is doing: idle, or busy.

Theory of operation
-------------------
An editor, a pager or a coding agent has the terminal in raw mode all the time, and
sleeps until a key or something else wakes it. So what it sleeps in does not tell
whether it waits for input: an agent that thinks polls its keys as one that waits
does. Here the answer of core.session.session_state is made more exact, by what the
program has done lately: the processor time it has used, and what it has printed.

    idle   it would take a key, and has done nothing lately
    busy   it works, has printed something a moment ago, or would take no key

A program counts as one of these if it shows the alternate screen, or if it reads single
keys and polls something beside them. A line editor does neither: what reads a line key
by key, such as Python's prompt, waits for input as before.

Invariants, each checked by tests/core/session/test_program_state.py:

I1  Only what runs or waits for input becomes idle or busy, and only while the terminal
    hands out single keys.
I2  What has done something lately is not idle.
I3  An idle program that something else could wake is never surely idle.
"""

from dataclasses import replace
from typing import NamedTuple

from holdfast.core.session.session_state import (
    Doing,
    Evidence,
    Sleeper,
    Wait,
    Word,
    reader_in,
)

LATELY = 2.0
"""Seconds for which something printed shows that a program is at work: one that thinks
shows it by something that moves several times a second."""

ECHO = 0.25
"""Seconds after a key in which what is printed is taken for its echo."""

WORKING = 0.2
"""Part of a processor that a program uses which is at work; what only blinks uses a
few hundredths."""

_REFINED = (Word.RUNNING, Word.WAITING_FOR_INPUT)


class Activity(NamedTuple):
    """What a session has done lately, besides what the kernel shows of it now."""

    is_alternate: bool = False
    """Whether the alternate screen is shown."""

    quiet: float | None = None
    """Seconds since it printed something; None if that is not known."""

    processor: float | None = None
    """Part of a processor its foreground used since the last look; None likewise."""


NOTHING_KNOWN = Activity()


def refined(said: Doing, seen: Evidence, lately: Activity) -> Doing:
    """Return what is done, more exactly where a program reads single keys."""
    if said.word not in _REFINED or seen.canonical or not seen.sleepers:
        return said
    reader = reader_in(seen.sleepers)
    if not (lately.is_alternate or _is_program(seen, reader)):
        return said
    program = _program(seen, reader)
    works = [*_works(seen, reader, lately)]
    rests = [*_rests(lately)]
    why = (said.why[0], *works, *rests)
    if works:
        is_sure = not any(one.wait is Wait.UNSEEN for one in seen.sleepers)
        return Doing(Word.BUSY, is_sure, why, program)
    doubt = () if said.is_sure else said.why[2:]
    return replace(said, word=Word.IDLE, why=(*why, *doubt), program=program)


def _is_program(seen: Evidence, reader: Sleeper | None) -> bool:
    """Tell whether what has the terminal does more than to read a line."""
    if reader is not None:
        return reader.others > 0
    return not seen.echo and all(one.wait is not Wait.UNSEEN for one in seen.sleepers)


def _program(seen: Evidence, reader: Sleeper | None) -> str:
    first = [one for one in seen.sleepers if one.pid == seen.foreground]
    return (reader or (first or seen.sleepers)[-1]).name


def _works(seen: Evidence, reader: Sleeper | None, lately: Activity) -> list[str]:
    """Return what shows that the program is at work."""
    found = []
    if reader is None and all(one.wait is not Wait.UNSEEN for one in seen.sleepers):
        found.append("nothing of it waits for a key")
    elif any(one.is_busy for one in seen.sleepers):
        found.append("a part of it runs")
    if seen.unread:
        found.append(f"{seen.unread} bytes were typed that it has not read yet")
    if lately.quiet is not None and lately.quiet < LATELY:
        found.append(f"it printed something {lately.quiet:.1f} s ago")
    if lately.processor is not None and lately.processor >= WORKING:
        found.append(f"it uses {lately.processor:.0%} of a processor")
    return found


def _rests(lately: Activity) -> list[str]:
    """Return what shows that it is not."""
    found = []
    if lately.quiet is not None and lately.quiet >= LATELY:
        found.append(f"it has printed nothing for {lately.quiet:.0f} s")
    if lately.processor is not None and lately.processor < WORKING:
        found.append(f"it uses {lately.processor:.0%} of a processor")
    return found
