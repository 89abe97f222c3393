"""The keys after the prefix: what each does, and what the user is shown.

Theory of operation
-------------------
`AttachKeys` sees everything that arrives on the link and every key that is pressed.
It answers with lines to show and requests to send, and knows at any moment who
has the turn, which is the terminal's title.

Two keys ask back: to whom to give the turn, when there are several, and whether
to approve what waits. Until one key has answered, nothing else is shown, and that
key never goes to the session.

Invariants, checked by tests/cli/test_attach_keys.py:

I1  Nothing is approved that was not shown whole in the question.
I2  The key that answers a question is never typed into the session.
I3  What arrives during a question is shown after it.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.cli import notices
from holdfast.cli.operator_names import Names
from holdfast.cli.prefix import Act
from holdfast.cli.presence_text import excerpt_told, previewed_told
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.timeouts import ASK_TURN
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId
from holdfast.model.settings import Settings
from holdfast.model.text import printable
from holdfast.wire import messages
from holdfast.wire.codec import Message, error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.presence import Inherited, Presence, Who

if TYPE_CHECKING:
    from holdfast.core.view.status_line import StatusFacts

MAX_CHOICES = 9
"""Operators to choose from with one digit."""

MAX_HELD = 8
"""Lines kept during a question; older ones are no longer news."""

FROZEN = "frozen"
FENCED = "fenced"


@dataclass(frozen=True, slots=True)
class Say:
    """Show a line; `loud` rings the bell, because the user has to act."""

    text: str
    loud: bool = False


@dataclass(frozen=True, slots=True)
class Do:
    """Send a request."""

    message: Message


Effect = Say | Do


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    answers: dict[bytes, Message] = field(default_factory=dict)


class AttachKeys:
    """The prefix keys of one attached terminal."""

    def __init__(
        self,
        label: str,
        attachment: Attachment,
        room: Callable[[], int],
        settings: Settings | None = None,
    ) -> None:
        """Handle the keys of `attachment`; a line has `room()` characters."""
        self._settings = settings or Settings()
        self.names = Names(asks=False)  # Keys are held while we wait.
        self.label = label
        """What the session is called."""

        self._attachment = attachment
        self._room = room
        self._askers: list[ActorId] = []
        self._pending: dict[int, messages.Pending] = {}
        self._others: list[ActorId] = []
        self._client_count = 0
        """Clients that are attached, with ours."""

        self._is_frozen = False
        self._is_fenced = False
        self._asked_who = False
        self._question: _Question | None = None
        self._held: deque[Effect] = deque(maxlen=MAX_HELD)

    @property
    def title(self) -> str:
        """The terminal's title: the session, and who has the turn."""
        holder = self._attachment.holder
        who = self.names.you(holder) if holder else "free"
        frozen = " · frozen" if self._is_frozen else ""
        return f"{self.label} · turn: {who}{frozen}"

    @property
    def is_asking(self) -> bool:
        """Whether the next key answers a question."""
        return self._question is not None

    def standing(self, state: str) -> "StatusFacts":
        """Return how things stand, for a status line."""
        from holdfast.core.view.status_line import StatusFacts  # noqa: PLC0415  # not for raw

        holder, names, us = self._attachment.holder, self.names, self.names.us
        waiting = [one for one in self._pending.values() if one.actor != us]
        parts = []
        if waiting:
            count = f"{len(waiting)} wait" if len(waiting) > 1 else "1 waits"
            parts.append(f"{count} for approval")
        if self._askers:
            asking = ", ".join(map(names.you, self._askers))
            parts.append(f"{asking} asks for the turn")
        others = [one for one in dict.fromkeys(self._others) if one != us]
        presence = "alone" if self.is_alone else "you, elsewhere too"
        if others:
            presence = f"with {', '.join(map(names.shown, others))}"
        return StatusFacts(
            label=self.label,
            state=FROZEN if self._is_frozen else state,
            turn=names.you(holder) if holder else "free",
            waits=", ".join(parts),
            presence=presence,
        )

    @property
    def is_alone(self) -> bool:
        """Whether no other client is attached, as far as we were told."""
        return self._client_count <= 1

    # ── hearing ───────────────────────────────────────────────────────────

    def heard(self, message: Message) -> list[Effect]:
        """Take what arrived on the link, after the attachment has."""
        effects = self._heed(message)
        if self._question is None:
            return effects
        self._held.extend(effects)
        return []

    def refused(self, error: HoldfastError) -> list[Effect]:
        """Take the refusal of an input."""
        return [Say(notices.refused_told(error, self.names, self._settings), loud=True)]

    def _heed(  # noqa: C901, PLR0911  # one case for each message
        self, message: Message
    ) -> list[Effect]:
        match message:
            case messages.Attached():
                self._begin(message)
            case Presence():
                return self._present(message)
            case messages.TurnPassed() | messages.TurnAsked() | Inherited():
                return self._turn(message)
            case messages.Pending() | messages.Settled():
                return self._gate(message)
            case messages.State(state):
                return self._stands(state)
            case messages.Event():
                text = notices.event_told(message)
                return [Say(text)] if text else []
            case messages.Refuse(client="", sequence=0):
                if message.refused == FrameKind.ANSWER:
                    self._askers.clear()  # They have stopped waiting.
                return self.refused(error_from(message))
            case _:
                pass
        return []

    def _begin(self, attached: messages.Attached) -> None:
        """Forget what the last holder said; the next one says it again."""
        if self._attachment.us is not None:
            self.names.us = self._attachment.us
        self.names.meet(attached.operators)
        self._others = [one.actor for one in attached.operators]
        self._client_count = len(attached.operators)
        self._is_frozen = attached.state == FROZEN
        self._is_fenced = attached.state == FENCED
        self._askers.clear()
        self._pending.clear()

    def _present(self, presence: Presence) -> list[Effect]:
        self.names.meet(presence.present)
        self._others = [one.actor for one in presence.present]
        self._client_count = len(presence.present)
        self._is_frozen = presence.frozen
        is_ours = presence.holder == self.names.us
        self._askers = list(presence.waiting) if is_ours else []
        if not self._asked_who:
            return []
        self._asked_who = False
        return [Say(notices.presence_told(presence, self.names))]

    def _turn(
        self, message: messages.TurnPassed | messages.TurnAsked | Inherited
    ) -> list[Effect]:
        match message:
            case messages.TurnPassed():
                # The new holder of the turn is told again who waits.
                self._askers.clear()
                text = notices.passed_told(message, self.names)
                return [Say(text, loud=True)] if text else []
            case messages.TurnAsked(asker):
                self._askers.append(asker)
                text = notices.asked_told(message, self.names, self._settings)
                return [Say(text, loud=True)]
            case Inherited():
                return [Say(notices.takes_over_told(message, self.names))]

    def _gate(self, message: messages.Pending | messages.Settled) -> list[Effect]:
        match message:
            case messages.Pending(ticket=ticket):
                self._pending[ticket] = message
                is_ours = message.actor == self.names.us
                text = notices.waits_told(message, self.names, self._settings)
                return [Say(text, loud=not is_ours)]
            case messages.Settled(ticket):
                if self._pending.pop(ticket, None) is None:
                    return []
                return [Say(notices.settled_told(message, self.names))]

    def _stands(self, state: str) -> list[Effect]:
        """Take that the session stands still, or goes on."""
        is_fenced, was_fenced = state == FENCED, self._is_fenced
        self._is_fenced = is_fenced
        told = self._state(is_frozen=state == FROZEN)
        if is_fenced != was_fenced:
            told.append(Say(notices.fenced_told(is_fenced=is_fenced), loud=True))
        return told

    def _state(self, *, is_frozen: bool) -> list[Effect]:
        if is_frozen == self._is_frozen:
            return []
        self._is_frozen = is_frozen
        text = notices.frozen_told(self._settings, is_frozen=is_frozen)
        return [Say(text, loud=True)]

    # ── pressing ──────────────────────────────────────────────────────────

    def pressed(self, act: Act) -> list[Effect]:
        """Take a key after the prefix; it cancels an open question."""
        self._question = None
        return self._released(self._press(act))

    def _press(  # noqa: PLR0911  # one case for each key
        self, act: Act
    ) -> list[Effect]:
        match act:
            case Act.TAKE:
                return self._take()
            case Act.GIVE:
                return self._give()
            case Act.DROP:
                return [Do(messages.Drop())]
            case Act.SEIZE:
                return [Do(messages.Seize(messages.Halt.NONE))]
            case Act.SEIZE_AND_FREEZE:
                return [Do(messages.Seize(messages.Halt.FREEZE))]
            case Act.FREEZE_OR_THAW:
                return [Do(messages.Thaw() if self._is_frozen else messages.Freeze())]
            case Act.APPROVE | Act.DENY | Act.WHO:
                return self._look(act)

    def answered(self, data: bytes) -> tuple[list[Effect], bytes]:
        """Take the answer to a question; return the bytes that are not part of it."""
        assert self._question is not None, "no one has asked"  # noqa: S101
        question, self._question = self._question, None
        message = question.answers.get(data[:1])
        # A key that sends several bytes is one key.
        rest = b"" if data.startswith(b"\x1b") else data[1:]
        effects: list[Effect] = [Say("cancelled")]
        if message is not None:
            effects = [Do(message)]
        return self._released(effects), rest

    def _released(self, effects: list[Effect]) -> list[Effect]:
        """Add what was kept during a question, unless another is open."""
        if self._question is not None:
            return effects
        held, self._held = list(self._held), deque(maxlen=MAX_HELD)
        return effects + held

    def _take(self) -> list[Effect]:
        holder = self._attachment.holder
        if self._attachment.mode is messages.Mode.OBSERVE:
            return [Say("you are only watching")]
        if not holder:
            return [Do(messages.Take())]
        if holder == self.names.us:
            return [Say("you have the turn")]
        asked = f"asking {self.names.shown(holder)} for the turn"
        return [Say(asked), Do(messages.Ask(round(ASK_TURN * 1000)))]

    def _give(self) -> list[Effect]:
        us = self.names.us
        if self._askers:
            return self._choose(
                "give the turn to",
                {asker: messages.Answer(asker, granted=True) for asker in self._askers},
            )
        others = [one for one in dict.fromkeys(self._others) if one != us]
        if not others:
            hint = self._settings.hint("drop", "releases the turn")
            return [Say("; ".join(filter(None, ("no one else is attached", hint))))]
        return self._choose(
            "give the turn to", {one: messages.Give(one) for one in others}
        )

    def _choose(self, what: str, offered: dict[ActorId, Message]) -> list[Effect]:
        if len(offered) == 1:
            return [Do(message) for message in offered.values()]
        if len(offered) > MAX_CHOICES:
            return [Say(f"too many to list; use `holdfast give {self.label} @WHO`")]
        choices = list(enumerate(offered.items(), start=1))
        shown = "  ".join(f"{n} {self.names.shown(one)}" for n, (one, _) in choices)
        answers = {str(n).encode(): message for n, (_, message) in choices}
        return self._ask(_Question(f"{what}: {shown}", answers))

    def _look(self, act: Act) -> list[Effect]:
        if act is Act.WHO:
            self._asked_who = True
            return [Do(Who())]
        us = self.names.us
        waiting = [one for one in self._pending.values() if one.actor != us]
        if act is Act.APPROVE and waiting:
            return self._approve(waiting[0])
        if act is Act.DENY and waiting:
            return [Do(messages.Deny(waiting[0].ticket, waiting[0].digest))]
        if act is Act.DENY and self._askers:
            return [Do(messages.Answer(self._askers[0], granted=False))]
        return [Say("nothing waits for approval")]

    def _approve(self, pending: messages.Pending) -> list[Effect]:
        who = self.names.shown(pending.actor)
        text = (
            f"approve {excerpt_told(pending.excerpt)} by {who}"
            f" (rule {printable(pending.rule, 64)}{previewed_told(pending.preview)})? y"
        )
        if pending.size > len(pending.excerpt) or len(text) > self._room():
            command = f"holdfast approve {self.label} {pending.ticket}"
            return [Say(f"too long to show here; `{command}` shows it")]
        approve = messages.Approve(pending.ticket, pending.epoch, pending.digest)
        return self._ask(_Question(text, {b"y": approve, b"Y": approve}))

    def _ask(self, question: _Question) -> list[Effect]:
        self._question = question
        return [Say(question.text)]
