from holdfast.cli.process_trouble import given_up_told, replaced_told, stalled_told
from holdfast.model.process_status import (
    GivenUpHolder,
    KeeperStatus,
    ReplacedProcesses,
)


def test_who_does_not_answer_is_told_with_the_reason() -> None:
    assert stalled_told(KeeperStatus(stalled={"judge": "it is stopped"})) == [
        "judge: it is stopped"
    ]


def test_a_session_whose_holders_were_given_up_is_told() -> None:
    three = GivenUpHolder("s_1", 3, "was too slow", 1)
    one = three._replace(count_=1)

    assert given_up_told(KeeperStatus(given_up=(three, one))) == [
        (
            "session s_1: 3 holders were given up, the last because it was too slow; "
            "keeper.log has more"
        ),
        (
            "session s_1: a holder was given up because it was too slow; "
            "keeper.log has more"
        ),
    ]


def test_the_last_that_was_replaced_is_told() -> None:
    last = ReplacedProcesses(2, "the judge (pid 7): it was stopped", 65.0)

    assert replaced_told(KeeperStatus(replaced=last)) == (
        "2 that hung; the last, 1m ago: the judge (pid 7): it was stopped"
    )


def test_of_a_keeper_that_knows_none_of_this_nothing_is_told() -> None:
    old = KeeperStatus()

    assert (stalled_told(old), given_up_told(old), replaced_told(old)) == ([], [], "")
