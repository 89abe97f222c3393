"""A verdict about one key that holds for the next keys too, while nothing changes.

Theory of operation
-------------------
Whether a key may be typed depends on things that seldom change: rights, turn and epoch,
the life of the session, freeze, budgets, the policy. Each change of any of them raises
the intake's *generation* (`Intake.changes`). So once a key was admitted by the full
decision, and what said so was not about its bytes, the next key of the same client
needs one comparison:

    full decision ──admitted──▶ STANDING ──same generation──▶ admitted
          ▲                        │
          └──────anything else─────┘

What changes without an event is looked at for each key: the clock (an envelope that
expires, a lease), what sort of operator it is, and the line of inputs. Whether the
terminal echoes is for the process to look at: only what is shown is pressed.

What is admitted here is drafted, stored, noted and written as any other input.

Invariants, checked by tests/core/input/test_standing_verdict_properties.py against an
intake that takes the full decision every time:

I1  Whatever is pressed, the full decision would have admitted, with the same entry.
I2  After each event that the full decision depends on, nothing stands.
"""

import math
from binascii import b2a_base64
from typing import NamedTuple

import msgspec

from holdfast.core.book.entries import Fields
from holdfast.core.book.inheritance import Note
from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.budget import KindOf
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Effect
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.verdicts import Verdict

MAX_PRESSED = 64
"""Bytes of an input that counts as a key: the longest sequence that one sends, and
what arrives together when an operator types fast. A paste takes the full decision."""


class _Verdict(NamedTuple):
    """What was decided, for whom, and how things stood then."""

    conditions: tuple[int, ActorId, ClientId, Epoch, Incarnation]
    until_wall: float
    fields: Fields
    """The entry of such an input, but for what differs from key to key."""


class Foreseen(msgspec.Struct, frozen=True):
    """What the next key leads to, whichever it is and whenever it comes."""

    given: Input
    """The key, without its byte."""

    line: tuple[bytes, bytes, bytes]
    """Its entry, before the time, between that and the key, and after it."""

    note: Note
    """What a successor is told while it is written."""

    until_wall: float


class StandingVerdict:
    """What stands for the next key of one session."""

    def __init__(self, intake: Intake, kind_of: KindOf) -> None:
        self._intake = intake
        self._kind_of = kind_of
        self._verdict: _Verdict | None = None

    def learn(self, given: Input, effects: list[Effect]) -> None:
        """Take what an input led to that was judged by who sends it alone."""
        self._verdict = None
        stored = effects[-1] if effects else None
        if isinstance(stored, Store) and is_key(given):
            self._take(given, stored.entry)

    def press(self, given: Input, at: Moment) -> list[Effect]:
        """Admit a key that the terminal shows; nothing if it needs a full decision."""
        verdict, intake = self._verdict, self._intake
        if (
            verdict is None
            or verdict.conditions
            != (
                intake.changes,
                given.actor,
                given.id.client,
                given.epoch,
                given.incarnation,
            )
            or at.wall >= verdict.until_wall
            or self._kind_of(given.actor) != verdict.fields["actor_kind"]
            or not is_key(given)
            or not self._may_go_on(given, at)
        ):
            return []
        fields = verdict.fields.copy()
        fields["sequence"], fields["size"] = given.id.sequence, len(given.payload)
        fields["seen"] = given.seen
        fields["data"] = b2a_base64(given.payload, newline=False).decode()
        return [*intake.book.record(EntryKind.INPUT, fields, intake.turn.epoch, at)]

    def foresee(self, seen: int | None) -> Foreseen | None:
        """Return what `press` says of the next key, of one byte, as far as is known.

        It holds until anything but time goes on. None if nothing stands.
        """
        verdict, intake = self._verdict, self._intake
        if verdict is None or verdict.conditions[0] != intake.changes:
            return None
        _, actor, client, epoch, incarnation = verdict.conditions
        sequence = intake.serializer.next_of(actor, client)
        if (
            sequence is None
            or self._kind_of(actor) != verdict.fields["actor_kind"]
            or intake.gate.open
            or not intake.book.is_idle
            or not intake.serializer.is_open
        ):
            return None
        fields = verdict.fields.copy()
        fields["sequence"], fields["size"] = sequence, 1
        fields["seen"], fields["data"] = seen, ""
        line = intake.book.foresee(EntryKind.INPUT, fields, intake.turn.epoch)
        # Within a string a quote is escaped, so these are the members themselves.
        before, rest = line.split(b'"at":0,', 1)
        between, after = rest.split(b'"data":""', 1)
        given = Input(
            InputId(client, sequence),
            actor,
            InputKind.KEYS,
            incarnation,
            epoch,
            b"",
            seen,
            waits=False,
        )
        note = intake.note(writing=intake.book.next_index)
        pieces = (before + b'"at":', b"," + between + b'"data":"', b'"' + after)
        return Foreseen(given, pieces, note, verdict.until_wall)

    def _may_go_on(self, given: Input, at: Moment) -> bool:
        """Put a key first in line, if nobody is there and nothing is in the way."""
        intake = self._intake
        return (
            not intake.gate.open
            and intake.book.is_idle
            and intake.blocked(at.boot) is None
            and intake.serializer.press(given, intake.book.next_index)
        )

    def _take(self, given: Input, entry: Entry) -> None:
        intake, said = self._intake, entry.fields
        envelope = intake.rights.envelope_of(given.actor)
        is_plain = (
            entry.kind is EntryKind.INPUT
            and said["verdict"] == Verdict.ALLOW
            and said["approver"] is None
            and "data" in said
            and "originators" not in said
            and (said["actor"], said["client"], said["sequence"])
            == (given.actor, given.id.client, given.id.sequence)
        )
        if not is_plain or envelope is None or not intake.budgets.are_endless:
            return
        until = envelope.expires_wall
        self._verdict = _Verdict(
            (
                intake.changes,
                given.actor,
                given.id.client,
                given.epoch,
                given.incarnation,
            ),
            math.inf if until is None else until,
            dict(said),
        )


def is_key(given: Input) -> bool:
    """Tell whether an input is keys that enter no line."""
    payload = given.payload
    return (
        given.kind is InputKind.KEYS
        and len(payload) <= MAX_PRESSED
        and b"\r" not in payload
        and b"\n" not in payload
    )
