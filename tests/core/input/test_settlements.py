import pytest
from tests.core.driven_intake import ANNA, AT, DrivenIntake

from holdfast.core.book.log_writer import Store
from holdfast.core.input.serializer import Answer, Sync
from holdfast.core.input.settlements import SETTLE_PATIENCE, Settlements
from holdfast.model.ids import Index
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied
from holdfast.model.verdicts import Verdict

LATER = Moment(AT.now + SETTLE_PATIENCE, AT.wall + SETTLE_PATIENCE)


def typed(here: DrivenIntake, sequence: int, *, waits: bool = False) -> None:
    here.send(sequence, waits=waits)
    here.judge(Verdict.ALLOW, ticket=sequence)
    here.write()


def synced(here: DrivenIntake) -> None:
    """Make durable whatever was asked for, as often as it is."""
    wanted = [one for one in here.told if isinstance(one, Sync)]
    done = 0
    while done < len(wanted):
        here.do(here.intake.synced(wanted[done].index, AT))
        done += 1
        wanted = [one for one in here.told if isinstance(one, Sync)]


def answered(here: DrivenIntake) -> list[int]:
    return [
        one.id.sequence
        for one in here.told
        if isinstance(one, Answer) and isinstance(one.outcome, Applied)
    ]


def test_the_next_key_vouches_for_the_last() -> None:
    here = DrivenIntake()
    typed(here, 1)
    synced(here)
    assert answered(here) == [], "I1"

    typed(here, 2)
    assert answered(here) == [], "I1: it is not durable"
    synced(here)

    assert answered(here) == [1]
    assert here.kinds() == ["turn", "input", "input"]


def test_a_hundred_keys_make_a_hundred_entries() -> None:
    here = DrivenIntake()
    for number in range(1, 101):
        typed(here, number)
        synced(here)
    here.do(here.intake.tick(LATER))
    synced(here)

    assert answered(here) == [*range(1, 101)]
    assert here.kinds().count("input") == 100
    assert here.kinds().count("settled") == 1


def test_i2_nothing_is_held_for_longer_than_patience() -> None:
    here = DrivenIntake()
    typed(here, 1)
    synced(here)

    assert here.intake.next_deadline() == AT.now + SETTLE_PATIENCE
    here.do(here.intake.tick(Moment(AT.now + SETTLE_PATIENCE - 0.01, 0)))
    assert here.kinds()[-1] == "input"
    here.do(here.intake.tick(LATER))

    assert here.kinds()[-1] == "settled"
    assert answered(here) == [], "I1"
    synced(here)
    assert answered(here) == [1]
    assert here.intake.next_deadline() is None


def test_whoever_waits_is_answered_at_once_with_all_before() -> None:
    here = DrivenIntake()
    typed(here, 1)
    typed(here, 2, waits=True)
    synced(here)

    assert answered(here) == [1, 2]
    assert here.kinds()[-1] == "settled"


def test_what_is_held_is_made_durable_all_the_same() -> None:
    here = DrivenIntake()
    typed(here, 1)

    [wanted] = [one for one in here.told if isinstance(one, Sync)]
    assert wanted.index == here.entries[-1].index


def test_whoever_leaves_is_answered_first() -> None:
    here = DrivenIntake()
    typed(here, 1)
    here.do(here.intake.settle(AT))
    synced(here)

    assert answered(here) == [1]
    assert here.intake.settle(AT) == []


@pytest.mark.parametrize("dies", ["at once", "after the next"])
def test_a_successor_knows_that_what_was_held_went_in(dies: str) -> None:
    here = DrivenIntake()
    typed(here, 1)
    if dies == "after the next":
        here.send(2, waits=False)
        here.judge(Verdict.ALLOW, ticket=2)
    heir = here.successor()

    heir.do(heir.intake.submit(here.made(1), AT))

    assert answered(heir) == [1]


def test_a_disk_that_fails_ends_the_waiting() -> None:
    here = DrivenIntake()
    typed(here, 1)
    here.do(here.intake.sync_failed("it is broken", AT))

    assert here.intake.next_deadline() is None
    assert here.do(here.intake.tick(LATER)) == []


def test_a_seize_leaves_what_went_in_applied() -> None:
    here = DrivenIntake()
    typed(here, 1)
    here.do(here.intake.seize(ANNA, AT))
    here.do(here.intake.tick(LATER))
    synced(here)

    assert answered(here) == [1]
    assert not any(isinstance(one, Store) for one in here.intake.settle(AT))


def test_i1_an_entry_vouches_for_nothing_before_it_is_durable() -> None:
    kept = Settlements()

    assert kept.hold(Index(3), 0.0)
    assert kept.followed(Index(5))
    assert not kept.followed(Index(6))
    assert kept.durable(Index(4)) == [], "I1"
    assert kept.durable(Index(5)) == [3]
    assert not kept.hold(Index(5), 0.0), "it is durable already"
    assert kept.due(SETTLE_PATIENCE) == 5
