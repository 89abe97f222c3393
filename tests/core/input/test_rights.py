import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.input.rights import Rights
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import Forbidden, NotAllowed, WiderThanGiven
from holdfast.model.ids import actor_id, session_id
from holdfast.model.moments import Moment

HERE = session_id(b"\1" * 10)
ANNA, BOT, CARL = (actor_id(bytes([n]) * 32) for n in (1, 2, 3))
NOW = Moment(100.0, 1_000.0)
EVERYTHING = Envelope(frozenset(Right))

envelopes = st.builds(
    Envelope,
    st.frozensets(st.sampled_from(Right)),
    st.sampled_from([None, HERE, session_id(b"\2" * 10)]),
    st.sampled_from([None, 999.0, 1_000.0, 1_001.0, 5_000.0]),
)


def rights(**given: Envelope) -> Rights:
    made = Rights(HERE)
    for name, envelope in given.items():
        made.give({"anna": ANNA, "bot": BOT}[name], envelope)
    return made


def test_i1_nobody_may_do_anything_at_first() -> None:
    assert rights().rights_of(ANNA, NOW) == frozenset()
    assert rights().envelope_of(ANNA) is None


def test_i1_a_grant_gives_what_it_says_until_it_expires() -> None:
    made = rights(bot=Envelope(frozenset({Right.INPUT}), HERE, 1_001.0))

    assert made.rights_of(BOT, NOW) == {Right.INPUT}
    assert made.rights_of(BOT, Moment(101.0, 1_001.0)) == frozenset()


def test_i2_what_was_revoked_is_gone_and_its_owner_remembered() -> None:
    made = rights(bot=EVERYTHING)
    made.take_all(BOT)

    assert made.rights_of(BOT, NOW) == frozenset()
    assert made.envelope_of(BOT) == Envelope(frozenset())


def test_a_successor_takes_up_what_was_granted() -> None:
    made = rights()
    made.resume({ANNA: EVERYTHING})

    assert made.may(ANNA, Right.SEIZE, NOW)


def test_i3_a_part_is_for_this_session_alone() -> None:
    part = rights(anna=EVERYTHING).part_of(ANNA, frozenset({Right.INPUT}), None, NOW)

    assert part == Envelope(frozenset({Right.INPUT}), HERE)


def test_i3_what_the_giver_has_for_a_while_is_given_for_no_longer() -> None:
    made = rights(anna=Envelope(frozenset(Right), HERE, 2_000.0))

    part = made.part_of(ANNA, frozenset({Right.INPUT}), None, NOW)

    assert part.expires_wall == 2_000.0
    with pytest.raises(WiderThanGiven):
        made.part_of(ANNA, frozenset({Right.INPUT}), 2_001.0, NOW)


def test_i3_whoever_may_not_grant_passes_nothing_on() -> None:
    made = rights(bot=Envelope(frozenset({Right.INPUT})))

    for giver in (BOT, CARL):
        with pytest.raises(NotAllowed):
            made.part_of(giver, frozenset({Right.INPUT}), None, NOW)


@given(own=envelopes, asked=st.frozensets(st.sampled_from(Right)), at=st.integers(0, 9))
def test_i3_nobody_passes_on_more_than_they_have(
    own: Envelope, asked: frozenset[Right], at: int
) -> None:
    made = rights(anna=own)
    before = made.rights_of(ANNA, NOW)
    try:
        made.give(BOT, made.part_of(ANNA, asked, 1_000.0 + at, NOW))
    except Forbidden:
        return

    assert made.rights_of(BOT, NOW) <= before


def test_what_is_only_supposed_is_gone_afterwards() -> None:
    made = rights()

    with made.supposing(BOT, EVERYTHING):
        assert made.may(BOT, Right.INPUT, NOW)

    assert made.envelope_of(BOT) is None
