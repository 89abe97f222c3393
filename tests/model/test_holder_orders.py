import json

import pytest

from holdfast.model import holder_orders as orders

ORDERS = [
    *(orders.Forget(), orders.Rest(), orders.Leave(), orders.Prove(), orders.Glance()),
    orders.Consent(7, {"do": "rename", "name": "web"}),
    orders.Replaced("judge", 12, "it was stopped"),
    orders.Chosen("web", keep=False),
    orders.Warned(7, "idle-window"),
    orders.Lease(1, 7.5, "its relay cannot be reached", 2),
]


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_is_read_as_it_was_said(order: orders.HolderOrder) -> None:
    packet = json.loads(json.dumps(orders.packet_of(order)))

    assert orders.order_from(packet) == order


def test_every_kind_of_order_is_tried() -> None:
    assert {type(one) for one in ORDERS} == set(orders.KINDS.values())


def test_what_is_not_chosen_is_not_said() -> None:
    assert orders.packet_of(orders.Chosen(name="web")) == {
        "do": "changed",
        "name": "web",
    }


@pytest.mark.parametrize("packet", [{}, {"do": "dance"}, {"do": 7}, {"ok": True}])
def test_answers_and_what_is_unknown_are_no_orders(packet: dict[str, object]) -> None:
    assert orders.order_from(packet) is None


def test_what_has_the_wrong_type_is_as_if_it_were_not_there() -> None:
    assert orders.order_from(
        {"do": "may", "ticket": 7, "asked": "rename", "more": 1}
    ) == orders.Consent(7)
    assert orders.order_from(
        {"do": "replaced", "what": "judge", "pid": "twelve", "why": None}
    ) == orders.Replaced("judge")
