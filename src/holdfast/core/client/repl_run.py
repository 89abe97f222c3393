"""One line in an interpreter, from its first key to the next prompt.

Theory of operation
-------------------
A shell with marks says where each command begins and ends. Python, node and psql say
nothing; but each has a prompt of its own, and nothing else is typed into them by us. So
the line is typed where the prompt stands, once, and what it printed ends where the
prompt stands again: as the last line, with nothing after it for a while, and with a
program that waits.

    reads up to now ──▶ looks who has the terminal ──▶ types ──▶ typed ──▶ over

A line such as `exit()` brings no prompt back. So it is over as well where another
program has the terminal and waits: the shell that the interpreter was started from.

A program could print what looks like its prompt and go on in silence. Therefore the
result says that it was found by the prompt, and there is no exit status.

Invariants:

I1  Nothing is typed unless a known interpreter has the terminal and its prompt is the
    last thing that was printed.
I2  The line is typed once. After that every error says so (Unsettled), or says
    that the session is over.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.command_output import Gathered, Ran, Stop
from holdfast.core.client.command_run import Wish, ended_meanwhile
from holdfast.core.client.exchange import AttachedExchange
from holdfast.core.client.farewell import drop_turn
from holdfast.core.client.questions import NO_CLIENT
from holdfast.model import errors
from holdfast.model.ids import ClientId
from holdfast.model.inputs import InputKind
from holdfast.term.plain import plain
from holdfast.wire.codec import Message
from holdfast.wire.commands import CommandReport, ShellCommand
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.messages import Attached, Exited, Output

if TYPE_CHECKING:
    from collections.abc import Callable

QUIET = 0.1
"""Seconds without output after which a prompt is taken for one, and looked at again."""

PATIENT = 2.0
"""Seconds after which a prompt that stands is believed, whatever the program does; and
between two looks at who has the terminal, while none stands."""

WAITS = ("at-prompt", "waiting-for-input", "idle")
"""What a session does in which the program that has the terminal waits."""

MAX_KEPT = 64 * 1024
MAX_PROMPT = 512
"""Bytes at the end of the stream in which a prompt is looked for."""


ASKS = ("waiting-for-input", "waiting-for-secret", "idle")
"""What a session does in which a person is asked, or shown a page at a time."""


class Interpreter(NamedTuple):
    """What an interpreter is called, and how it asks for a line, or for more of one."""

    name: str
    prompt: re.Pattern[str]
    more: re.Pattern[str]


KNOWN = (
    Interpreter("python", re.compile(r">>> "), re.compile(r"\.\.\. +")),
    Interpreter("node", re.compile(r"> "), re.compile(r"(?:\.\.\.|\|) +")),
    Interpreter(
        "psql",
        re.compile(r"\S*=[*!?]?[#>] "),
        re.compile(r"""\S*[-'"(*$][*!?]?[#>] """),
    ),
    Interpreter("sqlite3", re.compile(r"sqlite> "), re.compile(r" +\.\.\.> ")),
)
"""By how the name of the program begins."""


class ReplRun(AttachedExchange[Ran]):
    """One line that is typed into an interpreter, and waited for until `deadline`."""

    def __init__(  # as CommandRun, and why that could not be
        self,
        attachment: Attachment,
        line: bytes,
        wish: Wish,
        refused: errors.HoldfastError,
        *,
        now: float,
        deadline: float,
    ) -> None:
        """Begin; `refused` is raised if this is no interpreter at its prompt."""
        super().__init__(attachment)
        self.printed: Callable[[bytes], None] = lambda _: None
        """Called with each line that is printed, when it is over."""

        self.interpreter: Interpreter | None = None
        self._line = line
        self._wish = wish
        self._refused = refused
        self._begun_at = now
        self._deadline = deadline
        self._gathered = Gathered(max(wish.limit, MAX_KEPT))
        self._group = 0
        self._ready_at = 0
        self._typed_at: int | None = None
        self._shown_at: int | None = None
        self._is_typed = False
        self._is_asking = False
        self._was_free = False
        self._changed_at = now
        self._look_at = now

    # ── coming and going ──────────────────────────────────────────────────

    def asks_first(self) -> tuple[ClientId, ...]:
        """Ask where the interpreter was started, so as to read no more than that."""
        return (NO_CLIENT,) if self._typed_at is None else ()

    def told_first(self, reports: list[CommandReport]) -> None:
        """Read from where the shell's last command began."""
        command = reports[0].command if reports else None
        if command is not None:
            self.attachment.offset = command.start

    def refused_first(self, error: errors.HoldfastError) -> None:
        """Go on without: no shell started it."""

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Note where the stream ends: what is before that is read first."""
        if self._typed_at is None:
            self._ready_at = attached.end
            self._was_free = not attached.holder
            self._look_at = now if self._has_read else now + timeouts.TYPING
        return []

    def cut(self, error: errors.SessionUnreachable, now: float) -> None:
        """Wait for a successor, while there is time for it to answer."""
        self._is_asking = False
        if self.is_lost(now) or now >= self._deadline:
            raise error

    # ── waiting ───────────────────────────────────────────────────────────

    def deadline(self, now: float) -> float:
        """Return when to call `ticked`."""
        del now
        return min(self._look_at, self._deadline)

    def ticked(self, now: float) -> list[Message]:
        """Look who has the terminal, now that nothing has come for a while.

        Raises:
            Unsettled: The time is up.

        """
        if now >= self._deadline:
            raise self._late(now)
        if now < self._look_at:
            return []
        self._look_at = now + QUIET
        if self._is_asking or (self._is_typed and not self._has_answered):
            return []
        if self._is_typed and self._standing() is None:
            self._look_at = now + PATIENT
        self._is_asking = True
        return [StateRequest()]

    def _late(self, now: float) -> errors.HoldfastError:
        if self._typed_at is None:
            return self._refused
        if not self._is_typed:
            return errors.OutcomeUnknown(self.attachment.client, 1)
        waited = round((now - self._begun_at) * 1000)
        return errors.CommandGoesOn(self._typed_at, waited, "not known")

    # ── what is heard ─────────────────────────────────────────────────────

    def heard(self, news: News, now: float) -> list[Message]:
        """Take what comes on the link.

        Raises:
            Unsettled: It was typed, and what came of it is not known.
            HoldfastError: It was refused, and why.

        """
        if news.answer is not None:
            if (error := news.answer[1]) is not None:
                raise error
            self._is_typed = True
        match news.message:
            case Output(offset, data):
                printed = news.printed
                self._gathered.add(offset + len(data) - len(printed), printed)
                self._changed_at = now
                is_first = self._typed_at is None and self._has_read
                self._look_at = now if is_first else now + QUIET
                self._follow()
            case Evidence() as seen if self._is_asking:
                self._is_asking = False
                return self._seen(seen, now)
            case Exited(status):
                raise ended_meanwhile(status)
            case _:
                pass
        return []

    @property
    def _has_read(self) -> bool:
        return (self.attachment.offset or 0) >= self._ready_at

    def _seen(self, seen: Evidence, now: float) -> list[Message]:
        if self._typed_at is None:
            return self._type(seen)
        if not self._is_typed or not self._has_answered:
            return []
        if self._has_left(seen):
            self.result = self._result(now, Stop.LEFT, seen.state)
            return []
        if (standing := self._standing()) is None:
            if self._wish.until_input and seen.state in ASKS and not seen.unread:
                self.result = self._result(now, Stop.ASKED, seen.state)
            return []
        is_busy = seen.unread or seen.state == "running"
        if is_busy and now - self._changed_at < PATIENT:
            return []
        if not standing.prompt.fullmatch(self._last_line()):
            raise errors.LineUnfinished(self._typed_at)
        self.result = self._result(now, Stop.PROMPTED)
        return []

    def _has_left(self, seen: Evidence) -> bool:
        """Tell whether another program than the interpreter waits at the terminal."""
        is_other = seen.foreground not in (0, self._group)
        return is_other and seen.state in WAITS and not seen.unread

    def _type(self, seen: Evidence) -> list[Message]:
        """Type the line, if this is where it belongs."""
        names = [one.name for one in seen.sleepers if one.pid == seen.foreground]
        found = [
            one
            for one in KNOWN
            if any(name.startswith(one.name) for name in names)
            and one.prompt.fullmatch(self._last_line())
        ]
        if not found or seen.unread or not self._has_read:
            raise self._refused
        self.interpreter = found[0]
        self._group = seen.foreground
        self._typed_at = self._gathered.end
        return [self.attachment.submit(InputKind.KEYS, self._line + b"\r")]

    def _follow(self) -> None:
        """Pass on the lines that are over; a prompt is none, nor is what we typed."""
        if self._typed_at is None:
            return
        whole = self._gathered.since(self._typed_at)
        first = self._gathered.end - len(whole)
        if self._shown_at is None and b"\n" in whole:
            self._shown_at = first + whole.index(b"\n") + 1
        if self._shown_at is not None:
            end = first + whole.rfind(b"\n") + 1
            fresh, missing = self._gathered.between(
                self._shown_at, max(end, self._shown_at), len(whole)
            )
            self._shown_at += missing + len(fresh)
            if fresh:
                self.printed(fresh)

    @property
    def _has_answered(self) -> bool:
        """Whether there is more than the echo of our own line."""
        assert self._typed_at is not None  # noqa: S101  # it is typed
        return b"\n" in self._gathered.since(self._typed_at)

    def _standing(self) -> Interpreter | None:
        """Return the interpreter, if it asks for a line below the one we typed."""
        assert self.interpreter is not None  # noqa: S101  # it is typed
        known, last = self.interpreter, self._last_line()
        asks = known.prompt.fullmatch(last) or known.more.fullmatch(last)
        return known if asks else None

    def _last_line(self) -> str:
        tail = self._gathered.since(self._gathered.end - MAX_PROMPT)
        return plain(tail).rpartition("\n")[2]

    # ── what came of it ───────────────────────────────────────────────────

    def _result(self, now: float, stop: Stop, state: str = "") -> Ran:
        """Return what stands between the line that we typed and the next prompt."""
        assert self._typed_at is not None  # noqa: S101  # it is typed
        whole = self._gathered.since(self._typed_at)
        gone = self._gathered.end - self._typed_at - len(whole)
        is_over = stop is not Stop.ASKED
        # If the echo is gone, so is what the first line of the rest began with.
        first = whole.index(b"\n") + 1
        start = self._typed_at + gone + first
        end = self._typed_at + gone + whole.rindex(b"\n") + 1
        if not is_over:
            end = self._gathered.end
        output, left_out = self._gathered.between(start, end, self._wish.limit)
        text = self._line.decode("utf-8", "replace")
        command = ShellCommand(
            number=0,
            client=self.attachment.client,
            line=text,
            start=start,
            end=end if is_over else None,
            status=None,
            duration_ms=round((now - self._begun_at) * 1000),
            cwd="",
        )
        return Ran(command, output, left_out + gone, stop, state)

    def last_acts(self) -> list[Message]:
        """Return how to drop the turn that typing took: the next may be another's."""
        return drop_turn(self.attachment, was_free=self._was_free)
