import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import (
    WHOLE_HOST,
    Envelope,
    Right,
    Standing,
    default_rights,
    first_envelope,
    invited_rights,
    rights_from,
    standing_to_create,
)
from holdfast.model.errors import Forbidden, NotAllowed, WiderThanGiven
from holdfast.model.ids import actor_id, session_id

ACTOR = actor_id(b"ada")
HERE = session_id(bytes(10))
THERE = session_id(b"\1" * 10)
ALL = frozenset(Right)

rights = st.sets(st.sampled_from(Right)).map(frozenset)
granting = rights.map(lambda some: some | {Right.GRANT})
scopes = st.sampled_from([WHOLE_HOST, HERE, THERE])
moments = st.sampled_from([0.0, 1.0, 2.0, 3.0, 1e300, math.inf, -math.inf])
expiries = st.none() | moments | st.just(math.nan)
envelopes = st.builds(Envelope, rights | granting, scopes, expiries)
wishes = st.tuples(rights | granting, scopes, expiries)


@given(envelopes, st.lists(wishes, min_size=1, max_size=4), moments)
def test_i1_nothing_is_covered_that_an_earlier_envelope_did_not_cover(
    first: Envelope, chain: list[tuple[frozenset[Right], None, float]], now: float
) -> None:
    line = [first]
    with contextlib.suppress(Forbidden):
        for wish in chain:
            line.append(line[-1].passed_on(*wish))

    for right in Right:
        for session in (HERE, THERE):
            covered = [envelope.covers(right, session, now) for envelope in line]
            assert covered == sorted(covered, reverse=True)


@given(envelopes, st.sampled_from(Right), moments)
def test_i2_nothing_is_covered_at_or_after_expiry(
    envelope: Envelope, right: Right, now: float
) -> None:
    if envelope.expires_wall is not None and not now < envelope.expires_wall:
        assert not envelope.covers(right, HERE, now)


@given(rights, wishes)
def test_i3_without_grant_nothing_is_passed_on(
    some: frozenset[Right], wish: tuple[frozenset[Right], None, float]
) -> None:
    envelope = Envelope(some - {Right.GRANT})

    with pytest.raises(WiderThanGiven):
        envelope.passed_on(*wish)


@given(granting, scopes, st.none() | moments, st.data())
def test_any_part_can_be_passed_on(
    some: frozenset[Right],
    scope: None,
    expiry: float | None,
    data: st.DataObject,
) -> None:
    part = data.draw(st.sets(st.sampled_from(sorted(some))).map(frozenset))

    given_on = Envelope(some, scope, expiry).passed_on(part, scope, expiry)

    assert given_on == Envelope(part, scope, expiry)


def test_a_right_is_covered_in_its_scope_until_its_expiry() -> None:
    envelope = Envelope(frozenset({Right.INPUT}), HERE, expires_wall=10)

    assert envelope.covers(Right.INPUT, HERE, 9.9)
    assert not envelope.covers(Right.INPUT, HERE, 10)
    assert not envelope.covers(Right.INPUT, THERE, 9)
    assert not envelope.covers(Right.SEIZE, HERE, 9)


def test_an_envelope_for_the_host_covers_every_session() -> None:
    assert Envelope(ALL).covers(Right.END, THERE, 0)


def test_a_demand_is_met_or_refused_by_name() -> None:
    envelope = Envelope(frozenset({Right.OBSERVE}))
    envelope.demand(Right.OBSERVE, HERE, 0, ACTOR)

    with pytest.raises(NotAllowed) as refusal:
        envelope.demand(Right.SEIZE, HERE, 0, ACTOR)
    assert refusal.value.facts == {"actor": ACTOR, "right": "seize"}


@pytest.mark.parametrize(
    ("wish", "what"),
    [
        ((ALL, HERE, 5.0), "end"),
        ((frozenset({Right.INPUT}), WHOLE_HOST, 5.0), "more than one session"),
        ((frozenset({Right.INPUT}), THERE, 5.0), "more than one session"),
        ((frozenset({Right.INPUT}), HERE, None), "a later expiry"),
        ((frozenset({Right.INPUT}), HERE, 5.1), "a later expiry"),
        ((frozenset({Right.INPUT}), HERE, math.nan), "a later expiry"),
    ],
)
def test_a_wider_envelope_is_refused_with_what_is_too_wide(
    wish: tuple[frozenset[Right], None, float], what: str
) -> None:
    envelope = Envelope(ALL - {Right.END}, HERE, 5.0)

    with pytest.raises(WiderThanGiven) as refusal:
        envelope.passed_on(*wish)
    assert refusal.value.facts == {"what": what}


def test_i3_who_may_not_grant_passes_on_not_even_what_it_has() -> None:
    envelope = Envelope(frozenset({Right.INPUT}), HERE, 5.0)

    with pytest.raises(WiderThanGiven, match="without the right to grant"):
        envelope.passed_on(frozenset({Right.INPUT}), HERE, 5.0)


def test_the_rights_are_those_of_the_glossary() -> None:
    words = (
        "observe, input, command, signal, resize, take, seize, grant, approve,"
        " end, create, checkpoint, fork, move"
    )

    assert ", ".join(Right) == words


def test_the_words_of_rights_are_read() -> None:
    assert rights_from(["move", "end"]) == {Right.MOVE, Right.END}


def test_a_word_that_never_was_a_right_is_refused() -> None:
    with pytest.raises(ValueError, match="fly"):
        rights_from(["end", "fly"])


@pytest.mark.parametrize("kind", [k for k in ActorKind if k is not ActorKind.HUMAN])
def test_only_people_take_by_force_pass_on_approve_and_end_by_default(
    kind: ActorKind,
) -> None:
    kept_for_people = {
        *(Right.SEIZE, Right.GRANT, Right.APPROVE, Right.END, Right.CREATE),
        Right.CHECKPOINT,
        Right.FORK,
    }

    assert not default_rights(kind, began_it=False) & kept_for_people
    assert default_rights(ActorKind.HUMAN, began_it=False) == frozenset(Right)


@pytest.mark.parametrize("kind", ActorKind)
def test_whoever_began_a_session_may_end_it(kind: ActorKind) -> None:
    assert Right.END in default_rights(kind, began_it=True)


@pytest.mark.parametrize("kind", ActorKind)
def test_everybody_who_is_known_may_watch(kind: ActorKind) -> None:
    assert Right.OBSERVE in default_rights(kind, began_it=False)


def test_without_a_promise_the_kind_decides() -> None:
    given_first = first_envelope(ActorKind.AGENT, HERE, began_it=True)

    rights = default_rights(ActorKind.AGENT, began_it=True)
    assert given_first == Envelope(rights, HERE)


def test_a_promise_takes_the_place_of_what_the_kind_has() -> None:
    promised = Envelope(frozenset({Right.OBSERVE}), None, 5.0)

    given_first = first_envelope(ActorKind.HUMAN, HERE, promised, began_it=False)
    begun = first_envelope(ActorKind.HUMAN, HERE, promised, began_it=True)

    assert given_first == Envelope(frozenset({Right.OBSERVE}), HERE, 5.0)
    creators = {Right.END, Right.CREATE, Right.CHECKPOINT, Right.FORK}
    assert begun.rights == {Right.OBSERVE, *creators}


def test_whoever_was_promised_another_session_has_nothing_here() -> None:
    promised = Envelope(ALL, THERE)

    assert not first_envelope(ActorKind.HUMAN, HERE, promised, began_it=True).rights


@pytest.mark.parametrize("kind", ActorKind)
def test_no_invitation_promises_to_start_sessions_unless_it_says_so(
    kind: ActorKind,
) -> None:
    assert invited_rights(kind) == default_rights(kind, began_it=False) - {Right.CREATE}


@pytest.mark.parametrize(
    ("kind", "promised", "standing"),
    [
        (ActorKind.HUMAN, None, Standing.ENTITLED),
        (ActorKind.AGENT, None, Standing.UNSPOKEN),
        (ActorKind.SERVICE, None, Standing.UNSPOKEN),
        (ActorKind.DEVICE, None, Standing.UNSPOKEN),
        (ActorKind.HUMAN, Envelope(ALL), Standing.ENTITLED),
        (ActorKind.AGENT, Envelope(frozenset({Right.CREATE})), Standing.ENTITLED),
        (ActorKind.HUMAN, Envelope(ALL - {Right.CREATE}), Standing.BARRED),
        (ActorKind.HUMAN, Envelope(ALL, HERE), Standing.BARRED),
        (ActorKind.HUMAN, Envelope(ALL, WHOLE_HOST, 5.0), Standing.BARRED),
        (ActorKind.HUMAN, Envelope(ALL, WHOLE_HOST, 5.1), Standing.ENTITLED),
    ],
)
def test_what_was_promised_decides_who_may_start_sessions_and_else_the_kind(
    kind: ActorKind, promised: Envelope | None, standing: Standing
) -> None:
    assert standing_to_create(kind, promised, 5.0) is standing
