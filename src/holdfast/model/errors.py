"""Every exception holdfast raises on purpose.

HoldfastError
├── UsageError              the request itself is wrong: fix the call
├── Forbidden               you may not, as things stand: get the authority first
├── PeerError               the other side broke the protocol: hang up
├── Unavailable             nothing was done: try again later
└── Unsettled               it may or may not have happened: look, do not repeat

Catch a branch, not a leaf: the five branches are the five things a caller can
do. A leaf keeps its facts, builds its own sentence and says what to do next.
Its `code` is for machines and never changes; the sentence may.

Leaves cross the wire as code and facts, and `from_facts` makes them again on
the other side: the names in `facts` are the parameters of the leaf.
"""

from collections.abc import Mapping
from typing import ClassVar

Fact = str | int


class HoldfastError(Exception):
    """Base of every error raised on purpose."""

    code: ClassVar[str] = "error"
    """Stable name on the wire, in logs and in `holdfast --json` output."""

    retryable: ClassVar[bool] = False
    """Whether the same request may succeed later without anything else changed."""

    next_step: ClassVar[str] = ""
    """What to do about it, as a sentence for a person or an agent."""

    def __init__(self, sentence: str, **facts: Fact) -> None:
        super().__init__(sentence)
        self.facts: dict[str, Fact] = facts


class UsageError(HoldfastError):
    """The request itself is wrong; repeating it will not help."""


class Forbidden(HoldfastError):
    """The request is well formed, but not yours to make as things stand."""


class PeerError(HoldfastError):
    """The other side sent something the specification forbids."""


class Unavailable(HoldfastError):
    """Nothing was done; the same request may succeed later."""

    retryable = True


class Unsettled(HoldfastError):
    """Whether it happened is not known; repeating it could do it twice."""


# ── fix the call ──────────────────────────────────────────────────────────────


class MalformedId(UsageError):
    """A text was taken for an identifier and is none."""

    code = "malformed-id"
    next_step = "Copy the id as `holdfast ls` prints it."

    def __init__(self, text: str, wanted: str) -> None:
        super().__init__(f"{text!r} is not a {wanted}", text=text, wanted=wanted)


class MalformedName(UsageError):
    """A name has characters or a length that names may not have."""

    code = "malformed-name"
    next_step = (
        "Use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit."
    )

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"{text!r} cannot be a name: {why}", text=text, why=why)


class SizeOutOfRange(UsageError):
    """A terminal size is smaller or larger than any terminal."""

    code = "size-out-of-range"
    next_step = "Use 1 to 1000 columns and 1 to 1000 rows."

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(
            f"no terminal is {columns} columns by {rows} rows",
            columns=columns,
            rows=rows,
        )


class SessionNotFound(UsageError):
    """No session of that name or id lives here."""

    code = "session-not-found"
    next_step = "`holdfast ls` lists the sessions."

    def __init__(self, session: str) -> None:
        super().__init__(f"no session {session!r} here", session=session)


class OffsetAhead(UsageError):
    """A reader asked to continue from a byte that was never printed."""

    code = "offset-ahead"
    next_step = "Resume from an offset this session has sent you, or from none."

    def __init__(self, offset: int, end: int) -> None:
        super().__init__(
            f"offset {offset} is beyond the stream's end at {end}",
            offset=offset,
            end=end,
        )


class InputIdReused(UsageError):
    """One input id came with two different payloads."""

    code = "input-id-reused"
    next_step = "Give every input a sequence number of its own."

    def __init__(self, client: str, sequence: int) -> None:
        super().__init__(
            f"input {client}/{sequence} was used for a different payload before",
            client=client,
            sequence=sequence,
        )


class InputGap(UsageError):
    """An input came whose predecessors from the same client never did."""

    code = "input-gap"
    next_step = "Send the missing inputs first, in order."

    def __init__(self, client: str, expected: int, sequence: int) -> None:
        super().__init__(
            f"client {client} sent input {sequence} when {expected} was next",
            client=client,
            expected=expected,
            sequence=sequence,
        )


class InputTooLarge(UsageError):
    """An input holds more bytes than one input may."""

    code = "input-too-large"
    next_step = "Split it into smaller inputs."

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"an input of {size} bytes is over the limit of {limit}",
            size=size,
            limit=limit,
        )


class LineTooLong(UsageError):
    """A line is longer than a canonical terminal takes; it would be cut."""

    code = "line-too-long"
    next_step = "Put the text into a file and name the file instead."

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"a line of {size} bytes is over the terminal's {limit}, and is not cut",
            size=size,
            limit=limit,
        )


class NotAsked(UsageError):
    """An answer was given to a request for the turn that nobody made."""

    code = "not-asked"
    next_step = "`holdfast who` shows who waits for the turn."

    def __init__(self, asker: str) -> None:
        super().__init__(f"{asker} has not asked for the turn", asker=asker)


class OperatorNotHere(UsageError):
    """An operator was named who is not attached."""

    code = "operator-not-here"
    next_step = "`holdfast who` shows who is attached."

    def __init__(self, operator: str) -> None:
        super().__init__(f"{operator} is not attached", operator=operator)


class NothingPending(UsageError):
    """An approval or denial names no pending request."""

    code = "nothing-pending"
    next_step = "`holdfast gate pending` lists what waits for an answer."

    def __init__(self, ticket: int) -> None:
        super().__init__(f"nothing is pending under {ticket}", ticket=ticket)


class SessionOver(UsageError):
    """The session has exited; there is nothing left to write to."""

    code = "session-over"
    next_step = "`holdfast new` starts another."

    def __init__(self, state: str) -> None:
        super().__init__(f"the session is {state}", state=state)


# ── get the authority first ───────────────────────────────────────────────────


class NotAllowed(Forbidden):
    """The actor's envelope does not cover the request."""

    code = "not-allowed"
    next_step = "Ask somebody with `grant` for the right."

    def __init__(self, actor: str, right: str) -> None:
        super().__init__(f"{actor} may not {right} here", actor=actor, right=right)


class WiderThanGiven(Forbidden):
    """Somebody tried to pass on more than they have."""

    code = "wider-than-given"
    next_step = "Pass on only what you hold yourself."

    def __init__(self, what: str) -> None:
        super().__init__(f"cannot pass on {what}: it was not given to you", what=what)


class NotYourTurn(Forbidden):
    """Somebody else, or nobody, has the right to write."""

    code = "not-your-turn"
    next_step = "`ask` for the turn, or `take` it if it is free."

    def __init__(self, holder: str, epoch: int) -> None:
        super().__init__(
            f"{holder or 'nobody'} has the turn (epoch {epoch})",
            holder=holder,
            epoch=epoch,
        )


class StaleEpoch(Forbidden):
    """The input was made under a turn that has since changed hands."""

    code = "stale-epoch"
    next_step = "Look at what has changed, then send it again under the new epoch."

    def __init__(self, epoch: int, holder: str, current: int) -> None:
        super().__init__(
            f"turn epoch {epoch} is over; {holder or 'nobody'} has the turn"
            f" (epoch {current})",
            epoch=epoch,
            holder=holder,
            current=current,
        )


class StaleIncarnation(Forbidden):
    """The input was made for an earlier life of the session."""

    code = "stale-incarnation"
    next_step = "Attach again: the session has been restored or moved."

    def __init__(self, incarnation: int, current: int) -> None:
        super().__init__(
            f"incarnation {incarnation} is not this one, which is {current}",
            incarnation=incarnation,
            current=current,
        )


class DeniedByPolicy(Forbidden):
    """The gate judged the input and refused it."""

    code = "denied-by-policy"
    next_step = "`holdfast gate test` says which rule applies to what."

    def __init__(self, rule: str) -> None:
        super().__init__(f"denied by policy rule {rule!r}", rule=rule)


class DeniedByOperator(Forbidden):
    """An operator with `approve` was asked and said no."""

    code = "denied-by-operator"
    next_step = "Ask them why."

    def __init__(self, approver: str) -> None:
        super().__init__(f"{approver} was asked and denied it", approver=approver)


class SelfApproval(Forbidden):
    """The asker tried to approve their own request."""

    code = "self-approval"
    next_step = "Somebody else with `approve` must answer."

    def __init__(self, actor: str) -> None:
        super().__init__(f"{actor} cannot approve their own input", actor=actor)


class ApprovalMismatch(Forbidden):
    """An approval was for other bytes than those that wait."""

    code = "approval-mismatch"
    next_step = "Look at what is pending now, and answer that."

    def __init__(self, ticket: int) -> None:
        super().__init__(
            f"what is pending under {ticket} is not what was approved", ticket=ticket
        )


class Frozen(Forbidden):
    """The session is frozen; nothing is written to it."""

    code = "frozen"
    next_step = "`holdfast thaw` it first."

    def __init__(self) -> None:
        super().__init__("the session is frozen")


class LogbookWithheld(Forbidden):
    """A log does not say what a receipt proves it once said."""

    code = "log-contradicts-receipt"
    next_step = "Keep the receipt: it is evidence. Do not trust this log."

    def __init__(self, index: int) -> None:
        super().__init__(
            f"the log contradicts a receipt for entry {index}", index=index
        )


# ── hang up ───────────────────────────────────────────────────────────────────


class FrameTooLarge(PeerError):
    """A frame header announced more bytes than we are willing to hold."""

    code = "frame-too-large"

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"a frame of {size} bytes is over the limit of {limit}",
            size=size,
            limit=limit,
        )


class UnknownFrameKind(PeerError):
    """A frame has a kind that this version does not know."""

    code = "unknown-frame-kind"

    def __init__(self, kind: int) -> None:
        super().__init__(f"frame kind 0x{kind:02x} is unknown", kind=kind)


class MalformedMessage(PeerError):
    """A frame's payload is not the message its kind announces."""

    code = "malformed-message"

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"malformed {kind}: {why}", kind=kind, why=why)


class UnexpectedMessage(PeerError):
    """A message came that may not come at this point."""

    code = "unexpected-message"

    def __init__(self, kind: str, state: str) -> None:
        super().__init__(f"{kind} may not come while {state}", kind=kind, state=state)


class NoCommonVersion(PeerError):
    """The two sides speak no version of the protocol in common."""

    code = "no-common-version"
    next_step = "Upgrade the older side."

    def __init__(self, ours: str, theirs: str) -> None:
        super().__init__(
            f"we speak protocol {ours}, the other side {theirs}",
            ours=ours,
            theirs=theirs,
        )


class LogTampered(PeerError):
    """A logbook does not verify: somebody changed it."""

    code = "log-tampered"
    next_step = "Do not trust entries from this one on."

    def __init__(self, index: int, why: str) -> None:
        super().__init__(
            f"the log does not verify at entry {index}: {why}", index=index, why=why
        )


# ── try again later ───────────────────────────────────────────────────────────


class Busy(Unavailable):
    """The program does not read its input, and the queue before it is full."""

    code = "busy"
    next_step = "Wait until the program reads, or seize with --interrupt."

    def __init__(self, queued: int, limit: int) -> None:
        super().__init__(
            f"{queued} bytes already wait for the program (limit {limit})",
            queued=queued,
            limit=limit,
        )


class TooManyClients(Unavailable):
    """One turn was used from more clients than we keep count of."""

    code = "too-many-clients"
    next_step = "Close some, or drop the turn and take it again."

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} clients wrote under one turn", limit=limit)


class TooManyPending(Unavailable):
    """An actor has as many requests waiting for approval as it may."""

    code = "too-many-pending"
    next_step = "Wait for an answer to those that are pending."

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} requests already wait", limit=limit)


class AskRefused(Unavailable):
    """The turn was asked for, and not given."""

    code = "ask-refused"
    next_step = "Ask again later."

    def __init__(self, holder: str, why: str) -> None:
        super().__init__(
            f"{holder or 'nobody'} keeps the turn: {why}", holder=holder, why=why
        )


class TurnMoved(Unavailable):
    """An input was dropped, unwritten, because the turn changed hands."""

    code = "turn-moved"
    next_step = "Look at what has changed before sending it again."

    def __init__(self, holder: str, epoch: int) -> None:
        super().__init__(
            f"dropped unwritten: the turn passed to {holder or 'nobody'}"
            f" (epoch {epoch})",
            holder=holder,
            epoch=epoch,
        )


class PolicyUnavailable(Unavailable):
    """The policy crashed, hung or answered nonsense, which means deny."""

    code = "policy-unavailable"
    next_step = "`holdfast gate check` looks at the policy."

    def __init__(self, why: str) -> None:
        super().__init__(f"denied: the policy {why}", why=why)


class ApprovalTimeout(Unavailable):
    """Nobody answered a request for approval in time."""

    code = "approval-timeout"
    next_step = "Tell an operator with `approve`, then send it again."

    def __init__(self, seconds: int) -> None:
        super().__init__(f"nobody answered within {seconds} s", seconds=seconds)


class LogbookFailed(Unavailable):
    """The logbook could not be written, so the input was not accepted."""

    code = "logbook-failed"
    next_step = "Free some disk space; `holdfast doctor` says where."

    def __init__(self, why: str) -> None:
        super().__init__(f"the logbook cannot be written: {why}", why=why)


class LeaseLost(Unavailable):
    """The host may not speak for the session now."""

    code = "lease-lost"
    next_step = "Wait until the host reaches its relay, or attach through another."

    def __init__(self, incarnation: int) -> None:
        super().__init__(
            f"the lease of incarnation {incarnation} has run out",
            incarnation=incarnation,
        )


class LeaseHeld(Unavailable):
    """Another host holds the lease, or may still believe it does."""

    code = "lease-held"
    next_step = "Wait until the lease has run out, then ask again."

    def __init__(self, holder: str, incarnation: int, wait_ms: int) -> None:
        super().__init__(
            f"{holder} may hold incarnation {incarnation} for {wait_ms} ms more",
            holder=holder,
            incarnation=incarnation,
            wait_ms=wait_ms,
        )


class RolledBack(Unavailable):
    """A relay's store is older than what we have seen of it."""

    code = "rolled-back"
    next_step = "Restore the relay's newer store; until then nothing is decided."

    def __init__(self, seen: int, offered: int) -> None:
        super().__init__(
            f"the relay offers incarnation {offered}, but {seen} has lived already",
            seen=seen,
            offered=offered,
        )


# ── look, do not repeat ───────────────────────────────────────────────────────


class OutcomeUnknown(Unsettled):
    """The input may or may not have reached the program."""

    code = "outcome-unknown"
    next_step = "Look at the screen before you decide to send it again."

    def __init__(self, client: str, sequence: int) -> None:
        super().__init__(
            f"whether input {client}/{sequence} was applied is not known",
            client=client,
            sequence=sequence,
        )


class OutcomeForgotten(Unsettled):
    """The input was settled so long ago that its outcome is no longer kept."""

    code = "outcome-forgotten"
    next_step = "Search the logbook for it: `holdfast log`."

    def __init__(self, client: str, sequence: int) -> None:
        super().__init__(
            f"input {client}/{sequence} was settled; how is no longer kept",
            client=client,
            sequence=sequence,
        )


class InputCut(Unsettled):
    """A seize or an end came while the input was being written."""

    code = "input-cut"
    next_step = "Look at the screen: the program has seen part of it."

    def __init__(self, written: int, size: int) -> None:
        super().__init__(
            f"only {written} of {size} bytes were written", written=written, size=size
        )


def leaves(branch: type[HoldfastError] = HoldfastError) -> list[type[HoldfastError]]:
    """Return every error class with a code of its own, in order of definition."""
    found: list[type[HoldfastError]] = []
    for kind in branch.__subclasses__():
        if "code" in vars(kind):
            found.append(kind)
        found.extend(leaves(kind))
    return found


def from_facts(code: str, facts: Mapping[str, Fact], sentence: str) -> HoldfastError:
    """Make the error again that another process described.

    A code this version does not know, or facts that do not fit it, become a
    plain HoldfastError with the other side's sentence: a newer peer is no
    reason to lose what it said.
    """
    for kind in leaves():
        if kind.code == code:
            try:
                return kind(**facts)  # type: ignore[arg-type]  # checked by the call
            except TypeError:
                break
    return HoldfastError(sentence, **facts)
