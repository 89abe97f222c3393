"""Bugs that the simulator has to find: in input, turn, record, leases and lifecycle."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """One bug: what to replace by what, each text standing exactly once."""

    name: str
    module: str
    edits: tuple[tuple[str, str], ...]
    tests: tuple[str, ...] = ()
    """What has to notice it; the simulator if this is empty."""


GRANT_AT_ONCE = (
    "lease.record, lease.pending = record, None\n"
    "        return [persist, self._grant(asked, lease, now)]"
)

SIMULATED_BUGS = (
    Mutant(
        "ack before durable",
        "core/input/serializer.py",
        (
            (
                "self._applied.append((at, applied))",
                "return [*self._settle(applied, Applied(at)), *self._next()]",
            ),
        ),
    ),
    Mutant(
        "a verdict stands whatever changes",
        "core/input/standing_verdict.py",
        (
            (
                "!= (\n                intake.changes,",
                "!= (\n                verdict[0][0],",
            ),
        ),
    ),
    Mutant(
        "a verdict stands after a hand-over",
        "core/input/intake.py",
        (
            (
                "self.changes += 1\n        return self._passed(",
                "return self._passed(",
            ),
            (
                "goes_on = is_taken and is_own\n        self.changes += 1",
                "goes_on = is_taken and is_own",
            ),
            (
                "self.changes += 1\n        # The gate's rejections",
                "# The gate's rejections",
            ),
        ),
    ),
    Mutant(
        "a session dozes amid an input",
        "core/session/doze.py",
        (("return is_same and seen.is_free", "return is_same"),),
    ),
    Mutant(
        "no dedup",
        "core/input/serializer.py",
        (
            ("outcome = self._remembered(submitted)", "outcome = None"),
            ("self.is_known(submitted)\n", "False\n"),
            ("else submitted.id.sequence < client.next", "else False"),
        ),
    ),
    Mutant(
        "out-of-order apply",
        "core/input/serializer.py",
        (("self._judged = self._queue.popleft()", "self._judged = self._queue.pop()"),),
    ),
    Mutant(
        "seize keeps what is being written",
        "core/input/serializer.py",
        (
            (
                "if self._flying is not None:\n            self._cut_flying(",
                "if False:\n            self._cut_flying(",
            ),
        ),
    ),
    Mutant(
        "cut bytes counted wrongly",
        "core/input/serializer.py",
        (("outcome = Cut(index, self._written) if self._written else", "outcome ="),),
    ),
    Mutant(
        "epoch not raised when the turn is freed",
        "core/input/turn.py",
        (
            (
                "        self.epoch = next_epoch(self.epoch)",
                "        if taker: self.epoch = next_epoch(self.epoch)",
            ),
        ),
    ),
    Mutant(
        "seize that waits",
        "core/input/turn.py",
        (
            (
                "return self._pass_to(actor, PassReason.SEIZED, now)",
                "return self._ask(actor, 2.0, now)",
            ),
        ),
    ),
    Mutant(
        "stale epoch accepted",
        "core/input/turn.py",
        (
            (
                "if epoch != self.epoch and not (",
                "if False and not (",
            ),
        ),
    ),
    Mutant(
        "revoked operator keeps the turn",
        "core/input/turn.py",
        (("return self._release(PassReason.REVOKED, now)", "return []"),),
    ),
    Mutant(
        "approval without byte binding",
        "core/input/gate.py",
        (
            (
                "if (event.digest, event.epoch) != (ticket.digest, ticket.epoch):",
                "if event.epoch != ticket.epoch:",
            ),
        ),
    ),
    Mutant(
        "approval without epoch binding",
        "core/input/gate.py",
        (
            (
                "if (event.digest, event.epoch) != (ticket.digest, ticket.epoch):",
                "if event.digest != ticket.digest:",
            ),
        ),
    ),
    Mutant(
        "self-approval",
        "core/input/gate.py",
        (("if event.approver == ticket.actor:", "if False:"),),
    ),
    Mutant(
        "a policy that crashes allows",
        "core/input/gate.py",
        (
            (
                "[self._reject(ticket, errors.PolicyUnavailable(why))]",
                '[self._admit(ticket, "", None)]',
            ),
        ),
    ),
    Mutant(
        "a policy that hangs allows",
        "core/input/gate.py",
        (
            (
                "self._late(ticket, now) for ticket in late",
                'self._admit(ticket, "", None) for ticket in late',
            ),
        ),
    ),
    Mutant(
        "chain without prev",
        "core/book/logbook.py",
        (("if prev != head.hash.hex():", "if False:"),),
    ),
    Mutant(
        "verification without receipts",
        "core/book/logbook.py",
        (("    if wanted:\n", "    if False:\n"),),
    ),
    Mutant(
        "lease counted from receipt",
        "core/relay/lease.py",
        (("grant.asked_at + host_span(", "now + host_span("),),
    ),
    Mutant(
        "cached lease",
        "core/relay/lease.py",
        (
            (
                "return self.speaking_incarnation(now) is not None",
                "return self.expires_at is not None",
            ),
        ),
    ),
    Mutant(
        "no margin for drift",
        "core/relay/lease.py",
        (("return ttl * (1 - DRIFT) - MARGIN", "return ttl * (1 + DRIFT)"),),
        ("tests/core/relay/test_lease.py",),
    ),
    Mutant(
        "re-home without waiting",
        "core/relay/lease_registry.py",
        (
            (
                "is_held = not lease.is_released and now < lease.expires_at",
                "is_held = False",
            ),
        ),
    ),
    Mutant(
        "incarnation reused",
        "core/relay/lease_registry.py",
        (
            (
                "lease.tried = asked.incarnation or next_incarnation(lease.tried)",
                "lease.tried = Incarnation(1)",
            ),
        ),
    ),
    Mutant(
        "route on an expired lease",
        "core/relay/lease_registry.py",
        (
            (
                "or not lease.is_routed or now >= lease.expires_at",
                "or not lease.is_routed",
            ),
        ),
    ),
    Mutant(
        "silent holder speaks again after a roll-back",
        "core/relay/lease_registry.py",
        (
            (
                "if lease.is_unproven and not asked.is_speaking and",
                "if False and",
            ),
        ),
    ),
    Mutant(
        "grant before durable",
        "core/relay/lease_registry.py",
        (
            (
                "self._deciding[persist.token] = lease\n        return [persist]",
                GRANT_AT_ONCE,
            ),
        ),
    ),
    Mutant(
        "doubt inherited as applied",
        "core/book/inheritance.py",
        (("    last = standing.open\n", "    last = None\n"),),
    ),
    Mutant(
        "freeze forgotten by a successor",
        "core/book/inheritance.py",
        (("        frozen = note.frozen\n", ""),),
        ("tests/core/book/test_inheritance.py",),
    ),
    Mutant(
        "gap miscounted",
        "core/session/stream.py",
        (("gap=at - after", "gap=bool(at - after)"),),
    ),
    Mutant(
        "note kept after the write",
        "core/input/intake.py",
        (("[KeepNote(self.note()), *applied, *synced]", "[*applied, *synced]"),),
    ),
    Mutant(
        "written while frozen",
        "core/input/intake.py",
        (("        if self.is_frozen:\n", "        if False:\n"),),
    ),
    Mutant(
        "rights not looked at",
        "core/input/intake.py",
        (
            (
                "        if not self.rights.may(given.actor, right, at):\n",
                "        if False:\n",
            ),
        ),
    ),
    Mutant(
        "acknowledged before the book says so",
        "core/input/settlements.py",
        (
            (
                "        while self._vouched and self._vouched[0][0] <= entry:\n",
                "        while self._vouched:\n",
            ),
        ),
        ("tests/core/input/test_settlements.py",),
    ),
    Mutant(
        "inputs kept when the disk refuses",
        "core/book/log_writer.py",
        (
            (
                "if place < out or record.kind not in kinds",
                "if place <= out or record.kind not in kinds",
            ),
        ),
        ("tests/core/book/test_log_writer.py",),
    ),
    Mutant(
        "a fenced program is told to end",
        "core/session/session.py",
        (("KILL if self._is_fenced else signal", "signal"),),
        ("tests/core/session/test_session.py",),
    ),
    Mutant(
        "idle although it prints",
        "core/session/idle_sessions.py",
        (
            (
                "is_active = activity.is_live or activity != watch.activity",
                "is_active = activity.is_live",
            ),
        ),
    ),
    Mutant(
        "a skipped viewer is not told how much it missed",
        "core/session/stream.py",
        (("Skip(start - cursor, start)", "Skip(0, start)"),),
    ),
)
