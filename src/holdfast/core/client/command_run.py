"""One command in a session's shell, from its first key to its end.

Theory of operation
-------------------
A run is an exchange (core.client.exchange). It types the line at the prompt, once,
under the id of a client that exists for this command only, so that a successor of a
holder that died answers the same input from the logbook.

    asks where the shell is ──▶ types ──▶ typed ──▶ over
                                  ▲  │
                                  └──┘ refused, and the prompt is about to come

A command may never end, and the kernel knows more than its output: now and then, while
nothing is heard, the run asks what the session does. So a line that the shell does
not take for a whole command is noticed, and a program that waits for input,
for those who want to know.

Invariants:

I1  The line is typed once, whatever dies meanwhile: it keeps its id until it is
    answered, and has another one only after an answer that it was not counted.
I2  What was typed is never reported as not typed: after that, every error is
    one that says so (Unsettled), or says that the session is over.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.command_output import (
    MAX_MATCH,
    Following,
    Gathered,
    Ran,
    Stop,
    without_end_mark,
)
from holdfast.core.client.exchange import AttachedExchange
from holdfast.core.client.farewell import drop_turn
from holdfast.core.client.questions import NO_CLIENT
from holdfast.model import errors
from holdfast.model.ids import ClientId
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import Message
from holdfast.wire.commands import (
    CommandEnded,
    CommandReport,
    CommandRequest,
    CommandStarted,
    ShellCommand,
)
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.messages import Attached, Exited, Output

if TYPE_CHECKING:
    from collections.abc import Callable

PROMPT_PATIENCE = 5.0
"""Seconds for a shell that has just begun, or just ended a command, to show its
prompt; one that runs something is not waited for."""

LAST_WORD = 1.0
"""Seconds for an answer when the time is up."""

FIRST_LOOK = 0.25
LAST_LOOK = 1.0
"""Seconds of silence after which we ask what the session does, at first and later."""

RETRY = 0.01
"""Seconds until it is looked again whether the prompt is there by now."""

_PROMPT = "prompt"
_SOON = frozenset({"unmarked", "between"})
_WAITING = frozenset({"waiting-for-input", "waiting-for-secret", "idle"})
_AT_PROMPT = "at-prompt"


class Wish(NamedTuple):
    """When to stop waiting, and how much to keep of what is printed."""

    limit: int
    expected: re.Pattern[bytes] | None = None
    until_input: bool = False
    approval: float = timeouts.APPROVAL
    """Seconds to wait for approval; then the input is withdrawn."""

    head: int = 0
    """How many of those bytes are the first ones, if not all can be kept."""


class CommandRun(AttachedExchange[Ran]):
    """One command that is typed, and waited for until `deadline`."""

    def __init__(
        self,
        attachment: Attachment,
        line: bytes,
        wish: Wish,
        *,
        now: float,
        deadline: float,
    ) -> None:
        super().__init__(attachment)
        self.is_typed = False
        """Whether the terminal has taken the line."""

        self._client = attachment.client
        self._line = line
        self._wish = wish
        self._begun_at = now
        self._deadline = deadline
        self.printed: Callable[[bytes], None] = lambda _: None
        """Called with what the command prints, as it comes, each byte once."""

        self._gathered = Gathered(max(wish.limit, MAX_MATCH))
        self._following = Following(wish.head)
        self._may_have_ended = False
        self._command: ShellCommand | None = None
        self._was_free: bool | None = None
        self._was_at_prompt = False
        self._refused: errors.NotAtPrompt | None = None
        self._retry_at: float | None = None
        self._late_by: float | None = None
        self._typed_by = now
        self._approved_by: float | None = None
        self._held_at = now
        self._is_withdrawn = False
        self._typed_at = 0
        self._step = FIRST_LOOK
        self._look_at = now
        self._is_looking = False
        self._prompts = 0
        self._state = ""

    # ── coming and going ──────────────────────────────────────────────────

    def asks_first(self) -> tuple[ClientId, ...]:
        """Whose commands to ask for before attaching: none on a second link."""
        return () if self._was_free is not None else (self._client, NO_CLIENT)

    def told_first(self, reports: list[CommandReport]) -> None:
        """Note where to begin to read: no earlier than the prompt, or its start."""
        ours, last = reports
        command = ours.command or last.command
        if command is None:
            self.attachment.offset = None
        elif ours.command is not None or command.end is None:
            self.attachment.offset = command.start
        else:
            self.attachment.offset = command.end

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Note that a link is up; what had no answer was sent on it again."""
        if self._was_free is None:
            self._was_free = not attached.holder
            self._typed_at = attached.end
        self._look_at = now + self._step
        if self.is_typed:
            # It may have ended on the way, and what is printed now is the prompt's.
            self._may_have_ended = True
            return [CommandRequest(self._client)]
        if self._refused is not None:
            return [CommandRequest(NO_CLIENT)]
        return [] if self.attachment.open else [self._type(now)]

    def last_acts(self) -> list[Message]:
        """Return how to drop the turn that typing took: the next may be another's."""
        return drop_turn(self.attachment, was_free=self._was_free)

    def cut(self, error: errors.SessionUnreachable, now: float) -> None:
        """Wait for a successor, while there is time for it to answer."""
        if self.is_lost(now) or now >= max(self._deadline, self._typed_by):
            raise error

    # ── waiting ───────────────────────────────────────────────────────────

    def deadline(self, now: float) -> float:
        """Return when to call `ticked`."""
        if self._late_by is not None:
            return self._late_by
        if self._retry_at is not None:
            return self._retry_at
        return min(self._until(now), self._look_at)

    def ticked(self, now: float) -> list[Message]:
        """Do what the clock demands.

        Raises:
            Unsettled: The time is up, and the command goes on or is not known.

        """
        if self._late_by is not None:
            return self._conclude(now) if now >= self._late_by else []
        if self._retry_at is not None:
            return self._retry(now) if now >= self._retry_at else []
        if now >= self._until(now):
            return self._late(now)
        return self._look(now) if now >= self._look_at else []

    def heard(self, news: News, now: float) -> list[Message]:
        """Take what comes on the link.

        Raises:
            Unavailable: The shell is not at its prompt.
            Unsettled: It was typed, and what came of it is not known.
            HoldfastError: It was refused, and why.

        """
        message = news.message
        self._take(news)
        self._follow()
        sent: list[Message] = []
        if self._refused is not None and isinstance(message, CommandReport):
            self._plan_retry(message.phase, now)
        elif self._answered(news):
            sent = [CommandRequest(NO_CLIENT if self._refused else self._client)]
        self._finish()
        if self._late_by is not None and isinstance(message, Evidence):
            return self._conclude(now)
        return sent

    def _until(self, now: float) -> float:
        if self.is_typed:
            return self._deadline
        if self.attachment.pending is None:
            return self._typed_by
        # An approval takes as long as people do; the terminal has its time after it.
        self._typed_by = now + timeouts.TYPING
        if self._approved_by is None:
            self._held_at = now
            self._approved_by = min(self._deadline, now + self._wish.approval)
        return self._approved_by

    def _look(self, now: float) -> list[Message]:
        # What the holder had no room for is sent again, if anything is.
        sent: list[Message] = []
        if self.attachment.is_stalled:
            sent += self.attachment.open
        if self.is_typed:
            if self._command is None:  # It may be over without our having heard.
                sent.append(CommandRequest(self._client))
            sent.append(StateRequest())
            self._is_looking = True
            self._step = min(self._step * 2, LAST_LOOK)
        self._look_at = now + self._step
        return sent

    def _late(self, now: float) -> list[Message]:
        """Ask how things stand when the time is up."""
        if not self.is_typed:
            return self._unapproved(now)
        self._state = ""
        self._late_by = now + LAST_WORD
        self._is_looking = True
        return [StateRequest()]

    def _unapproved(self, now: float) -> list[Message]:
        """Take back what nobody has approved in time, and hear what becomes of it."""
        waits = self.attachment.pending
        if waits is None:
            raise errors.OutcomeUnknown(self._client, 1)
        if self._is_withdrawn:
            raise errors.ApprovalPending(waits.ticket, waits.rule)
        self._is_withdrawn = True
        self._approved_by = now + timeouts.WITHDRAWAL
        return self.attachment.withdraw(now - self._held_at)

    def _conclude(self, now: float) -> list[Message]:
        if self.result is not None:
            return []
        if self._command is None:
            waited = round((now - self._begun_at) * 1000)
            raise errors.CommandGoesOn(
                self._typed_at, waited, self._state or "not known"
            )
        self.result = self._result(self._command, Stop.LATE)
        return []

    # ── typing ────────────────────────────────────────────────────────────

    def _type(self, now: float) -> Message:
        self._typed_by = now + timeouts.TYPING
        return self.attachment.submit(InputKind.COMMAND, self._line + b"\r")

    def _plan_retry(self, phase: str, now: float) -> None:
        """Type it once more, if the prompt is about to come; else give up."""
        assert self._refused is not None  # noqa: S101  # asked by the caller
        # It may have come to its prompt since; refused there a second time,
        # something else stands in the way.
        is_soon = phase in _SOON or (phase == _PROMPT and not self._was_at_prompt)
        self._was_at_prompt = phase == _PROMPT
        if not is_soon or now >= min(self._deadline, self._begun_at + PROMPT_PATIENCE):
            raise self._refused
        self._retry_at = now + RETRY

    def _retry(self, now: float) -> list[Message]:
        self._retry_at = None
        if not self._was_at_prompt:
            # Every line that is refused is on record: look first, and then type.
            return [CommandRequest(NO_CLIENT)]
        self._refused = None
        self.attachment = self.attachment.afresh()
        return [self._type(now)]

    # ── what is heard ─────────────────────────────────────────────────────

    def _take(self, news: News) -> None:
        match news.message:
            case Output(offset, data):
                printed = news.printed
                self._gathered.add(offset + len(data) - len(printed), printed)
            case CommandStarted(command) | CommandEnded(command) if (
                command.client == self._client
            ):
                self._command = command
            case CommandReport(phase, command) if self.is_typed:
                self._may_have_ended = False
                self._told(phase, command)
            case Evidence(state=state) if self._is_looking:
                # Another answer on a shared link is not a second look.
                self._is_looking = False
                self._seen(state)
            case Exited(status):
                raise ended_meanwhile(status)
            case _:
                pass

    def _follow(self) -> None:
        """Pass on what the command has printed since, as far as it is its own."""
        if self._may_have_ended or self.result is not None:
            return
        if self._command is not None:
            fresh = self._following.follow(self._command, self._gathered)
            if fresh:
                self.printed(fresh)

    def _told(self, phase: str, command: ShellCommand | None) -> None:
        if command is not None:
            self._command = command
        elif phase == _PROMPT:
            raise errors.OutcomeForgotten(self._client, 1)

    def _seen(self, state: str) -> None:
        self._state = state
        # Once may be the moment before it reads what was typed, or before we read
        # that the command has ended.
        self._prompts = self._prompts + 1 if state == _AT_PROMPT else 0
        if self._command is None and self._prompts > 1:
            # A shell that reads more, and has begun nothing, wants the rest.
            raise errors.LineUnfinished(self._typed_at)

    def _answered(self, news: News) -> bool:
        """Take what becomes of the line; return whether to ask what came of it."""
        if news.answer is None:
            return False
        match news.answer[1]:
            case None | errors.OutcomeForgotten():
                self.is_typed = True
            case errors.NotAtPrompt() as refused:
                self._refused = refused
            case error:
                raise error
        return True

    # ── what came of it ───────────────────────────────────────────────────

    def _finish(self) -> None:
        command = self._command
        if command is None or self.result is not None:
            return
        if command.end is not None:
            if (self.attachment.offset or 0) >= command.end:
                self.result = self._result(command, Stop.ENDED)
            return
        # A shell inside the command waits at a prompt of its own.
        is_asked = self._state in _WAITING or self._prompts > 1
        if self._is_expected(command):
            self.result = self._result(command, Stop.EXPECTED)
        elif self._wish.until_input and is_asked:
            self.result = self._result(command, Stop.ASKED)

    def _is_expected(self, command: ShellCommand) -> bool:
        expected = self._wish.expected
        since = command.start
        return expected is not None and bool(
            expected.search(self._gathered.since(since))
        )

    def _result(self, command: ShellCommand, stop: Stop) -> Ran:
        between, limit = self._gathered.between, self._wish.limit
        output, left_out = between(command.start, command.end, limit)
        head = b""
        if left_out and self._following.head:
            head = bytes(self._following.head)
            rest = max(1, limit - len(head))
            output, left_out = between(command.start, command.end, rest)
        state = self._state if stop in (Stop.ASKED, Stop.LATE) else ""
        output, lost = without_end_mark(output), self._following.lost
        return Ran(command, output, left_out, stop, state, head, lost)


def ended_meanwhile(status: int) -> errors.HoldfastError:
    """Return what to raise when the session ends while a command runs."""
    how = f"status {status}" if status >= 0 else f"signal {-status}"
    return errors.SessionOver(f"over: it ended with {how} while the command ran")
