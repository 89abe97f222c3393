import subprocess
import sys

from holdfast.keeper.vault import CALM, MAX_DELAY, Deposit, Vault


def vault_with_a_session() -> Vault:
    vault = Vault()
    vault.deposit("s_1", {"name": "one"}, [3, 4], now=0)
    return vault


def test_a_dead_holder_is_replaced_at_once_and_once() -> None:
    vault = vault_with_a_session()
    vault.holder_died("s_1", now=50)

    assert vault.next_deadline() == 50
    assert vault.due(now=50) == ["s_1"]
    assert vault.due(now=50) == []  # I2
    assert vault.next_deadline() is None


def test_i1_a_deposit_outlives_every_holder() -> None:
    vault = vault_with_a_session()
    for moment in range(5):
        vault.holder_died("s_1", now=moment)
        vault.due(now=100)
        vault.deposit("s_1", {"name": "one"}, [5, 6], now=moment)

    assert vault.deposits["s_1"].fds == [5, 6]


def test_what_is_inherited_is_replaced_unless_its_holder_comes_first() -> None:
    vault = Vault()

    assert vault.inherit("s_1", Deposit({}, [3, 4], 0), at=7)
    assert vault.next_deadline() == 7
    assert vault.deposit("s_1", {}, [5, 6], now=1) == [3, 4]
    assert vault.next_deadline() is None


def test_i1_what_a_holder_has_deposited_is_not_replaced_by_what_is_inherited() -> None:
    vault = vault_with_a_session()

    assert not vault.inherit("s_1", Deposit({}, [5, 6], 0), at=1)

    assert vault.deposits["s_1"].fds == [3, 4]
    assert vault.deposits["s_1"].is_held


def test_a_holder_made_ahead_of_time_does_not_take_back_what_came_after() -> None:
    vault = vault_with_a_session()
    kept = vault.deposits["s_1"]
    kept.facts |= {"name": "two", "keep": True}
    kept.exit = 7

    vault.deposit("s_1", {"name": "one", "state": "running"}, [5, 6], now=1)

    assert kept.facts == {"name": "two", "keep": True, "state": "exited"}
    assert kept.memory == 6


def test_a_new_deposit_gives_back_the_old_descriptors() -> None:
    vault = vault_with_a_session()

    assert vault.deposit("s_1", {}, [5, 6], now=1) == [3, 4]


def test_a_holder_that_dies_again_and_again_is_replaced_ever_later() -> None:
    vault = vault_with_a_session()
    delays = []
    for _ in range(12):
        vault.holder_died("s_1", now=1)
        deadline = vault.next_deadline()
        assert deadline is not None
        delays.append(deadline - 1)
        vault.due(now=100)
        vault.deposit("s_1", {}, [3, 4], now=1)

    assert delays[0] == 0
    assert delays == sorted(delays)
    assert delays[-1] == MAX_DELAY


def test_a_death_after_a_calm_life_counts_as_the_first() -> None:
    vault = vault_with_a_session()
    vault.deposits["s_1"].deaths = 9
    vault.holder_died("s_1", now=CALM + 1)

    assert vault.next_deadline() == CALM + 1


def test_what_the_nursery_could_not_do_is_planned_again() -> None:
    vault = vault_with_a_session()
    vault.holder_died("s_1", now=1)
    vault.due(now=1)

    vault.replacement_failed("s_1", now=2)

    assert vault.next_deadline() is not None


def test_a_session_that_is_held_needs_no_successor() -> None:
    vault = vault_with_a_session()

    vault.replacement_failed("s_1", now=2)
    vault.replacement_failed("s_2", now=2)
    vault.holder_died("s_2", now=2)

    assert vault.next_deadline() is None


def test_a_forgotten_session_gives_its_descriptors_back() -> None:
    vault = vault_with_a_session()

    assert vault.forget("s_1") == [3, 4]
    assert vault.forget("s_1") == []


def test_the_keeper_loads_nothing_but_the_standard_library() -> None:
    program = "import sys, holdfast.keeper.loop; print(*sys.modules)"

    loaded = subprocess.check_output([sys.executable, "-c", program], env={}).split()

    assert not {b"asyncio", b"msgspec", b"cryptography"} & set(loaded)


def test_only_a_session_that_nobody_holds_is_hurried() -> None:
    vault = vault_with_a_session()
    vault.deposit("s_2", {"name": "two"}, [5, 6], now=0)
    vault.holder_died("s_2", now=50)
    assert vault.due(50) == ["s_2"]

    for session in ("s_1", "s_2", "s_3"):
        vault.hurry(session, now=60)

    assert vault.next_deadline() == 60
    assert vault.due(60) == ["s_2"]
    assert set(vault.deposits) == {"s_1", "s_2"}
