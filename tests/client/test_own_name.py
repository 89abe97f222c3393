"""What we are called: as the user is, or as we are told to act."""

import os
import pwd
import subprocess

import pytest

from holdfast.client.own_name import VARIABLE, login_name, our_name
from holdfast.model.errors import UsageError
from holdfast.model.text import MAX_NAME


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


@pytest.mark.parametrize(
    ("login", "name"),
    [
        ("Anna.Lee", "anna.lee"),
        ("OFFICE\\anna_2", "officeanna_2"),
        ("-_.anna-", "anna-"),
        ("a" * (MAX_NAME + 1), "a" * MAX_NAME),
        ("\N{GREEK SMALL LETTER ALPHA}", f"user-{os.getuid()}"),
        ("._-", f"user-{os.getuid()}"),
    ],
)
def test_a_login_that_can_be_no_name_becomes_one(
    monkeypatch: pytest.MonkeyPatch, login: str, name: str
) -> None:
    known = pwd.struct_passwd((login, "x", os.getuid(), 0, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", {os.getuid(): known}.__getitem__)
    monkeypatch.setenv(VARIABLE, "")

    assert login_name() == our_name() == name
