"""Whether an operator's signed statement goes into the logbook.

Theory of operation
-------------------
A client hands over what its operator has signed (core.input.input_chain), and the
holder writes it down. It cannot tell whether a signature is genuine, and leaves that to
readers of the book. What it can tell, it does, so that nobody can make the book of
an honest holder look forged, or fill the disk:

    what is there already     is not written twice
    what does not follow      is refused: no reader could make use of it
    what has no input         is refused: the last input that a statement speaks of
                              must be in the book, so each is paid for by an input
    what says otherwise       is refused: every input in the book whose payload is
                              there must be the one that was committed to
    what comes too often      is refused, and may come later

Because inputs stand in one strict line, all inputs of a client before one that is
in the book have been settled: so a statement stands behind all it speaks of.

All that has to be known for this is read from the entries of the book as they are
stored, by this process or by the one before it.

Invariants, checked by tests/core/input/test_statements.py:

I1  Statements of one operator and client follow each other in the book.
I2  Every input that a kept statement speaks of, and whose payload is in the book,
    is the one that was committed to.
I3  No salt is kept but of an input whose payload is in the book.
I4  What is remembered is bounded, and so is what one operator can have written.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.input_chain import Statement, contents
from holdfast.core.relay.allowance import Allowance
from holdfast.model.errors import AskedTooOften, StatementRefused
from holdfast.model.ids import NO_EPOCH, ActorId, ClientId, Epoch
from holdfast.wire.signatures import MAX_SIGNED, Sign

MAX_UNSIGNED: Final = 2 * MAX_SIGNED
"""Inputs remembered that nobody has signed: what one client makes in many seconds,
and some 150 KiB."""

MAX_SIGNERS: Final = 1024
"""Clients of whom we remember how far they have signed: each verb of the command line
is one. A forgotten operator signs no more, and its inputs are unsigned."""

RATE: Final = 16 * 1024
"""Bytes a second that one operator may have written about what it signed: that is 30
commands, or 250 keys."""

BURST: Final = 256 * 1024
"""Bytes at once."""

_LINE: Final = 512
"""Bytes of an entry that keeps a statement, without its steps."""

_STEP: Final = 64
"""Bytes of one step in it."""

_Who = tuple[ActorId, ClientId]
_Input = tuple[ActorId, ClientId, int]


class Statements:
    """What operators have signed in one book, and have yet to sign."""

    def __init__(self) -> None:
        self._signed: OrderedDict[_Who, int] = OrderedDict()
        self._inputs: OrderedDict[_Input, tuple[bytes, ...]] = OrderedDict()
        self._free: tuple[Epoch, ActorId] = (NO_EPOCH, ActorId(""))
        self._allowances: dict[ActorId, Allowance] = {}

    def signed_by(self, actor: ActorId, client: ClientId) -> int:
        """Return the last input of a client that a statement speaks of, or 0."""
        return self._signed.get((actor, client), 0)

    def load(self, signed: Iterable[tuple[ActorId, ClientId, int]]) -> None:
        """Take over how far each client had signed before the entries read next."""
        self._signed.update(((actor, client), last) for actor, client, last in signed)

    def read(self, entry: Entry) -> None:
        """Take an entry that is in the book, each once and in order."""
        match entry.kind:
            case EntryKind.INPUT:
                self._remember(entry)
            case EntryKind.TURN if entry.fields.get("from") is None:
                to = ActorId(str(entry.fields.get("to")))
                self._free = (entry.epoch, to)
            case EntryKind.SIGNED:
                actor, client = entry.actor, entry.client
                self._advance(actor, client, entry.number("last"))
            case _:
                pass

    def take(self, actor: ActorId, said: Sign, now: float) -> Statement | None:
        """Return what is to be written down; None if the book has it already.

        Raises:
            Forbidden: It does not fit the book.
            Unavailable: This operator has signed too much of late.

        """
        at = self.signed_by(actor, said.client)
        if said.last <= at:
            return None
        made = Statement.from_message(actor, said)
        if made is None or made.first != at + 1:
            raise StatementRefused(f"it does not begin with input {at + 1}")
        if (actor, said.client, said.last) not in self._inputs:
            raise StatementRefused("its last input is not in the book")
        shown = self._demand_same(made)
        allowance = self._allowances.setdefault(actor, Allowance(RATE, BURST, now))
        if not allowance.spend(_LINE + _STEP * len(made.steps), now):
            raise AskedTooOften("bytes of statements a second", RATE)
        # At once, not when it is stored: the same may come again before that.
        self._advance(actor, said.client, said.last)
        return made.with_salts_of(shown)

    def _demand_same(self, made: Statement) -> set[int]:
        """Return which of its inputs are in the book with their payload."""
        shown: set[int] = set()
        for sequence, step in enumerate(made.steps, made.first):
            known = self._inputs.get((made.actor, made.client, sequence), ())
            if known and not any(map(step.opens_to, known)):
                raise StatementRefused(f"it speaks of another input {sequence}")
            if known:
                shown.add(sequence)
        return shown

    def _remember(self, entry: Entry) -> None:
        actor, client = entry.actor, entry.client
        was_free = self._free == (entry.epoch, actor)
        known = contents(entry, was_free=was_free) if "data" in entry.fields else ()
        self._inputs[actor, client, entry.number("sequence")] = known
        if len(self._inputs) > MAX_UNSIGNED:
            self._inputs.popitem(last=False)

    def _advance(self, actor: ActorId, client: ClientId, last: int) -> None:
        for sequence in range(last - MAX_SIGNED + 1, last + 1):
            self._inputs.pop((actor, client, sequence), None)
        self._signed[actor, client] = last
        self._signed.move_to_end((actor, client))
        if len(self._signed) > MAX_SIGNERS:
            self._signed.popitem(last=False)
