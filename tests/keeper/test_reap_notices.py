from holdfast.keeper.reap_notices import ReapNotices
from holdfast.keeper.vault import Deposit, Vault
from holdfast.model import holder_orders as orders
from holdfast.model.reap_words import DRAIN, ReapWord


def test_a_warning_is_kept_and_told_once() -> None:
    vault = Vault({"s_a": Deposit({"name": "web"}, [], 0.0)})
    notices = ReapNotices(vault)
    told: list[tuple[str, orders.HolderOrder]] = []

    # Without anybody to tell, it is kept all the same.
    notices.told([ReapWord("s_a", 5, "idle-window")])
    notices.tell_holder = lambda *one: told.append(one)
    notices.told([ReapWord("s_a", 7, "idle-window"), ReapWord("s_b", 7)])
    notices.told([ReapWord("s_a", 7, "idle-window")])
    notices.told([ReapWord("s_a", 0)])

    assert told == [
        ("s_a", orders.Warned(7, "idle-window")),
        ("s_a", orders.Warned(0, "")),
    ]
    assert vault.deposits["s_a"].record.reaps_ms == 0
    assert vault.deposits.keys() == {"s_a"}


def test_a_successor_does_not_forget_a_warning() -> None:
    vault = Vault({"s_a": Deposit({"name": "web"}, [], 0.0)})
    ReapNotices(vault).told([ReapWord("s_a", 7)])

    vault.deposit("s_a", {"name": "web", "reaps_ms": 0}, [], 1.0)

    assert vault.deposits["s_a"].record.reaps_ms == 7


def test_that_the_machine_goes_down_is_told_and_not_kept() -> None:
    vault = Vault({"s_a": Deposit({"name": "web"}, [], 0.0)})
    notices = ReapNotices(vault)
    told: list[tuple[str, orders.HolderOrder]] = []
    notices.tell_holder = lambda *one: told.append(one)

    notices.told([ReapWord("s_a", 7, DRAIN)])

    assert told == [("s_a", orders.Warned(7, DRAIN))]
    assert vault.deposits["s_a"].record.reaps_ms == 0
