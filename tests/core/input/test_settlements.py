import pytest
from tests.core.desk import ANNA, AT, Desk

from holdfast.core.book.log_writer import Store
from holdfast.core.input.serializer import Answer, Sync
from holdfast.core.input.settlements import SETTLE_PATIENCE, Settlements
from holdfast.model.ids import Index
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied
from holdfast.model.verdicts import Verdict

LATER = Moment(AT.now + SETTLE_PATIENCE, AT.wall + SETTLE_PATIENCE)


def typed(desk: Desk, sequence: int, *, waits: bool = False) -> None:
    desk.send(sequence, waits=waits)
    desk.judge(Verdict.ALLOW, ticket=sequence)
    desk.write()


def synced(desk: Desk) -> None:
    """Make durable whatever was asked for, as often as it is."""
    wanted = [one for one in desk.told if isinstance(one, Sync)]
    done = 0
    while done < len(wanted):
        desk.do(desk.intake.synced(wanted[done].index, AT))
        done += 1
        wanted = [one for one in desk.told if isinstance(one, Sync)]


def answered(desk: Desk) -> list[int]:
    return [
        one.id.sequence
        for one in desk.told
        if isinstance(one, Answer) and isinstance(one.outcome, Applied)
    ]


def test_the_next_key_vouches_for_the_last() -> None:
    desk = Desk()
    typed(desk, 1)
    synced(desk)
    assert answered(desk) == [], "I1"

    typed(desk, 2)
    assert answered(desk) == [], "I1: it is not durable"
    synced(desk)

    assert answered(desk) == [1]
    assert desk.kinds() == ["turn", "input", "input"]


def test_a_hundred_keys_make_a_hundred_entries() -> None:
    desk = Desk()
    for number in range(1, 101):
        typed(desk, number)
        synced(desk)
    desk.do(desk.intake.tick(LATER))
    synced(desk)

    assert answered(desk) == [*range(1, 101)]
    assert desk.kinds().count("input") == 100
    assert desk.kinds().count("settled") == 1


def test_i2_nothing_is_held_for_longer_than_patience() -> None:
    desk = Desk()
    typed(desk, 1)
    synced(desk)

    assert desk.intake.next_deadline() == AT.now + SETTLE_PATIENCE
    desk.do(desk.intake.tick(Moment(AT.now + SETTLE_PATIENCE - 0.01, 0)))
    assert desk.kinds()[-1] == "input"
    desk.do(desk.intake.tick(LATER))

    assert desk.kinds()[-1] == "settled"
    assert answered(desk) == [], "I1"
    synced(desk)
    assert answered(desk) == [1]
    assert desk.intake.next_deadline() is None


def test_whoever_waits_is_answered_at_once_with_all_before() -> None:
    desk = Desk()
    typed(desk, 1)
    typed(desk, 2, waits=True)
    synced(desk)

    assert answered(desk) == [1, 2]
    assert desk.kinds()[-1] == "settled"


def test_what_is_held_is_made_durable_all_the_same() -> None:
    desk = Desk()
    typed(desk, 1)

    [wanted] = [one for one in desk.told if isinstance(one, Sync)]
    assert wanted.index == desk.entries[-1].index


def test_whoever_leaves_is_answered_first() -> None:
    desk = Desk()
    typed(desk, 1)
    desk.do(desk.intake.settle(AT))
    synced(desk)

    assert answered(desk) == [1]
    assert desk.intake.settle(AT) == []


@pytest.mark.parametrize("dies", ["at once", "after the next"])
def test_a_successor_knows_that_what_was_held_went_in(dies: str) -> None:
    desk = Desk()
    typed(desk, 1)
    if dies == "after the next":
        desk.send(2, waits=False)
        desk.judge(Verdict.ALLOW, ticket=2)
    heir = desk.successor()

    heir.do(heir.intake.submit(desk.made(1), AT))

    assert answered(heir) == [1]


def test_a_disk_that_fails_ends_the_waiting() -> None:
    desk = Desk()
    typed(desk, 1)
    desk.do(desk.intake.sync_failed("it is broken", AT))

    assert desk.intake.next_deadline() is None
    assert desk.do(desk.intake.tick(LATER)) == []


def test_a_seize_leaves_what_went_in_applied() -> None:
    desk = Desk()
    typed(desk, 1)
    desk.do(desk.intake.seize(ANNA, AT))
    desk.do(desk.intake.tick(LATER))
    synced(desk)

    assert answered(desk) == [1]
    assert not any(isinstance(one, Store) for one in desk.intake.settle(AT))


def test_i1_an_entry_vouches_for_nothing_before_it_is_durable() -> None:
    kept = Settlements()

    assert kept.hold(Index(3), 0.0)
    assert kept.followed(Index(5))
    assert not kept.followed(Index(6))
    assert kept.durable(Index(4)) == [], "I1"
    assert kept.durable(Index(5)) == [3]
    assert not kept.hold(Index(5), 0.0), "it is durable already"
    assert kept.due(SETTLE_PATIENCE) == 5
