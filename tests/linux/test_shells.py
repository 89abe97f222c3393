from pathlib import Path

import pytest

from holdfast.linux.shells import (
    SCRIPTS,
    handed_over,
    integrated,
    key_of,
    nonce_of,
)

ENV = {"HOME": "/home/x", "PATH": "/bin"}
BASH = str(SCRIPTS / "integration.bash")


@pytest.mark.parametrize(
    ("command", "started"),
    [
        (("bash",), ("bash", "--rcfile", BASH)),
        (("/bin/bash", "-i"), ("/bin/bash", "--rcfile", BASH, "-i")),
        (("bash", "-l"), ("bash", "--rcfile", BASH)),
        (("zsh", "-l"), ("zsh", "-l")),
        (
            ("fish",),
            ("fish", "--init-command", f"source '{SCRIPTS}/integration.fish'"),
        ),
    ],
)
def test_a_plain_shell_is_given_its_script(
    command: tuple[str, ...], started: tuple[str, ...]
) -> None:
    found = integrated(command, ENV)

    assert found is not None
    assert found.command == started


@pytest.mark.parametrize(
    "command",
    [
        ("bash", "--norc"),
        ("bash", "-c", "true"),
        ("bash", "script"),
        ("sh",),
        ("dash",),
        ("python3", "-i"),
        ("bash", "-li"),
    ],
)
def test_whatever_else_is_started_is_left_alone(command: tuple[str, ...]) -> None:
    assert integrated(command, ENV) is None


def test_only_a_login_shell_is_told_that_it_is_one() -> None:
    login, other = integrated(("bash", "--login"), ENV), integrated(("bash",), ENV)

    assert login is not None
    assert other is not None
    assert login.environment == {**ENV, "HOLDFAST_LOGIN": "1"}
    assert other.environment == ENV


def test_zsh_is_given_back_where_its_files_are() -> None:
    found = integrated(("zsh",), {**ENV, "ZDOTDIR": "/mine"})

    assert found is not None
    assert found.environment["HOLDFAST_ZDOTDIR"] == "/mine"
    assert found.environment["ZDOTDIR"] == str(SCRIPTS / "zsh")


def test_a_shell_whose_script_is_missing_is_left_alone(tmp_path: Path) -> None:
    assert integrated(("bash",), ENV, scripts=tmp_path) is None


def test_a_path_with_quotes_is_quoted_for_fish(tmp_path: Path) -> None:
    odd = tmp_path / "it's"
    odd.mkdir()
    (odd / "integration.fish").touch()

    found = integrated(("fish",), ENV, scripts=odd)
    assert found is not None
    assert found.command[2] == f"source '{tmp_path}/it\\'s/integration.fish'"


def test_every_session_has_a_nonce_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path))
    tmp_path.chmod(0o700)

    assert nonce_of("s_a") == nonce_of("s_a") != nonce_of("s_b")
    assert len(nonce_of("s_a")) == 32


def test_a_shell_is_handed_two_secrets_and_the_pipe_for_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path))
    tmp_path.chmod(0o700)

    told = handed_over("s_a", "/run/a b").split(b" ", 2)
    assert told == [nonce_of("s_a"), key_of("s_a"), b"/run/a b"]
    assert key_of("s_a") != nonce_of("s_a")
    assert handed_over("s_a", "/run/a\nb") == handed_over("s_a", "") == nonce_of("s_a")
