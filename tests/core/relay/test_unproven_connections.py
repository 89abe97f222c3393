import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.relay.unproven_connections import (
    KEPT,
    Place,
    UnprovenConnections,
    is_loopback,
    source_of,
    user_source,
)


def test_i1_one_more_than_the_total_is_turned_away() -> None:
    door = UnprovenConnections(total=2, per_source=9)

    assert door.enter("192.0.2.1")
    assert door.enter("192.0.2.2")
    assert door.enter("192.0.2.3") is None
    assert door.inside == 2


def test_i1_one_more_of_a_source_is_turned_away_and_others_are_not() -> None:
    door = UnprovenConnections(total=9, per_source=2)

    assert door.enter("192.0.2.1")
    assert door.enter("192.0.2.1")
    assert door.enter("192.0.2.1") is None
    assert door.enter("192.0.2.2")


def test_i2_a_place_given_back_is_free() -> None:
    door = UnprovenConnections(total=1, per_source=1)
    place = door.enter("192.0.2.1")
    assert place is not None

    door.leave(place)

    assert door.inside == 0
    assert door.enter("192.0.2.1")


def test_nobody_in_particular_counts_in_all_only() -> None:
    door = UnprovenConnections(total=2, per_source=1)

    first, second = door.enter(""), door.enter("")

    assert first
    assert second
    assert door.enter("") is None
    door.leave(first)
    assert door.inside == 1


@pytest.mark.parametrize(("total", "per_source"), [(2, 9), (9, 2)])
def test_i1_our_own_host_has_places_that_no_crowd_takes(
    total: int, per_source: int
) -> None:
    door = UnprovenConnections(total, per_source)
    assert door.enter(user_source(0))
    assert door.enter(user_source(0))
    assert door.enter(user_source(0)) is None

    kept = [door.enter(user_source(0), is_own_host=True) for _ in range(KEPT)]

    assert all(kept)
    assert door.enter(user_source(0), is_own_host=True) is None
    assert door.enter(user_source(0)) is None


def test_users_of_one_machine_do_not_crowd_each_other_out() -> None:
    door = UnprovenConnections(total=9, per_source=1)

    assert door.enter(user_source(1000))
    assert door.enter(user_source(1000)) is None
    assert door.enter(user_source(1001))


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), max_size=60))
def test_i1_no_order_of_comings_and_goings_goes_beyond_a_limit(
    steps: list[tuple[bool, str]],
) -> None:
    door = UnprovenConnections(total=4, per_source=2)
    inside: list[Place] = []
    for comes, source in steps:
        if comes and (place := door.enter(source)):
            inside.append(place)
        elif not comes and inside:
            door.leave(inside.pop())

        assert door.inside == len(inside) <= 4
        assert all(
            sum(place.source == source for place in inside) <= 2 for source in "abc"
        )


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("no address", "no address"),
        ("", ""),
    ],
)
def test_an_address_counts_by_what_one_household_has(address: str, source: str) -> None:
    assert source_of(address) == source


@pytest.mark.parametrize(
    ("address", "loops"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),  # noqa: S104  # asked about, not bound
        ("::", False),
        ("192.0.2.1", False),
        ("localhost", False),
        ("127.1", False),
        ("2130706433", False),
        ("", False),
    ],
)
def test_only_an_address_that_is_loopback_counts_as_one(
    address: str, *, loops: bool
) -> None:
    assert is_loopback(address) is loops
