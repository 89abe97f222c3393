"""The client that runs a command: of a key always the same, otherwise a new one."""

import pytest

from holdfast.client.command_run import MAX_KEY, check_key, client_of
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import SessionId, actor_id

ONE, TWO = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)
ANNA, BOT = actor_id(b"anna"), actor_id(b"bot")


def test_a_repeat_with_the_same_key_is_the_same_client() -> None:
    assert client_of(ONE, ANNA, "build") == client_of(ONE, ANNA, "build")


def test_another_key_operator_or_session_is_another_client() -> None:
    found = {
        client_of(ONE, ANNA, "build"),
        client_of(ONE, ANNA, "test"),
        client_of(ONE, BOT, "build"),
        client_of(TWO, ANNA, "build"),
    }

    assert len(found) == 4


def test_without_a_key_every_command_has_a_client_of_its_own() -> None:
    assert client_of(ONE, ANNA, None) != client_of(ONE, ANNA, None)
    check_key(None)


def test_a_key_may_have_any_characters_that_a_program_can_be_given() -> None:
    assert client_of(ONE, ANNA, "\udcff") != client_of(ONE, ANNA, "\udcfe")
    check_key("k" * MAX_KEY)


@pytest.mark.parametrize("key", ["", "k" * (MAX_KEY + 1)])
def test_a_key_that_says_nothing_or_too_much_is_refused(key: str) -> None:
    with pytest.raises(MalformedArgument, match="a key of 1 to"):
        client_of(ONE, ANNA, key)
