from holdfast.model import holder_orders as orders
from holdfast.model.keeper_messages import Leases, message_from
from holdfast.model.lease_words import LeaseWord, Movable
from holdfast.model.session_record import as_facts, record_of


def test_a_host_s_word_is_read_as_it_was_said() -> None:
    word = LeaseWord("s_a", 2, 12.5, "its relay cannot be reached", 3)

    assert message_from({"do": "leases", "leases": [as_facts(word)]}) == Leases((word,))


def test_a_keeper_s_word_is_read_as_it_was_said() -> None:
    told = Movable("s_a", "web", 2, "https://relay", 12.5, leased=True, over=True)

    assert record_of(Movable, as_facts(told)) == told


def test_a_holder_reads_the_order_as_it_was_given() -> None:
    order = orders.Lease(2, 12.5, "why", 3)

    assert orders.order_from(orders.packet_of(order)) == order
