import pytest

from holdfast.model.errors import MalformedMessage, UnexpectedMessage
from holdfast.model.keeper_messages import KINDS, Changed, Deposit, Doze, message_from
from holdfast.model.session_record import Cells
from holdfast.model.session_requests import Forget


@pytest.mark.parametrize("do", KINDS)
def test_every_message_has_a_word_and_need_not_say_more(do: str) -> None:
    assert message_from({"do": do, "mood": "calm"}) == KINDS[do]()


def test_what_is_said_is_read() -> None:
    facts: dict[str, object] = {"name": "web", "new": [1]}

    assert message_from({"do": "deposit", "id": "s_x", "facts": facts}) == Deposit(
        "s_x", facts=facts
    )
    assert message_from({"do": "facts", "size": [9, 5]}) == Changed(size=Cells(9, 5))
    assert message_from({"do": "doze", "idle_ms": 1700}) == Doze(idle_ms=1700)
    assert message_from({"do": "forget", "id": "s_x"}) == Forget("s_x")


@pytest.mark.parametrize(
    "packet",
    [
        {"do": "deposit", "facts": []},
        {"do": "deposit", "exit": "3"},
        {"do": "doze", "idle_ms": "then"},
        {"do": "said", "ticket": True},
        {"do": "rename", "name": 5},
        {"do": "keep", "keep": 1},
        {"do": "facts", "size": [80]},
        {"do": "facts", "size": [True, False]},
        {"do": "facts", "ended_ms": "now"},
        {"do": "create", "name": 5},
        {"do": "create", "command": "sh"},
        {"do": "create", "command": ["sh", None]},
        {"do": "create", "cwd": 1},
        {"do": "create", "env": {"A": 1}},
        {"do": "create", "env": []},
        {"do": "create", "size": ["80", "24"]},
    ],
)
def test_a_value_of_another_type_is_refused(packet: dict[str, object]) -> None:
    with pytest.raises(MalformedMessage):
        message_from(packet)


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(UnexpectedMessage):
        message_from({"do": "dance"})
