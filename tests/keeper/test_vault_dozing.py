from holdfast.keeper.vault import Deposit, Vault


def dozing(*, is_gone: bool = True) -> Vault:
    vault = Vault()
    vault.deposit("s_1", {"name": "one", "state": "running"}, [3, 4, 5, 6], now=0)
    vault.doze("s_1", [7, 8], idle_ms=1700)
    if is_gone:
        vault.holder_died("s_1", now=50)
    return vault


def test_i4_nobody_is_made_for_a_session_that_dozes() -> None:
    vault = dozing()

    assert vault.next_deadline() is None
    assert vault.due(now=1000) == []
    assert not vault.deposits["s_1"].is_held


def test_what_was_left_is_kept_behind_what_every_session_has() -> None:
    kept = dozing().deposits["s_1"]

    assert kept.fds == [3, 4, 5, 6, 7, 8]
    assert kept.plain_fds == [3, 4, 5, 6]
    assert (kept.is_dozing, kept.record.idle_ms, kept.held.left) == (True, 1700, 2)


def test_i4_whoever_wakes_it_has_a_holder_made_at_once() -> None:
    vault = dozing()

    assert vault.wake("s_1", now=60)

    kept = vault.deposits["s_1"]
    assert (kept.is_dozing, kept.record.idle_ms) == (False, 0)
    assert kept.held.left == 2  # Its next holder is given them.
    assert vault.due(now=60) == ["s_1"]


def test_it_is_woken_once() -> None:
    vault = dozing()
    vault.wake("s_1", now=60)
    vault.due(now=60)

    assert not vault.wake("s_1", now=61)
    assert vault.next_deadline() is None
    assert not vault.wake("s_2", now=61)


def test_what_wakes_while_its_holder_goes_has_another_made_when_it_is_gone() -> None:
    vault = dozing(is_gone=False)

    assert vault.wake("s_1", now=60)
    assert vault.next_deadline() is None

    vault.holder_died("s_1", now=61)
    assert vault.due(now=61) == ["s_1"]


def test_its_next_holder_gives_back_all_that_was_kept() -> None:
    vault = dozing()
    vault.wake("s_1", now=60)

    spare = vault.deposit("s_1", {"name": "one"}, [13, 14, 15, 16], now=61)

    assert spare == [3, 4, 5, 6, 7, 8]
    kept = vault.deposits["s_1"]
    assert (kept.fds, kept.plain_fds) == ([13, 14, 15, 16], [13, 14, 15, 16])


def test_a_holder_that_was_refused_keeps_what_it_would_have_left() -> None:
    vault = dozing(is_gone=False)

    vault.rouse("s_1")

    kept = vault.deposits["s_1"]
    assert (kept.fds, kept.is_dozing, kept.held.left) == ([3, 4, 5, 6], False, 0)
    vault.holder_died("s_1", now=50)
    assert vault.due(now=50) == ["s_1"]


def test_what_dozed_under_another_keeper_dozes_on() -> None:
    vault = Vault()
    facts = {"name": "one", "dozing": True, "left": 1}

    assert vault.inherit("s_1", Deposit(facts, [3, 4, 5, 6, 7], 0), at=None)

    assert vault.next_deadline() is None
    assert vault.wake("s_1", now=9)
    assert vault.due(now=9) == ["s_1"]


def test_a_session_is_over_when_its_holder_says_so_and_not_before() -> None:
    vault = dozing()
    kept = vault.deposits["s_1"]
    kept.exit = 7
    assert not kept.has_exited

    kept.put({**kept.facts, "state": "exited"})
    assert kept.has_exited
