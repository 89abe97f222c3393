"""What we are called: as the user is, or as we are told to act."""

import subprocess

import pytest

from holdfast.client.own_name import VARIABLE, login_name, our_name
from holdfast.model.errors import UsageError


def test_without_a_word_we_are_called_as_the_user_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    who = subprocess.run(["id", "-un"], capture_output=True, check=True, text=True)  # noqa: S607  # whichever there is

    assert login_name() == our_name() == who.stdout.strip().lower()


def test_whoever_we_are_told_to_act_as_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "bot")
    assert our_name() == "bot"
    monkeypatch.setenv(VARIABLE, "../bot")

    with pytest.raises(UsageError):
        our_name()
