"""The acts of a session's operators, each with everything that came of it.

Theory of operation
-------------------
The logbook tells of an act in several entries: what was declared, what the policy
said, who approved it, when it ran, how it ended, and what it did beyond what was
expected. A Trace joins them, entry by entry, in the order of the book:

    intended ──▶ asked ──▶ answered ──▶ input ──▶ began ──▶ finished ──▶ observed
                                   └──▶ refused            settled

An operator has one act at a time that is declared and not yet judged; whatever is
judged without a declaration is an act too. Keys, resizes and turns of people are not
traced: nobody scores them.

Invariants, each checked by tests/core/autonomy/test_trace_properties.py:

I1  Every judged input of an operator who is not human is in exactly one act.
I2  What came of an act is what the book says of its own input, and of no other.
I3  No entry raises anything, whatever its members are, or lacks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from holdfast.core.autonomy.effects import Effects
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.model.actors import ActorKind
from holdfast.model.errors import UsageError
from holdfast.model.expectations import expectation_from
from holdfast.model.inputs import InputKind
from holdfast.wire.lines import Value, number_from

_UNTRACED = frozenset({InputKind.RESIZE.value})
_EFFECTS = {one.value: one for one in Effects}

Fields = Mapping[str, Value]


@dataclass(slots=True)
class Act:
    """One act of an operator, from what it declared to what came of it."""

    actor: str
    session: str
    index: int
    """The first entry that tells of it."""

    at_wall_ms: int
    act: str = ""
    intent: str = ""
    effect: str = ""
    parameters: str = ""
    prompt: str = ""
    """What the operator's program calls the prompt that led to it."""

    expects: str = ""
    """What was expected in a form that can be compared; empty if nothing."""

    idempotent: bool = False
    attempt: int = 1
    input: str = ""
    """The kind of its input; empty if it has none."""

    actions: tuple[str, ...] = ()
    """The kinds of action of its commands; none if they cannot be told."""

    verdict: str = ""
    rule: str = ""
    policy: str = ""
    approver: str = ""
    denied_by: str = ""
    """The operator who did not approve it."""

    code: str = ""
    """Why it was refused; empty if it was not."""

    outcome: str = ""
    """What became of its bytes, if not all were typed."""

    command: int = 0
    status: int | None = None
    has_ended: bool = False
    duration_ms: int = 0
    latency_ms: int = 0
    """From the declaration, or the question, until it was let happen or refused."""

    effects: Effects = Effects.UNDECIDED
    unintended: tuple[str, ...] = ()
    was_seized: bool = False
    """Whether the turn was seized from the operator while it ran."""

    @property
    def is_valid(self) -> bool:
        """Whether it came as far as the policy."""
        return not self.code or bool(self.verdict)

    @property
    def has_run(self) -> bool:
        """Whether it was typed."""
        return bool(self.input) and not self.code and not self.outcome

    @property
    def has_succeeded(self) -> bool | None:
        """Whether its command ended as expected; None if that is not known."""
        if not self.has_run or not self.has_ended or self.status is None:
            return None
        wanted = _wanted_status(self.expects)
        return wanted is None or self.status == wanted

    @property
    def is_clean(self) -> bool | None:
        """Whether nothing at all speaks against it; None if that is not known."""
        if self.denied_by or self.was_seized or self.effects is Effects.UNINTENDED:
            return False
        if self.has_succeeded is False:
            return False
        return True if self.effects is Effects.MATCHED else None


@dataclass(slots=True)
class Trace:
    """The acts of one session, as far as its book was read."""

    session: str
    acts: list[Act] = field(default_factory=list)
    declined: dict[str, int] = field(default_factory=dict)
    """Requests of each operator that were turned away."""

    seized: dict[str, int] = field(default_factory=dict)
    """How often the turn was seized from each."""

    _declared: dict[str, Act] = field(default_factory=dict)
    _tickets: dict[int, Act] = field(default_factory=dict)
    _typed: dict[int, Act] = field(default_factory=dict)
    _by_client: dict[str, Act] = field(default_factory=dict)
    _last: dict[str, Act] = field(default_factory=dict)
    _running: dict[int, Act] = field(default_factory=dict)

    def feed(self, entry: Entry) -> None:
        """Take the next entry of the book."""
        take = _TAKERS.get(entry.kind)
        if take is not None:
            take(self, entry, entry.fields)

    def _open(self, entry: Entry, actor: str) -> Act:
        """Return the act that an operator has declared, or another."""
        found = self._declared.pop(actor, None)
        if found is None:
            found = self._made(entry, actor)
        return found

    def _made(self, entry: Entry, actor: str) -> Act:
        made = Act(actor, self.session, entry.index, entry.at_wall_ms)
        self.acts.append(made)
        return made

    def _intended(self, entry: Entry, fields: Fields) -> None:
        actor = _text(fields, "actor")
        act = self._declared[actor] = self._made(entry, actor)
        for name in ("act", "intent", "effect", "parameters", "prompt", "expects"):
            setattr(act, name, _text(fields, name))
        act.idempotent = fields.get("idempotent") is True
        act.attempt = number_from(fields.get("attempt")) or 1

    def _asked(self, entry: Entry, fields: Fields) -> None:
        actor = _text(fields, "actor")
        act = self._open(entry, actor)
        self._declared[actor] = act
        self._tickets[number_from(fields.get("ticket"))] = act

    def _answered(self, _entry: Entry, fields: Fields) -> None:
        act = self._tickets.pop(number_from(fields.get("ticket")), None)
        if act is None:
            return
        if fields.get("yes") is True:
            act.approver = _text(fields, "by")
        elif _text(fields, "by") != act.actor:  # Who withdraws its own denies nothing.
            act.denied_by = _text(fields, "by")

    def _input(self, entry: Entry, fields: Fields) -> None:
        kind = _text(fields, "input")
        if _text(fields, "actor_kind") == ActorKind.HUMAN or kind in _UNTRACED:
            return
        act = self._judged(entry, fields)
        act.input = kind or "keys"
        act.approver = act.approver or _text(fields, "approver")
        self._typed[entry.index] = act
        self._last[act.actor] = act
        if kind == InputKind.COMMAND:
            self._by_client[_text(fields, "client")] = act

    def _refused(self, entry: Entry, fields: Fields) -> None:
        if _text(fields, "actor_kind") != ActorKind.HUMAN:
            self._judged(entry, fields).code = _text(fields, "code") or "refused"

    def _judged(self, entry: Entry, fields: Fields) -> Act:
        act = self._open(entry, _text(fields, "actor"))
        act.verdict, act.rule = _text(fields, "verdict"), _text(fields, "rule")
        act.policy = _text(fields, "policy")
        act.actions = tuple(filter(None, _text(fields, "action").split("\n")))
        act.latency_ms = max(0, entry.at_wall_ms - act.at_wall_ms)
        return act

    def _settled(self, _entry: Entry, fields: Fields) -> None:
        act = self._typed.get(number_from(fields.get("of")))
        said = _text(fields, "as")
        if act is not None and said != "applied":
            act.outcome = said

    def _began(self, _entry: Entry, fields: Fields) -> None:
        client = _text(fields, "client")
        act = self._by_client.pop(client, None) if client else None
        if act is None and not client:
            act = self._last.get(_text(fields, "trigger"))
        if act is not None and not act.command:
            act.command = number_from(fields.get("number"))
            self._running[act.command] = act

    def _finished(self, _entry: Entry, fields: Fields) -> None:
        act = self._running.get(number_from(fields.get("number")))
        if act is not None:
            status = fields.get("status")
            act.status = status if type(status) is int else None
            act.duration_ms = number_from(fields.get("duration"))
            act.has_ended = True

    def _observed(self, _entry: Entry, fields: Fields) -> None:
        act = self._running.get(number_from(fields.get("number")))
        found = _EFFECTS.get(_text(fields, "as"))
        if act is None or found is None or act.actor != _text(fields, "actor"):
            return
        act.effects = found
        names = ("files", "processes", "ports")
        act.unintended = tuple(
            one for name in names for one in _text(fields, name).split("\n") if one
        )

    def _turned(self, _entry: Entry, fields: Fields) -> None:
        if fields.get("reason") != "seized":
            return
        actor = _text(fields, "from")
        act = self._last.get(actor)
        if actor:
            self.seized[actor] = self.seized.get(actor, 0) + 1
        if act is not None and not act.has_ended:
            act.was_seized = True

    def _turned_away(self, _entry: Entry, fields: Fields) -> None:
        actor, count = _text(fields, "actor"), number_from(fields.get("count"))
        self.declined[actor] = self.declined.get(actor, 0) + count


_TAKERS: dict[EntryKind, Callable[[Trace, Entry, Fields], None]] = {
    EntryKind.INTENDED: Trace._intended,  # noqa: SLF001  # a table of its methods
    EntryKind.ASKED: Trace._asked,  # noqa: SLF001
    EntryKind.ANSWERED: Trace._answered,  # noqa: SLF001
    EntryKind.INPUT: Trace._input,  # noqa: SLF001
    EntryKind.REFUSED: Trace._refused,  # noqa: SLF001
    EntryKind.SETTLED: Trace._settled,  # noqa: SLF001
    EntryKind.BEGAN: Trace._began,  # noqa: SLF001
    EntryKind.FINISHED: Trace._finished,  # noqa: SLF001
    EntryKind.OBSERVED: Trace._observed,  # noqa: SLF001
    EntryKind.TURN: Trace._turned,  # noqa: SLF001
    EntryKind.DECLINED: Trace._turned_away,  # noqa: SLF001
}


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _wanted_status(expects: str) -> int | None:
    try:
        found = expectation_from(expects)
    except UsageError:  # An entry of another version.
        return 0
    return 0 if found is None else found.status
