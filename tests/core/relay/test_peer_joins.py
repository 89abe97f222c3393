import pytest

from holdfast.core.relay.peer_joins import (
    TICKET_TTL,
    Admitted,
    Asked,
    Cut,
    Dismissed,
    Drained,
    Effect,
    Event,
    Join,
    Knock,
    Left,
    Limits,
    Link,
    Met,
    PeerJoins,
    Published,
    Refuse,
    Registered,
    Stats,
    Unrouted,
    Warn,
)
from holdfast.model.errors import (
    HoldfastError,
    HostReplaced,
    HostSilent,
    NotReachable,
    RelayFull,
    RelayLeaving,
    TicketRefused,
)
from holdfast.model.ids import ActorId, HostId, SessionId

H, G = HostId("h_one"), HostId("h_two")
S = SessionId("s_one")
ANNA, BERT = ActorId("a_anna"), ActorId("a_bert")
HOST, OTHER = Link(1), Link(2)
OPERATOR, DIALLED = Link(10), Link(11)


class Point:
    """The joins of a relay, and what it was last told to do."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.machine = PeerJoins(limits or Limits())
        self.tickets = 0

    def does(self, event: Event, now: float = 0.0) -> list[Effect]:
        return self.machine.handle(event, now)

    def asks(
        self,
        link: Link = OPERATOR,
        actor: ActorId = ANNA,
        target: HostId | SessionId = H,
        **more: object,
    ) -> list[Effect]:
        self.tickets += 1
        ticket = b"ticket %d" % self.tickets
        fields = {"invite": b"", "ticket": ticket, **more}
        return self.does(Asked(link, actor, target, **fields))  # type: ignore[arg-type]  # the test's own


def point(limits: Limits | None = None) -> Point:
    made = Point(limits)
    made.does(Registered(HOST, H))
    made.does(Admitted(HOST, (ANNA,), (b"invite",)))
    made.does(Published(HOST, (S,)))
    return made


def joined(made: Point, operator: Link = OPERATOR, dialled: Link = DIALLED) -> None:
    (knock,) = made.asks(operator)
    assert isinstance(knock, Knock)
    assert made.does(Met(dialled, H, knock.ticket)) == [Join(operator, dialled, H)]


def refused(effects: list[Effect], kind: type[HoldfastError]) -> bool:
    (effect,) = effects
    return isinstance(effect, Refuse) and isinstance(effect.error, kind)


def whose(effect: Effect) -> Link:
    assert isinstance(effect, Knock | Refuse)
    return effect.link


def test_an_admitted_operator_is_joined_with_the_host_it_asked_for() -> None:
    made = point()

    assert made.asks() == [Knock(HOST, b"ticket 1", ANNA, H, b"")]
    assert made.does(Met(DIALLED, H, b"ticket 1")) == [Join(OPERATOR, DIALLED, H)]
    assert made.machine.stats() == Stats(hosts=1, waiting=0, pairs=1, sessions=1)


def test_a_session_is_found_by_its_id_where_it_was_published() -> None:
    made = point()

    assert made.asks(target=S) == [Knock(HOST, b"ticket 1", ANNA, S, b"")]


def test_an_invitation_stands_in_for_being_known() -> None:
    made = point()

    (knock,) = made.asks(actor=BERT, invite=b"invite")

    assert knock == Knock(HOST, b"ticket 1", BERT, H, b"invite")


def test_i3_unknown_absent_and_unwilling_hosts_are_one_refusal() -> None:
    made = point()
    made.does(Registered(OTHER, G))

    answers = [
        made.asks(Link(20), BERT, H),
        made.asks(Link(20), ANNA, G),
        made.asks(Link(20), ANNA, HostId("h_none")),
        made.asks(Link(20), BERT, H, invite=b"another"),
        made.asks(Link(20), BERT, S),
        made.asks(Link(20), ANNA, SessionId("s_none")),
        made.asks(Link(20), ANNA, S, is_leased=True),
    ]

    for (effect,) in answers:
        assert isinstance(effect, Refuse)
        assert type(effect.error) is NotReachable
        assert set(effect.error.facts) == {"target"}


def test_i3_a_full_host_refuses_strangers_as_an_absent_one_would() -> None:
    made = point(Limits(knocks_per_host=0))

    assert refused(made.asks(actor=BERT), NotReachable)
    assert refused(made.asks(actor=ANNA), RelayFull)


def test_whoever_was_dismissed_is_not_admitted_any_more() -> None:
    made = point()

    made.does(Dismissed(HOST, (ANNA,), (b"invite",)))

    assert refused(made.asks(), NotReachable)
    assert refused(made.asks(actor=BERT, invite=b"invite"), NotReachable)


def test_a_reset_admits_nobody_but_those_it_names() -> None:
    made = point()

    made.does(Admitted(HOST, (BERT,), (), resets=True))

    assert refused(made.asks(), NotReachable)
    assert isinstance(made.asks(actor=BERT)[0], Knock)


def test_a_session_that_moved_away_is_not_found_there_any_more() -> None:
    made = point()

    made.does(Published(HOST, (), (S, SessionId("s_never"))))

    assert refused(made.asks(target=S), NotReachable)


def test_a_reset_publishes_nothing_but_what_it_names() -> None:
    made = point()

    made.does(Published(HOST, (SessionId("s_two"),), resets=True))

    assert refused(made.asks(target=S), NotReachable)
    assert isinstance(made.asks(target=SessionId("s_two"))[0], Knock)


def test_a_host_that_publishes_anothers_session_gets_only_those_it_admits() -> None:
    made = point()
    made.does(Registered(OTHER, G))
    made.does(Published(OTHER, (S,)))
    made.does(Admitted(OTHER, (BERT,), ()))

    assert whose(made.asks(target=S)[0]) == HOST
    assert whose(made.asks(Link(20), BERT, S)[0]) == OTHER
    made.does(Left(HOST))
    assert refused(made.asks(Link(21), target=S), NotReachable)
    assert whose(made.asks(Link(22), BERT, S)[0]) == OTHER


def test_a_leased_session_is_with_the_holder_of_its_lease_and_nobody_else() -> None:
    made = point()
    made.does(Registered(OTHER, G))
    made.does(Admitted(OTHER, (ANNA,), ()))

    (knock,) = made.asks(target=S, is_leased=True, leased_to=G)
    away = made.asks(Link(20), target=S, is_leased=True, leased_to=HostId("h_gone"))

    assert whose(knock) == OTHER
    assert refused(away, NotReachable)


def test_i2_a_ticket_is_good_once() -> None:
    made = point()
    joined(made)

    assert refused(made.does(Met(Link(12), H, b"ticket 1")), TicketRefused)


def test_i2_a_ticket_is_good_for_the_host_it_was_made_for() -> None:
    made = point()
    made.asks()

    assert refused(made.does(Met(Link(12), G, b"ticket 1")), TicketRefused)
    assert made.does(Met(DIALLED, H, b"ticket 1")) == [Join(OPERATOR, DIALLED, H)]


def test_i2_a_ticket_is_good_for_seconds() -> None:
    made = point()
    made.asks()

    late = made.does(Met(DIALLED, H, b"ticket 1"), now=TICKET_TTL)

    assert refused(late, TicketRefused)


def test_i2_a_ticket_that_was_never_given_out_is_refused() -> None:
    assert refused(point().does(Met(DIALLED, H, b"made up")), TicketRefused)


def test_i6_who_waits_in_vain_is_told_that_the_host_is_silent() -> None:
    made = point()
    made.asks()

    assert made.machine.next_deadline() == TICKET_TTL
    assert made.machine.tick(TICKET_TTL - 0.1) == []
    assert refused(made.machine.tick(TICKET_TTL), HostSilent)
    assert made.machine.next_deadline() is None


def test_i6_who_was_joined_is_not_told_that_the_host_is_silent() -> None:
    made = point()
    joined(made)

    assert made.machine.tick(TICKET_TTL) == []


def test_who_left_while_waiting_is_not_joined() -> None:
    made = point()
    made.asks()

    assert made.does(Left(OPERATOR)) == []
    assert refused(made.does(Met(DIALLED, H, b"ticket 1")), TicketRefused)


def test_i8_when_one_end_leaves_the_other_is_cut() -> None:
    made = point()
    joined(made)
    joined(made, Link(20), Link(21))

    assert made.does(Left(OPERATOR)) == [Cut(DIALLED)]
    assert made.does(Left(DIALLED)) == []
    assert made.does(Left(Link(21))) == [Cut(Link(20))]
    assert made.machine.stats().pairs == 0


def test_i5_of_two_links_with_one_key_the_later_is_the_hosts() -> None:
    made = point()
    joined(made)
    made.asks(Link(20))

    first, second = made.does(Registered(OTHER, H))

    assert refused([first], HostReplaced)
    assert whose(first) == HOST
    assert second == Knock(OTHER, b"ticket 2", ANNA, H, b"")
    assert made.machine.stats().pairs == 1
    assert made.machine.host_of(HOST) is None
    assert made.machine.host_of(OTHER) == H


def test_i5_the_earlier_link_says_nothing_for_the_host_any_more() -> None:
    made = point()
    made.does(Registered(OTHER, H))

    for event in (
        Admitted(HOST, (ANNA,), ()),
        Dismissed(HOST, (ANNA,), ()),
        Published(HOST, (S,)),
        Left(HOST),
    ):
        assert made.does(event) == []

    assert refused(made.asks(), NotReachable)
    assert refused(made.asks(target=S), NotReachable)
    assert made.machine.stats().sessions == 0


def test_a_host_that_left_is_not_reachable_but_its_pairs_go_on() -> None:
    made = point()
    joined(made)

    assert made.does(Left(HOST)) == []

    assert refused(made.asks(Link(20)), NotReachable)
    assert made.machine.stats() == Stats(hosts=0, waiting=0, pairs=1, sessions=0)


def test_a_host_that_comes_back_in_time_hears_of_the_knock_again() -> None:
    made = point()
    made.asks()
    made.does(Left(HOST))

    assert made.does(Registered(OTHER, H)) == [Knock(OTHER, b"ticket 1", ANNA, H, b"")]


LIMITS = [
    (Limits(operators=1), "operators"),
    (Limits(per_actor=1), "links of one key"),
    (Limits(per_host=1), "operators of one host"),
]


@pytest.mark.parametrize(("limits", "what"), LIMITS)
def test_i4_at_a_limit_the_newcomer_is_refused(limits: Limits, what: str) -> None:
    made = point(limits)
    joined(made)

    (effect,) = made.asks(Link(20))

    assert isinstance(effect, Refuse)
    assert effect.error.facts == {"what": what, "limit": 1}
    made.does(Left(OPERATOR))
    assert isinstance(made.asks(Link(21))[0], Knock)


@pytest.mark.parametrize(
    "limits", [Limits(knocks_per_actor=1), Limits(knocks_per_host=1)]
)
def test_i4_who_waits_counts_until_it_is_joined(limits: Limits) -> None:
    made = point(limits)
    made.asks()

    assert refused(made.asks(Link(20)), RelayFull)
    made.does(Met(DIALLED, H, b"ticket 1"))
    assert isinstance(made.asks(Link(20))[0], Knock)


def test_i4_one_host_too_many_is_refused() -> None:
    made = point(Limits(hosts=1))

    assert refused(made.does(Registered(OTHER, G)), RelayFull)
    assert refused(made.does(Registered(OTHER, H)), HostReplaced)


@pytest.mark.parametrize(
    ("limits", "event"),
    [
        (Limits(admitted=2), Admitted(HOST, (BERT,), ())),
        (Limits(sessions_per_host=1), Published(HOST, (SessionId("s_two"),))),
        (Limits(sessions=1), Published(HOST, (SessionId("s_two"),))),
    ],
)
def test_i4_a_host_that_wants_too_much_kept_is_sent_away(
    limits: Limits, event: Event
) -> None:
    made = point(limits)

    assert refused(made.does(event), RelayFull)
    assert made.machine.stats() == Stats(0, 0, 0, 0)


def test_i7_while_draining_nobody_is_taken_in() -> None:
    made = point()
    joined(made)
    made.asks(Link(20))

    warn, refusal = made.does(Drained())

    assert warn == Warn(HOST)
    assert refused([refusal], RelayLeaving)
    assert refused(made.asks(Link(22)), RelayLeaving)
    assert refused(made.does(Registered(OTHER, G)), RelayLeaving)
    assert made.machine.stats().pairs == 1


def test_a_session_without_a_lease_is_cut_from_everybody() -> None:
    made = point()
    (knock,) = made.asks(target=S, is_leased=True, leased_to=H)
    assert isinstance(knock, Knock)
    made.does(Met(DIALLED, H, knock.ticket))
    made.asks(Link(20), target=S, is_leased=True, leased_to=H)
    joined(made, Link(30), Link(31))
    made.asks(Link(40))

    first, second, third = made.does(Unrouted(S))

    assert [first, second] == [Cut(OPERATOR), Cut(DIALLED)]
    assert refused([third], NotReachable)
    assert made.machine.stats().pairs == 1
