"""What a request for a session says of us, and how it is proven."""

import os
import time
from pathlib import Path

import pytest
from tests.cli.support.operating import be_known

from holdfast.client import current_operator
from holdfast.client.proven_requests import (
    change_proven,
    change_proven_by_us,
    made_here,
    proven,
    proven_by_us,
)
from holdfast.client.wanted_session import are_we_a_person, environment
from holdfast.crypto.proof import proven_change, proven_creation
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import ActorId, parse_client_id
from holdfast.model.session_requests import Creation, Rename
from holdfast.model.terminal_variables import OF_ONE_TERMINAL

BOT = ActorId("a_" + "b" * 32)
TOKEN = b"t" * 32


@pytest.fixture(autouse=True)
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    be_known(tmp_path, monkeypatch)


def test_a_person_gives_all_variables_and_an_agent_what_its_terminal_can_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {"TERM": "xterm", "LC_CTYPE": "C", "SECRET": "x", "HOLDFAST_SESSION": "s"}
    for name in [*os.environ]:
        monkeypatch.delenv(name)
    for name, value in own.items():
        monkeypatch.setenv(name, value)

    given = {"LC_CTYPE": "C"}
    assert environment(is_personal=False) == given
    assert environment(is_personal=True) == {**given, "SECRET": "x"}


def test_nothing_is_given_that_speaks_of_the_terminal_of_its_maker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TERM", "TMUX", "TMUX_PANE", "STY", "WINDOW", "TERM_PROGRAM"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("COLORTERM", "rxvt")

    given = environment(is_personal=True)
    assert not {*given} & {*OF_ONE_TERMINAL, "COLORTERM"}
    monkeypatch.setenv("COLORTERM", "truecolor")
    for is_personal in (False, True):
        assert environment(is_personal=is_personal)["COLORTERM"] == "truecolor"


def test_the_settings_say_what_nobody_else_says(tmp_path: Path) -> None:
    file = tmp_path / "config/config.toml"
    file.write_text('shell = ["/bin/zsh", "-l"]\nwindow = "2M"\nterm = "vt100"\n')

    made = made_here(Creation())
    assert made.command == ("/bin/zsh", "-l")
    assert (made.window, made.env) == (2 << 20, {"TERM": "vt100"})
    said = Creation(command=("cat",), env={"TERM": "xterm"}, window=3 << 20)
    made = made_here(said)
    assert (made.command, made.env, made.window) == (("cat",), said.env, 3 << 20)

    file.write_text('prefix = "C-a"\n')
    assert made_here(said)._replace(cwd="") == said


def test_a_session_has_our_shell_and_our_folder_unless_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHELL", "/bin/fish")

    made = made_here(Creation())
    assert (made.command, made.cwd) == (("/bin/fish",), str(tmp_path))
    made = made_here(Creation(command=("cat", "-v"), cwd="below/.."))
    assert (made.command, made.cwd) == (("cat", "-v"), str(tmp_path))
    made = made_here(Creation(cwd="/usr"))
    assert made.cwd == "/usr"


def test_in_a_folder_that_is_gone_no_session_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    for folder in ("", "below"):
        with pytest.raises(MalformedArgument) as refused:
            made_here(Creation(cwd=folder))
        assert refused.value.facts["text"] == (folder or ".")
    assert made_here(Creation(cwd="/usr")).cwd == "/usr"


def test_a_creation_is_proven_with_the_time_and_a_client_of_its_own() -> None:
    before = time.time_ns() // 1_000_000
    made = [proven(Creation("web"), BOT, TOKEN) for _ in range(2)]
    after = time.time_ns() // 1_000_000

    for one in made:
        assert parse_client_id(str(one.client)) == one.client
        assert (one.name, one.creator) == ("web", BOT)
        assert before <= one.asked_ms <= after
        assert one == proven_creation(one._replace(proof=""), TOKEN)
        assert one.proof
    assert made[0].client != made[1].client


def test_a_client_that_is_named_stays() -> None:
    client = "c_" + "d" * 16

    assert proven(Creation(client=client), BOT, TOKEN).client == client


def test_a_change_is_proven_with_the_time_in_somebody_s_name() -> None:
    before = time.time_ns() // 1_000_000
    made = change_proven(Rename("s_x", "job"), BOT, TOKEN)

    assert isinstance(made, Rename)
    assert (made.id, made.name, made.asker) == ("s_x", "job", BOT)
    assert before <= made.asked_ms <= time.time_ns() // 1_000_000
    assert made == proven_change(made._replace(proof=""), TOKEN)
    assert made.proof


def test_what_we_ask_for_is_in_our_own_name_with_our_own_token() -> None:
    us = current_operator.ourselves()

    made = proven_by_us(Creation("web"))
    changed = change_proven_by_us(Rename("s_x", "job"))

    assert made.creator == us.actor.id
    assert made == proven_creation(made._replace(proof=""), us.token())
    assert changed.asker == us.actor.id
    assert changed == proven_change(changed._replace(proof=""), us.token())


def test_we_are_a_person_unless_we_act_as_somebody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert are_we_a_person()
    current_operator.enrol("bot", ActorKind.AGENT)

    monkeypatch.setenv("HOLDFAST_AS", "bot")

    assert not are_we_a_person()


def test_a_person_who_was_never_here_is_made_known_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "fresh"))

    assert are_we_a_person()
