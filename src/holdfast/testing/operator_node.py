"""A simulated operator: it writes, watches, seizes, approves, or cheats.

An honest operator keeps every input it has no answer for and sends it again,
unchanged and in order, until it has one. About the turn and the incarnation it
believes what it was last told.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.core.book.logbook import Receipt
from holdfast.core.input import gate, turn
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, SessionId
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.outcomes import Applied, Outcome, Refused
from holdfast.testing.history import Operation
from holdfast.testing.ledger import Ledger, error_code
from holdfast.testing.simulated_terminal import output_at
from holdfast.testing.world import Machine, World, demand

if TYPE_CHECKING:
    from holdfast.testing.holder_node import HolderNode
    from holdfast.testing.host_node import HostNode
    from holdfast.testing.relay_node import RelayNode

MAX_OPEN = 24
PATIENCE = 2.0


@dataclass(slots=True)
class _View:
    """What an operator believes of one session."""

    client: ClientId
    next: int = 1
    incarnation: Incarnation = Incarnation(0)  # noqa: RUF009  # an int
    epoch: Epoch = Epoch(0)  # noqa: RUF009  # an int
    holder: ActorId | None = None
    open: dict[int, Input] = field(default_factory=dict)
    called: dict[InputId, float] = field(default_factory=dict)
    receipts: list[Receipt] = field(default_factory=list)
    watching: Incarnation = Incarnation(0)  # noqa: RUF009  # an int
    expected: int | None = None
    channel: "HolderNode | None" = None


class OperatorNode:
    """One operator with one machine."""

    def __init__(
        self, world: World, ledger: Ledger, name: str, sessions: list[SessionId]
    ) -> None:
        self.world = world
        self.ledger = ledger
        self.machine = Machine(world, name)
        self.actor = ActorId(name)
        self.relay: RelayNode | None = None
        self.local_host: HostNode | None = None
        self.may_seize = False
        self.cheats = False
        self.is_resting = False
        self.is_reading = True
        """Whether its terminal takes output; if not, its viewer falls behind."""

        self.history: list[Operation] = []
        self._clients = 0
        self.views = {session: _View(self._new_client()) for session in sessions}

    # ── acting ────────────────────────────────────────────────────────────

    def live(self) -> None:
        """Think, now and then, until told to rest."""
        self._act()
        self.machine.after(self.world.rng.expovariate(4.0), self.live)

    def insist(self) -> None:
        """Send everything again that has no answer, and look at the stream."""
        for session, view in self.views.items():
            view.channel = self._dial(session)
            for given in view.open.values():
                self.world.reached["input sent again"] += 1
                self._send(session, "submit", given)
            self._send(session, "view", view.watching, view.expected)
        self.machine.after(PATIENCE, self.insist)

    def crash(self) -> None:
        """Forget everything, and come back as a new client."""
        self.world.reached["operator crashed"] += 1
        for session, view in self.views.items():
            old = view.receipts
            self.views[session] = _View(self._new_client(), receipts=old)

    def _act(self) -> None:
        if self.is_resting:
            return
        session = self.world.rng.choice(list(self.views))
        view = self.views[session]
        chance = self.world.rng.random()
        if self.may_seize and chance < 0.01:
            self._send(session, "freeze_or_thaw", self.world.rng.random() < 0.8)
        elif self.cheats and chance < 0.1:
            self._cheat(session, view)
        elif chance < (0.8 if view.holder in (self.actor, None) else 0.1):
            self._write(session, view, self.world.rng.choice((1, 1, 2, 6)))
        elif self.world.rng.random() < 0.3:
            self._turn(session, view)

    def _write(self, session: SessionId, view: _View, count: int) -> None:
        for _ in range(count):
            if len(view.open) >= MAX_OPEN:
                return
            size = self.world.rng.choice((4, 4, 30, 90))
            given = self._input(view, view.next, size)
            view.open[view.next] = given
            view.called[given.id] = self.world.now
            view.next += 1
            self._send(session, "submit", given)

    def _turn(self, session: SessionId, view: _View) -> None:
        rng, me = self.world.rng, self.actor
        event: turn.Event = turn.Took(me)
        if view.holder == me:
            other = rng.choice(sorted(self.relay_operators()))
            event = rng.choice((turn.Dropped(me), turn.Gave(me, other)))
        elif self.may_seize and rng.random() < 0.3:
            event = turn.Seized(me)
        elif rng.random() < 0.5:
            event = turn.AskedFor(me, rng.uniform(0.5, 4))
        self._send(session, "request", event)

    def _cheat(self, session: SessionId, view: _View) -> None:
        """Try what must not work."""
        first = next(iter(view.open.values()), None)
        if first is not None and self.world.rng.random() < 0.5:
            # The same id, with other bytes of the same length.
            forged = bytes(reversed(first.payload))
            self.world.reached["id reused by a cheat"] += 1
            twin = Input(
                first.id,
                first.actor,
                first.kind,
                first.incarnation,
                first.epoch,
                forged,
            )
            self._send(session, "submit", twin)
        else:
            self.world.reached["epoch guessed by a cheat"] += 1
            view.epoch = Epoch(view.epoch + 1)

    def relay_operators(self) -> list[ActorId]:
        """Return whom the turn can be given to."""
        assert self.relay is not None
        return self.relay.operators

    # ── hearing ───────────────────────────────────────────────────────────

    def hear(
        self, channel: "HolderNode", action: Callable[..., None], args: tuple[Any, ...]
    ) -> None:
        """Take what came over a channel, if it is still the one in use."""
        if self.views[args[0]].channel is channel:
            action(*args)
        else:
            self.world.reached["reply on an ended channel"] += 1

    def on_answer(
        self,
        session: SessionId,
        known: InputId,
        outcome: Outcome,
        receipt: Receipt | None,
    ) -> None:
        """Take the outcome of an input."""
        view = self.views[session]
        self.ledger.heard(session, self.actor, known, outcome)
        if receipt is not None:
            view.receipts.append(receipt)
        if known.client != view.client or known.sequence not in view.open:
            return
        code = error_code(outcome)
        if code == "input-gap" and isinstance(outcome, Refused):
            self._gap(view, int(outcome.error.facts["expected"]))
            return
        if code in ("busy", "too-many-clients"):
            return
        demand(
            code != "input-id-reused" or self.cheats, "I4", "an honest id was refused"
        )
        if isinstance(outcome, Refused):
            self._learn(view, outcome.error)
        self._settle(session, view, known, outcome)

    def on_turn_passed(
        self,
        session: SessionId,
        incarnation: Incarnation,
        epoch: Epoch,
        holder: ActorId | None,
    ) -> None:
        """Believe who has the turn."""
        view = self.views[session]
        if (incarnation, epoch) > (view.incarnation, view.epoch):
            view.incarnation, view.epoch, view.holder = incarnation, epoch, holder

    def on_refused(self, session: SessionId, error: HoldfastError) -> None:
        """Learn from a refused request."""
        self._learn(self.views[session], error)

    def on_asked(self, session: SessionId, asker: ActorId) -> None:
        """Answer a request for the turn, or do not."""
        chance = self.world.rng.random()
        if chance < 0.7:
            answer = turn.Answered(self.actor, asker, granted=chance < 0.5)
            self._send(session, "request", answer)

    def on_pending(
        self, session: SessionId, incarnation: Incarnation, asked: gate.SeekApproval
    ) -> None:
        """Answer what waits for approval: rightly, wrongly, or not at all."""
        chance = self.world.rng.random()
        digest, epoch = asked.digest, asked.epoch
        if chance < 0.1:
            digest = bytes(32)
        elif chance < 0.2:
            epoch = Epoch((epoch or 0) + 1)
        elif chance < 0.35:
            denied = gate.Denied(asked.ticket, self.actor)
            self.machine.after(chance, self._send, session, "deny", denied)
            return
        elif chance > 0.9:
            return
        approved = gate.Approved(asked.ticket, self.actor, digest, epoch)
        self.machine.after(
            chance * 4, self._send, session, "approve", incarnation, approved
        )

    # ── watching ──────────────────────────────────────────────────────────

    def on_resumed(
        self,
        session: SessionId,
        incarnation: Incarnation,
        at: int,
        gap: int,
        after: int | None,
    ) -> None:
        """Begin to watch where the holder says."""
        view = self.views[session]
        if incarnation > view.incarnation:
            view.incarnation, view.epoch = incarnation, Epoch(0)
        if incarnation < view.watching:
            return
        if incarnation == view.watching and after == view.expected:
            demand(after is None or at - after == gap, "I6", f"gap {gap} at {at}")
        elif incarnation == view.watching or after is not None:
            return  # The answer to an older question.
        view.watching, view.expected = incarnation, at

    def on_output(
        self, session: SessionId, incarnation: Incarnation, offset: int, data: bytes
    ) -> None:
        """Check that these are the bytes that were printed, and none is missing."""
        view = self.views[session]
        if incarnation != view.watching or offset != view.expected:
            return  # Out of order on this network; the next look asks again.
        demand(data == output_at(offset, len(data)), "I6", f"wrong bytes at {offset}")
        view.expected = offset + len(data)
        self.world.reached["output seen"] += 1

    def on_gap(
        self, session: SessionId, incarnation: Incarnation, at: int, gap: int
    ) -> None:
        """Take note of bytes that will never come."""
        view = self.views[session]
        if incarnation == view.watching and view.expected == at - gap:
            view.expected = at

    # ── inside ────────────────────────────────────────────────────────────

    def _settle(
        self, session: SessionId, view: _View, known: InputId, outcome: Outcome
    ) -> None:
        del view.open[known.sequence]
        called = view.called.pop(known)
        if isinstance(outcome, Applied):
            self.history.append(
                Operation(session, called, self.world.now, outcome.index, known)
            )

    def _gap(self, view: _View, expected: int) -> None:
        if expected >= min(view.open):
            return  # What is missing is still open here, and is sent again.
        # The holder knows less of us than we do: what is open can never be
        # settled under this name.
        self.world.reached["client starts anew"] += 1
        view.client, view.next = self._new_client(), 1
        view.open.clear()
        view.called.clear()

    def _learn(self, view: _View, error: HoldfastError) -> None:
        facts = error.facts
        if error.code == "stale-incarnation":
            view.incarnation = max(view.incarnation, Incarnation(int(facts["current"])))
        if error.code in ("not-your-turn", "stale-epoch", "turn-moved"):
            now = Epoch(int(facts.get("current", facts["epoch"])))
            if now > view.epoch or self.cheats:
                view.epoch, view.holder = now, ActorId(str(facts["holder"])) or None

    def _input(self, view: _View, sequence: int, size: int) -> Input:
        label = f"{self.actor}/{view.client}/{sequence};".encode()
        return Input(
            InputId(view.client, sequence),
            self.actor,
            InputKind.KEYS,
            view.incarnation,
            view.epoch,
            (label * (size // len(label) + 1))[:size],
            waits=sequence % 3 == 0,
        )

    def _new_client(self) -> ClientId:
        self._clients += 1
        return ClientId(f"c_{self.actor}_{self._clients}")

    def _dial(self, session: SessionId) -> "HolderNode | None":
        """Open a channel to the session's current holder.

        A channel ends with the process at its other end: what was on its way to
        that one is never taken by its successor.
        """
        if self.local_host is not None:
            return self.local_host.dial(session)
        assert self.relay is not None
        return self.relay.join(session)

    def _send(self, session: SessionId, what: str, *args: object) -> None:
        name, channel = self.machine.name, self.views[session].channel
        if channel is None:
            return
        message = (session, what, self, args, channel)
        if self.local_host is not None:
            host = self.local_host
            self.world.send(name, host.machine, host.receive, *message)
            return
        assert self.relay is not None
        self.world.send(name, self.relay.machine, self.relay.forward, *message)
