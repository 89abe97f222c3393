"""What a session is doing: at its prompt, running, or waiting for input.

Theory of operation
-------------------
The kernel knows which process group has the terminal, what each of its
processes sleeps in, and the modes of the terminal. The caller has just read
that; here it becomes one of six words, and the evidence for it. Two more, for programs
that read single keys, come from core.session.program_state.

A session waits when a process that has the terminal sleeps until someone
types. What it waits for follows from the terminal: a password is read in whole
lines without echo (ADR 0016); a shell that keeps jobs, is first in its group and
edits its line is at its prompt; anything else wants input.

Nothing that a program prints is looked at, so no text can pass for a prompt,
and no prompt is missed for its language. Where the kernel does not let us look
into a process, as into one of another user, its terminal may still tell; then
the answer is marked as not sure. Where nothing tells, the session runs.

Invariants, each checked by tests/core/session/test_session_state.py:

I1  What has ended has exited, and what was made to stand still is frozen,
    whatever else is seen.
I2  A session waits only if a process that has the terminal may be waiting for
    it, and nothing that was typed is left for it to read.
I3  Waiting for a secret takes a terminal without echo that reads whole lines.
I4  At a prompt is only a shell: it keeps jobs, and leads the group that has the
    terminal.
I5  What could not be looked into is never the ground of a sure answer.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

PROMPT_SIZES = frozenset({1024, 8192})
"""Bytes that shells without a line editor read at once at their prompt: bash
1,024 and dash 8,192. Their `read` asks for 4,096 and for 1."""


class Word(enum.StrEnum):
    """What a session does, as the specification calls it."""

    AT_PROMPT = "at-prompt"
    RUNNING = "running"
    WAITING_FOR_INPUT = "waiting-for-input"
    WAITING_FOR_SECRET = "waiting-for-secret"  # noqa: S105  # a state, and no secret
    FROZEN = "frozen"
    FENCED = "fenced"  # without a lease: see docs/spec/leases.md
    EXITED = "exited"
    IDLE = "idle"  # in a program that reads single keys: see program_state
    BUSY = "busy"


class Wait(enum.Enum):
    """What a process sleeps in, as far as it concerns the terminal."""

    READING = "reading"  # in a read of the terminal, and nothing else wakes it
    POLLING = "polling"  # until the terminal, or one of some others, has something
    ELSEWHERE = "elsewhere"  # for something that is not the terminal
    NOTHING = "nothing"  # it does not sleep
    UNSEEN = "unseen"  # the kernel does not tell us


@dataclass(frozen=True, slots=True)
class Sleeper:
    """A process of the group that has the terminal, and what it sleeps in.

    `others` counts what else would wake it; `size` is how many bytes it wants to
    read; `keeps_jobs` is true of shells, which ignore the signals that would stop
    them for touching the terminal. `where` is for people.
    """

    pid: int
    name: str
    state: str
    wait: Wait
    where: str
    is_busy: bool = False
    is_sure: bool = True
    others: int = 0
    size: int = 0
    keeps_jobs: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen of a session. `foreground` is the group with the terminal."""

    foreground: int | None = None
    sleepers: tuple[Sleeper, ...] = ()
    echo: bool = True
    canonical: bool = True
    unread: int = 0
    is_frozen: bool = False
    fenced: str = ""
    """Why it has no lease, and stands still; empty if it has one or needs none."""

    has_exited: bool = False
    ticks: int = 0
    """Clock ticks of processor time that the group has used."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What the session does, whether that is sure, and why."""

    word: Word
    is_sure: bool
    why: tuple[str, ...]
    program: str = ""
    """In which program it is idle or busy."""


def decide(seen: Evidence) -> Doing:
    """Say what a session does, from what was seen of it."""
    if seen.has_exited:
        return Doing(Word.EXITED, is_sure=True, why=("its leader has ended",))
    if seen.fenced:
        return Doing(Word.FENCED, is_sure=True, why=(seen.fenced,))
    if seen.is_frozen:
        why = "an operator froze it"
        return Doing(Word.FROZEN, is_sure=True, why=(why,))
    if seen.foreground is None or not seen.sleepers:
        why = "no process that could be found has the terminal"
        return Doing(Word.RUNNING, is_sure=False, why=(why,))
    reader = reader_in(seen.sleepers)
    return _without_reader(seen) if reader is None else _with_reader(seen, reader)


def is_alone(seen: Evidence) -> bool:
    """Tell whether the first of the group that has the terminal is alone in reading.

    A process that may read it too, or whose wait is hidden from us, counts.
    """
    others = [one for one in seen.sleepers if one.pid != seen.foreground]
    quiet = (Wait.ELSEWHERE, Wait.NOTHING)
    return len(others) < len(seen.sleepers) and all(one.wait in quiet for one in others)


def reader_in(sleepers: Iterable[Sleeper]) -> Sleeper | None:
    """Return who waits for the terminal, the most certain first."""
    waiting = [one for one in sleepers if one.wait in (Wait.READING, Wait.POLLING)]
    return min(waiting, key=_doubt, default=None)


def _doubt(one: Sleeper) -> tuple[bool, bool, int]:
    return not one.is_sure, one.wait is not Wait.READING, one.others


def _with_reader(seen: Evidence, reader: Sleeper) -> Doing:
    who = _told(reader)
    if seen.unread:
        why = f"{seen.unread} bytes were typed that it has not read yet"
        return Doing(Word.RUNNING, is_sure=reader.is_sure, why=(who, why))
    is_busy = any(one.is_busy for one in seen.sleepers)
    if is_busy and reader.others:
        # It would take a key, but it is at work: a dev server, a progress bar.
        why = "a process beside it is at work"
        return Doing(Word.RUNNING, is_sure=False, why=(who, why))
    is_sure = reader.is_sure and not reader.others and not is_busy
    doubt = () if is_sure else (_doubts(reader, is_busy=is_busy),)
    word, why = _wanted(seen, reader)
    return Doing(word, is_sure, (who, why, *doubt))


def _wanted(seen: Evidence, reader: Sleeper) -> tuple[Word, str]:
    if seen.canonical and not seen.echo:
        why = "the terminal reads lines without echo"
        return Word.WAITING_FOR_SECRET, why
    if reader.keeps_jobs and reader.pid == seen.foreground:
        if not (seen.canonical or seen.echo):
            return Word.AT_PROMPT, "it has job control, and edits its own line"
        if reader.size in PROMPT_SIZES:
            return Word.AT_PROMPT, f"it has job control, and reads {reader.size} bytes"
    if seen.canonical:
        return Word.WAITING_FOR_INPUT, "the terminal reads lines with echo"
    return Word.WAITING_FOR_INPUT, "it reads key by key"


def _without_reader(seen: Evidence) -> Doing:
    unseen = [one for one in seen.sleepers if one.wait is Wait.UNSEEN]
    if not unseen:
        return Doing(Word.RUNNING, is_sure=True, why=(_told(seen.sleepers[-1]),))
    who = _told(unseen[-1])
    is_still = not any(each.is_busy for each in seen.sleepers)
    if seen.canonical and not seen.echo and not seen.unread and is_still:
        why = "it sleeps, and the terminal reads lines without echo"
        return Doing(Word.WAITING_FOR_SECRET, is_sure=False, why=(who, why))
    why = "what it waits for cannot be determined"
    return Doing(Word.RUNNING, is_sure=False, why=(who, why))


def _told(one: Sleeper) -> str:
    return f"{one.name} ({one.pid}) {one.where}"


def _doubts(reader: Sleeper, *, is_busy: bool) -> str:
    if not reader.is_sure:
        return "that it waits for the terminal is inferred from its open files"
    if is_busy:
        return "a process beside it is at work"
    return f"{reader.others} more would wake it"
