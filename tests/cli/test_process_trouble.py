from holdfast.cli.process_trouble import given_up_told, replaced_told, stalled_told


def test_who_does_not_answer_is_told_with_the_reason() -> None:
    assert stalled_told({"stalled": {"judge": "it is stopped"}}) == [
        "judge: it is stopped"
    ]


def test_a_session_whose_holders_were_given_up_is_told() -> None:
    three = {"id": "s_1", "count": 3, "why": "was too slow", "at_ms": 1}
    one = {**three, "count": 1}

    assert given_up_told({"given_up": [three, one]}) == [
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
    replaced = {"count": 2, "last": "the judge (pid 7): it was stopped", "ago": 65.0}

    assert replaced_told({"replaced": replaced}) == (
        "2 that hung; the last, 1m ago: the judge (pid 7): it was stopped"
    )


def test_of_a_keeper_that_knows_none_of_this_nothing_is_told() -> None:
    assert (stalled_told({}), given_up_told({}), replaced_told({})) == ([], [], "")
    assert replaced_told({"replaced": {"count": 0}}) == ""
