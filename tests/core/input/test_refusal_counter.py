from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.input.refusal_counter import MAX_OPEN, WINDOW, RefusalCounter, Tell
from holdfast.model.ids import ActorId

ANNA, BOT = ActorId("a_anna"), ActorId("a_bot")


def test_the_first_of_a_kind_is_told_at_once() -> None:
    declining = RefusalCounter()

    assert declining.decline(BOT, "seize", "not-allowed", 0.0) == [
        Tell(BOT, "seize", "not-allowed", 1)
    ]
    assert declining.next_deadline() is None


def test_what_follows_is_counted_and_told_together() -> None:
    declining = RefusalCounter()
    for at in (0.0, 0.1, 0.2):
        declining.decline(BOT, "submit", "busy", at)

    assert declining.next_deadline() == WINDOW
    assert declining.tick(WINDOW / 2) == []
    assert declining.tick(WINDOW) == [Tell(BOT, "submit", "busy", 2)]
    assert declining.next_deadline() is None


def test_what_was_alone_is_told_once() -> None:
    declining = RefusalCounter()
    declining.decline(BOT, "submit", "busy", 0.0)

    assert declining.tick(WINDOW) == []
    assert declining.flush() == []


def test_another_actor_request_or_code_is_another_kind() -> None:
    declining = RefusalCounter()
    kinds = [
        (BOT, "submit", "busy"),
        (ANNA, "submit", "busy"),
        (BOT, "seize", "busy"),
        (BOT, "submit", "input-gap"),
    ]

    told = [tell for kind in kinds for tell in declining.decline(*kind, 0.0)]

    assert told == [Tell(*kind, 1) for kind in kinds]


def test_i3_with_too_many_kinds_the_oldest_is_told_early() -> None:
    declining = RefusalCounter()
    declining.decline(BOT, "oldest", "busy", 0.0)
    declining.decline(BOT, "oldest", "busy", 0.0)
    for number in range(MAX_OPEN - 1):
        declining.decline(BOT, f"other-{number}", "busy", 0.0)

    told = declining.decline(BOT, "newest", "busy", 0.0)

    assert told == [Tell(BOT, "oldest", "busy", 1), Tell(BOT, "newest", "busy", 1)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([ANNA, BOT]),
            st.sampled_from(["busy", "input-gap"]),
            st.sampled_from([0.0, 0.3, WINDOW, 2 * WINDOW]),
        )
    )
)
def test_i1_and_i2_nothing_is_uncounted_and_a_window_has_two_entries(
    tries: list[tuple[ActorId, str, float]],
) -> None:
    declining, now = RefusalCounter(), 0.0
    told: list[tuple[float, Tell]] = []

    for actor, code, pause in tries:
        now += pause
        told += [(now, one) for one in declining.tick(now)]
        told += [(now, one) for one in declining.decline(actor, "submit", code, now)]
    told += [(now, one) for one in declining.flush()]

    assert sum(one.count for _, one in told) == len(tries), "I1"
    for began_at, first in told:
        alike = [
            at
            for at, one in told[:-1]
            if (one.actor, one.code) == (first.actor, first.code)
            and began_at < at < began_at + WINDOW
        ]
        assert len(alike) <= 2, "I2"
