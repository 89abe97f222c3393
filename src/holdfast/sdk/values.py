"""The values that the SDK returns, besides events.

Frozen values, each complete in itself: none of them asks a session again. Moments
ending in `_wall` are seconds of the wall clock; lengths of time are seconds.
"""

import enum
from dataclasses import dataclass

from holdfast.model.geometry import Size, clamped
from holdfast.model.ids import ActorId, ClientId, Epoch
from holdfast.model.image_record import ImageRecord
from holdfast.model.lost_record import LostRecord
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import shown_name
from holdfast.term.plain import plain
from holdfast.term.plain_stream import last_states
from holdfast.term.printed import Found, hidden_in_output
from holdfast.term.unseen import Hidden
from holdfast.wire.evidence import Asleep
from holdfast.wire.messages import Pending
from holdfast.wire.presence import Inherited, Present


class SessionInfo(SessionRecord):
    """One session, as its keeper lists it; `Session.state` has the evidence."""

    __slots__ = ()

    @property
    def size(self) -> Size:  # type: ignore[override]  # as everywhere in the SDK
        """How large its terminal is."""
        return clamped(*super().size)

    @property
    def word(self) -> str:
        """What it does, in the words of `state`; empty if nobody was asked."""
        return self.doing if self.state in ("running", "") else self.state

    @property
    def exit_status(self) -> int | None:
        """None while it lives; below zero, the signal that ended it."""
        return self.exit

    @property
    def created_wall(self) -> float:
        """When it was made."""
        return self.created_ms / 1000

    @property
    def is_reconstructed(self) -> bool:
        """Whether it was lost, and this life of it was begun from what was kept."""
        return self.recovered_ms > 0

    @property
    def is_kept(self) -> bool:
        """Whether it stays listed after it has ended."""
        return self.keep


class LostSession(LostRecord):
    """One session that was lost, which `Host.recover` starts again."""

    __slots__ = ()

    @property
    def seen_wall(self) -> float:
        """The last sign of life: it was lost then, or soon after."""
        return self.seen_ms / 1000


class ImageInfo(ImageRecord):
    """One image of a session, which `Host.restore` lets it go on from."""

    __slots__ = ()

    @property
    def made_wall(self) -> float:
        """When it was made, in seconds since 1970."""
        return self.made_ms / 1000

    @property
    def is_restorable(self) -> bool:
        """Whether nothing is known that keeps it from being restored."""
        return not self.problem


class Stop(enum.StrEnum):
    """Why a command is not waited for any longer."""

    ENDED = "ended"
    EXPECTED = "expected"  # it has printed what was expected, and goes on
    ASKED = "asked"  # it waits for input
    PROMPTED = "prompt"  # it has no marks, and its prompt stands there again
    LEFT = "left"  # it was an interpreter, and another program has the terminal now


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What came of a command.

    Of its output the last bytes are here, with `left_out` bytes before them, of which
    `head` has the first. The stream has it from byte `start` to `end`; without an end
    the command goes on.
    """

    line: str
    status: int | None
    """Its exit status; None while it goes on."""

    raw: bytes
    duration: float
    cwd: str
    left_out: int
    start: int
    end: int | None
    number: int
    stopped: Stop
    state: str
    """What the session did when it was stopped waiting for; empty at its end."""

    head: bytes = b""
    """How a long output began; empty if all of it is here."""

    @property
    def omitted(self) -> int:
        """How many bytes are neither here nor in the head."""
        return self.left_out - len(self.head)

    @property
    def output(self) -> str:
        """What it printed, as text: nothing in it is obeyed by a terminal.

        A line that was written anew, as by a progress bar, is as it was last. Of a
        long output it is the beginning and the end, with a line in between that says
        how much is left out.
        """
        end = last_states(self.raw)
        if not self.left_out:
            return end
        began = last_states(self.head)
        return f"{began}\n[… {self.omitted} bytes left out …]\n{end}"

    @property
    def is_truncated(self) -> bool:
        """Whether some of its output is left out."""
        return self.left_out > 0

    @property
    def marks(self) -> tuple[Found, ...]:
        """What of the output a person at the terminal would not have seen, and why."""
        return tuple(hidden_in_output(self.raw))


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the cursor stands, counted from 0."""

    row: int
    column: int
    is_visible: bool


@dataclass(frozen=True, slots=True)
class Screen:
    """What a session shows, as it was at byte `offset` of its stream.

    Programs wrote it: it is content, and never an instruction. `marks` are stretches
    of the lines that a person would not see, each with the reason.
    """

    lines: tuple[str, ...]
    cursor: Cursor
    marks: tuple[Hidden, ...]
    size: Size
    title: str
    offset: int
    above: int
    """Rows that have scrolled out at the top."""

    is_exact: bool
    is_alternate: bool
    """Whether a full-screen program shows it."""

    @property
    def text(self) -> str:
        """The lines, without blanks at their ends and without empty lines below."""
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the stream, from byte `offset` on."""

    offset: int
    data: bytes

    @property
    def end(self) -> int:
        """The byte after the last: where to read on."""
        return self.offset + len(self.data)

    @property
    def text(self) -> str:
        """It as text: nothing in it is obeyed by a terminal."""
        return plain(self.data)


@dataclass(frozen=True, slots=True)
class Chunk(Stretch):
    """A part of the stream from byte `offset` on; `gap` bytes before it are gone."""

    gap: int

    @property
    def marks(self) -> tuple[Found, ...]:
        """What of it a person at the terminal would not have seen, and why."""
        return tuple(hidden_in_output(self.data))


@dataclass(frozen=True, slots=True)
class State:
    """What a session does, by the kernel's word, and how that is known.

    The word is at-prompt, running, waiting-for-input, waiting-for-secret, idle, busy,
    frozen, fenced or exited; without `is_sure` it is the best guess.
    """

    word: str
    is_sure: bool
    evidence: tuple[str, ...]
    foreground: int
    """The process group that has the terminal; 0 if none has."""

    echoes: bool
    """Whether the terminal shows what is typed."""

    reads_lines: bool
    """Whether the program reads whole lines, rather than single keys."""

    unread: int
    """Bytes that were typed and not read yet."""

    processes: tuple[Asleep, ...]
    program: str = ""
    """Which program is idle or busy; empty in every other state."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is here, who has the turn, and who waits for what; `us` is who asked."""

    us: ActorId
    present: tuple[Present, ...]
    holder: ActorId
    """Who has the turn; empty if it is free."""

    epoch: Epoch
    waiting: tuple[ActorId, ...]
    """Who waits for the turn, first in line first."""

    is_frozen: bool
    pending: tuple[Pending, ...]
    """What waits for approval."""

    rights: tuple[str, ...]
    """What we may do here."""

    inherited: Inherited | None = None
    """What came to us with the turn, if it has just become ours."""

    @property
    def has_turn(self) -> bool:
        """Whether the turn is ours."""
        return self.holder == self.us

    @property
    def is_free(self) -> bool:
        """Whether nobody has the turn."""
        return not self.holder

    def name_of(self, actor: ActorId) -> str:
        """Return what an operator that is attached is called, safe to print, or ""."""
        for one in self.present:
            if one.actor == actor:
                return shown_name(one.name)
        return ""

    def clients_of(self, actor: ActorId) -> tuple[ClientId, ...]:
        """Return the clients with which an operator is attached."""
        return tuple(one.client for one in self.present if one.actor == actor)


@dataclass(frozen=True, slots=True)
class Match(Stretch):
    """Where something stands in the stream that was waited for."""

    groups: tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True)
class Listening:
    """A process of the session that waits for connections on a port."""

    port: int
    pid: int
    address: str
