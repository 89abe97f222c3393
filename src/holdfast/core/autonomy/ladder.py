"""The rungs that operators stand on, for each kind of action.

Theory of operation
-------------------
    deny ──▶ ask ──▶ preview ──▶ allow         up: proposed, and done by a human
    deny ◀── ask ◀── preview ◀── allow         down: by itself

A *rung* is one of the four verdicts, for one operator and one kind of action. It takes
the place of the policy's default, and of nothing else: a rule of the policy that
denies, asks or previews stands, whatever was earned (core.policy.policy). It can be
stricter than a rule that allows.

The ladder is part of the policy in force: its text is in the same record and the same
digest (core.policy.applied_policy), and every step is an entry of the host's logbook.
The number of steps is in the text, so that no two ladders of a host have one digest.

Invariants, each checked by tests/core/autonomy/test_ladder_properties.py:

I1  A step goes from the rung that it says to a neighbouring one.
I2  A step up is made only by an operator who is human; a step down needs nobody.
I3  What was written down is read back as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedMessage
from holdfast.model.verdicts import Verdict
from holdfast.wire.lines import Value, decode_line, encode_line

RUNGS = (Verdict.DENY, Verdict.ASK, Verdict.PREVIEW, Verdict.ALLOW)

MAX_RUNGS = 256
"""Rungs of a host: more kinds of action than a person has decided about."""

MAX_LADDER = 512 * 1024
"""Bytes of a ladder that is written down: so many rungs of the longest names."""

Key = tuple[str, str]
"""An operator's id, and a kind of action."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the ladder, and the figures that speak for it."""

    actor: str
    action: str
    before: Verdict
    after: Verdict
    why: str

    @property
    def is_up(self) -> bool:
        """Whether the operator may do more after it."""
        return RUNGS.index(self.after) > RUNGS.index(self.before)


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rungs that were stepped on, and how many steps there were."""

    rungs: Mapping[Key, Verdict] = field(default_factory=dict)
    count: int = 0

    def stepped(self, step: Step) -> "Ladder":
        """Return the ladder after a step."""
        rungs = {**self.rungs, (step.actor, step.action): step.after}
        return Ladder(rungs, self.count + 1)

    def to_text(self) -> str:
        """Return it as it is written down: a line with the count, one for each rung."""
        if not self.count:
            return ""
        lines = [encode_line({"steps": self.count})]
        for (actor, action), verdict in sorted(self.rungs.items()):
            fields: dict[str, Value] = {"actor": actor, "action": action}
            lines.append(encode_line({**fields, "rung": verdict.value}))
        return b"\n".join(lines).decode()


def ladder_from(text: str) -> Ladder:
    """Read what `to_text` has written.

    Raises:
        PeerError: It is none.

    """
    if not text:
        return Ladder()
    first, *lines = [decode_line(line) for line in text.encode().split(b"\n")]
    count, rungs = first.get("steps"), {}
    for line in lines:
        rung = line.get("rung")
        if list(line) != ["actor", "action", "rung"] or rung not in list(RUNGS):
            raise MalformedMessage("ladder", "a rung is invalid")
        rungs[str(line["actor"]), str(line["action"])] = Verdict(str(rung))
    if type(count) is not int or count < len(rungs) or len(lines) > MAX_RUNGS:
        raise MalformedMessage("ladder", "the count of steps is invalid")
    return Ladder(rungs, count)


def may_step(step: Step, by: ActorKind | None, ladder: Ladder) -> bool:
    """Tell whether a step may be made: by an operator of that kind, or by nobody."""
    at = ladder.rungs.get((step.actor, step.action), step.before)
    is_next = abs(RUNGS.index(step.after) - RUNGS.index(at)) == 1
    is_allowed = by is ActorKind.HUMAN or not step.is_up
    return at is step.before and is_next and is_allowed and is_kind(step.action)


def is_kind(action: str) -> bool:
    """Tell whether something is a kind of action, and not a word for what is none."""
    return bool(action) and not action.startswith("(")
