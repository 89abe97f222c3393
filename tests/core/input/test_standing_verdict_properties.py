"""Two intakes with one history: one has standing verdicts, the other has none.

Whatever happens, in whatever order, both must say and write the same.
"""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.driven_intake import ANNA, BOT, SESSION, WRITER

from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.core.input import gate, serializer, turn
from holdfast.core.input.budget import Budget, ByKind
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Consult, Effect, KeepNote, Settings
from holdfast.core.input.standing_verdict import Foreseen, StandingVerdict
from holdfast.core.input.turn import TurnRules
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.verdicts import Verdict

LIFE = Incarnation(1)
BUDGETS: tuple[ByKind, ...] = (
    {},
    {ActorKind.AGENT: Budget(inputs_per_minute=3)},
    {ActorKind.HUMAN: Budget(bytes_per_minute=2)},
)


@dataclass
class House:
    """An intake whose disk and terminal do what they are told, and a plain policy."""

    is_quick: bool
    """Whether verdicts stand."""

    at: Moment = Moment(10.0, 1000.0)  # noqa: RUF009  # a tuple
    told: list[str] = field(default_factory=list)
    pressed: int = 0
    kinds: dict[ActorId, ActorKind] = field(default_factory=dict)
    denied: set[ActorKind] = field(default_factory=set)
    is_secret: bool = False
    disk_is_full: bool = False
    foreseen: Foreseen | None = None
    is_slow: bool = False
    """Whether the terminal takes nothing for now."""

    def __post_init__(self) -> None:
        born = Settings(SESSION, LIFE, b"key", kind_of=self.kind_of)
        self.intake = Intake(born, Logbook(genesis(SESSION)))
        self.standing = StandingVerdict(self.intake, self.kind_of)
        self.writing: list[serializer.Apply] = []
        for actor in (ANNA, BOT):
            everything = Envelope(frozenset(Right))
            self.do(self.intake.grant(actor, everything, ANNA, self.at))

    def kind_of(self, actor: ActorId) -> ActorKind:
        return self.kinds.get(actor, ActorKind.HUMAN)

    def submit(self, given: Input) -> None:
        effects: list[Effect] = []
        if self.is_quick and not self.is_secret:
            foreseen = self.standing.foresee(given.seen)
            is_blocked = self.intake.blocked(self.at.boot) is not None
            effects = self.standing.press(given, self.at)
            self.pressed += bool(effects)
            self.was_foreseen(given, foreseen, effects, is_blocked=is_blocked)
        self.do(effects or self.intake.submit(given, self.at))

    def was_foreseen(
        self,
        given: Input,
        foreseen: Foreseen | None,
        effects: list[Effect],
        *,
        is_blocked: bool,
    ) -> None:
        """Compare what a key led to with what was said before it came."""
        if len(given.payload) != 1:
            return
        if foreseen is None or replace(foreseen.given, payload=given.payload) != given:
            assert not effects
            return
        if is_blocked or self.at.wall >= foreseen.until_wall:
            assert not effects
            return
        (stored,) = effects
        assert isinstance(stored, Store)
        before, between, after = foreseen.line
        at, data = round(self.at.wall * 1000), b64encode(given.payload)
        assert stored.entry.line == b"%b%d%b%b%b" % (before, at, between, data, after)
        self.foreseen = foreseen

    def do(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, KeepNote) and self.foreseen is not None:
                assert effect.note == self.foreseen.note
                self.foreseen = None
            if isinstance(effect, Consult):
                self.do(self.consulted(effect))
                continue
            self.told.append(repr(effect))
            if isinstance(effect, Store) and self.disk_is_full:
                self.foreseen = None
                self.do(self.intake.store_failed("full", self.at))
            elif isinstance(effect, Store):
                self.do(self.intake.stored(self.at))
            elif isinstance(effect, serializer.Apply):
                self.writing.append(effect)
                self.write()
            elif isinstance(effect, serializer.Sync):
                self.do(self.intake.synced(effect.index, self.at))

    def consulted(self, asked: Consult) -> list[Effect]:
        """Answer by who asks, and of a line by its bytes too."""
        given = asked.input
        is_denied = self.kind_of(given.actor) in self.denied or b"no\r" in given.payload
        verdict = Verdict.DENY if is_denied else Verdict.ALLOW
        said = gate.Judged(asked.ticket, verdict, "rule")
        effects = self.intake.judged(said, self.at, echo_off=self.is_secret)
        if given.kind is InputKind.KEYS and b"\r" not in given.payload:
            self.standing.learn(given, effects)
        return effects

    def write(self) -> None:
        while self.writing and not self.is_slow:
            one = self.writing.pop(0)
            size = len(one.input.payload)
            self.do(self.intake.wrote(one.index, size, self.at))

    def step(self, seconds: float) -> None:
        self.at = Moment(self.at.now + seconds, self.at.wall + seconds)
        self.do(self.intake.tick(self.at))

    def heal(self) -> None:
        """Let everything be well again, as far as it can be."""
        self.disk_is_full = self.is_slow = self.is_secret = False
        self.denied, self.kinds = set(), {}
        self.step(70.0)
        self.write()
        self.intake.adopt(TurnRules(), {})
        if self.intake.is_frozen:
            self.do(self.intake.thaw(ANNA, self.at))
        for actor in (ANNA, BOT):
            envelope = Envelope(frozenset(Right))
            self.do(self.intake.grant(actor, envelope, ANNA, self.at))
        if self.intake.turn.holder not in (None, BOT):
            gave = turn.Gave(self.intake.turn.holder, BOT)
            self.do(self.intake.request(gave, self.at))


Happens = Callable[[House, ActorId, int], object]


def grant(house: House, who: ActorId, number: int) -> None:
    rights = (WRITER, frozenset({Right.TAKE}), frozenset({Right.INPUT}))[number]
    until = None if number == 1 else house.at.wall + 1
    envelope = Envelope(rights, SESSION, until)
    house.do(house.intake.grant(who, envelope, ANNA, house.at))


def turn_moves(house: House, who: ActorId, number: int) -> None:
    other = ANNA if who == BOT else BOT
    events = (turn.Took(who), turn.Dropped(who), turn.Gave(who, other))
    house.do(house.intake.request(events[number], house.at))


def freeze(house: House, who: ActorId, number: int) -> None:
    house.do(house.intake.freeze(who, house.at))
    if number:
        house.do(house.intake.thaw(who, house.at))


def policy(house: House, _: ActorId, number: int) -> None:
    house.denied ^= {ActorKind.AGENT} if number else {ActorKind.HUMAN}
    house.intake.adopt(TurnRules(), {})


def kind(house: House, who: ActorId, number: int) -> None:
    house.kinds[who] = (ActorKind.AGENT, ActorKind.HUMAN)[number % 2]


def secret(house: House, _: ActorId, __: int) -> None:
    house.is_secret = True


def terminal(house: House, _: ActorId, __: int) -> None:
    house.is_slow = not house.is_slow
    house.write()


def disk(house: House, _: ActorId, number: int) -> None:
    house.disk_is_full = bool(number)


def ends(house: House, _: ActorId, number: int) -> None:
    """Let the disk, or the program, be gone for good; seldom."""
    if number == 0:
        house.do(house.intake.sync_failed("gone", house.at))
    elif number == 1:
        house.do(house.intake.exited("0", house.at))


def note(house: House, who: ActorId, _: int) -> None:
    said = {"actor": who}
    house.do(house.intake.record(EntryKind.INTENDED, said, house.at))


EVENTS: tuple[Happens, ...] = (
    grant,
    grant,
    turn_moves,
    freeze,
    policy,
    policy,
    kind,
    secret,
    terminal,
    disk,
    ends,
    note,
    lambda house, who, _: house.do(house.intake.revoke(who, ANNA, house.at)),
    lambda house, who, _: house.do(house.intake.seize(who, house.at)),
    lambda house, who, _: house.do(house.intake.attach(who, "c", house.at)),
    lambda house, who, _: house.do(
        house.intake.detach(who, "c", last=True, at=house.at)
    ),
    lambda house, _, __: house.do(house.intake.fenced(house.at)),
    lambda house, _, number: house.intake.adopt(TurnRules(), BUDGETS[number]),
    lambda house, _, number: house.step((0.1, 1.5, 40.0)[number]),
)
"""What may change what is allowed."""

KEYS = st.tuples(
    st.sampled_from((BOT, BOT, BOT, ANNA)),
    st.sampled_from((b"a", b"a", b"\x1b[A", b"ls\r", b"no\r", b"x" * 70)),
    st.sampled_from((0, 0, 1, 2)),
)
CHANGES = st.tuples(
    st.sampled_from(EVENTS), st.sampled_from((BOT, BOT, ANNA)), st.integers(0, 2)
)
SCENES = st.tuples(
    st.lists(CHANGES, min_size=1, max_size=2), st.lists(KEYS, min_size=1, max_size=3)
)
"""Something happens to somebody who types, and then somebody types on."""


class Twins:
    """Both houses, and operators who type the same into them."""

    def __init__(self) -> None:
        self.houses = self.quick, self.full = (
            House(is_quick=True),
            House(is_quick=False),
        )
        self.sent: dict[ActorId, int] = {ANNA: 0, BOT: 0}
        self.epoch = Epoch(0)
        """Of the turn as the scene began: somebody may not have heard of another."""

    def begin(self) -> None:
        for house in self.houses:
            house.heal()
        for _ in range(3):
            self.type(BOT, b"a", 0)
        self.epoch = self.quick.intake.turn.epoch

    def type(self, who: ActorId, payload: bytes, behind: int) -> None:
        now = self.quick.intake.turn.epoch
        epoch = self.epoch if behind == 1 else Epoch(max(0, now - behind // 2))
        known = InputId(ClientId(f"c_{who}"), self.sent[who] + 1)
        made = Input(known, who, InputKind.KEYS, LIFE, epoch, payload, waits=False)
        for house in self.houses:
            house.submit(made)
        self.agree()
        line = self.quick.intake.serializer
        self.sent[who] += line.is_known(made)

    def agree(self) -> None:
        assert self.quick.told == self.full.told
        assert self.quick.intake.note() == self.full.intake.note()


@settings(max_examples=200, deadline=None)
@given(st.lists(SCENES, min_size=1, max_size=4))
def test_i1_i2_what_stands_is_what_a_full_decision_would_say(
    story: list[
        tuple[
            list[tuple[Happens, ActorId, int]],
            list[tuple[ActorId, bytes, int]],
        ]
    ],
) -> None:
    twins = Twins()

    for changes, keys in story:
        twins.begin()
        for happens, who, number in changes:
            for house in twins.houses:
                happens(house, who, number)
            twins.agree()
        for who, payload, behind in keys:
            twins.type(who, payload, behind)


def test_a_typist_is_mostly_pressed() -> None:
    twins = Twins()

    for _ in range(20):
        twins.type(BOT, b"a", 0)

    twins.agree()
    assert twins.quick.pressed == 18  # The first takes the turn, the second teaches.
    assert twins.full.pressed == 0
