"""An agent cannot make people, invite them, or take anybody's rights."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, machine

from holdfast.cli.main import main
from holdfast.client import current_operator
from holdfast.core.book.logbook import read_entries
from holdfast.linux.stored import host_book, invites, operators
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import SessionId

FAR_AWAY = 4e9
LOOSE = '[default]\nagent = "allow"\nhuman = "allow"\n'


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def known() -> dict[str, tuple[ActorKind, bytes]]:
    return {
        one.actor.name: (one.actor.kind, one.public_key) for one in operators.enrolled()
    }


def declined() -> list[str]:
    """Return what the host's logbook says was turned away."""
    lines = Path(host_book.book_path()).read_bytes().splitlines()
    with host_book.writing() as book:
        entries = [*read_entries(lines, book.id)]
    return [
        str(entry.fields["request"])
        for entry in entries
        if entry.kind.value == "declined"
    ]


ATTEMPTS = {
    "makes a person": ["operators", "add", "ally", "--kind", "human"],
    "makes an agent": ["operators", "add", "ally"],
    "removes somebody": ["operators", "remove", "carol"],
    "revokes somebody": ["revoke", "--everywhere", "@carol"],
    "invites a person": ["invite", "--as", "ally", "--no-qr"],
    "invites itself to more": [
        *("invite", "--as", "ally", "--kind", "agent", "--can", "+grant", "--no-qr")
    ],
    "withdraws": ["invite", "--withdraw", "INVITE"],
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_an_agent_that_acts_as_itself_is_refused_and_told_what_to_do(
    attempt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, kind in (("bot", ActorKind.AGENT), ("carol", ActorKind.HUMAN)):
        current_operator.enrol(name, kind)
    invite = invites.make("dave", ActorKind.HUMAN, Envelope(frozenset(Right)), FAR_AWAY)
    before = known()
    words = [invite.id.hex() if w == "INVITE" else w for w in ATTEMPTS[attempt]]

    assert main(["--as", "bot", *words]) == 77

    said = capsys.readouterr().err
    assert "may not grant" in said
    assert "Have a person run it" in said
    assert known() == before
    assert [one.id for one in invites.known()] == [invite.id]
    assert len(declined()) == 1


@pytest.mark.usefixtures("here")
def test_an_agent_changes_its_own_key_and_nobody_elses() -> None:
    current_operator.enrol("bot", ActorKind.AGENT)
    before = known()

    assert main(["--as", "bot", "operators", "rotate"]) == 0

    after = known()
    assert after.pop("bot") != before.pop("bot")
    assert after == before


def places_of_ours() -> dict[str, str]:
    """Return what has a program use the machine of this test, and no other."""
    names = ("HOLDFAST_RUNTIME_DIR", "HOLDFAST_CONFIG_DIR")
    return {name: os.environ[name] for name in names}


def shell(here: Machine) -> SessionId:
    """Start a shell that says who ran what."""
    answer = here.ask(
        do="create",
        command=["bash"],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PS1": "$ ", **places_of_ours()},
        size=[200, 24],
        creator=current_operator.ourselves().actor.id,
        integration=True,
    )
    assert answer["ok"], answer
    return SessionId(str(answer["id"]))


@pytest.fixture
def bot(here: Machine) -> Client:
    apply_policy(LOOSE)
    return here.join(shell(here), "bot", ActorKind.AGENT)


OURS = "{} -m holdfast {}; echo left $?\r"
WAYS = {
    "plainly": "operators add ally --kind human",
    "by an invitation": "invite --no-qr",
    "with the person's key": "operators rotate",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_an_agent_types_into_a_persons_shell_is_the_agents(
    bot: Client, way: str
) -> None:
    before = known()

    bot.enter(OURS.format(sys.executable, WAYS[way]).encode())

    bot.wait_output(b"left 77")
    assert known() == before
    assert invites.known() == []


PLACES = {
    "where no keeper is": "HOLDFAST_RUNTIME_DIR=TMP",
    "with another session's name": "HOLDFAST_SESSION=s_0000000000000000000000000",
}


@pytest.mark.parametrize("place", PLACES)
def test_looking_in_another_place_does_not_hide_who_types(
    bot: Client, place: str, tmp_path: Path
) -> None:
    before = known()
    tmp_path.chmod(0o700)
    where = PLACES[place].replace("TMP", str(tmp_path))
    line = f"{where} {sys.executable} -m holdfast"

    bot.enter(f"{line} operators add ally --kind human; echo left $?\r".encode())

    bot.wait_output(b"left 77")
    assert known() == before


@pytest.mark.usefixtures("here")
def test_refusals_in_a_loop_do_not_fill_the_logbook() -> None:
    for _ in range(20):
        assert main(["--as", "bot", "operators", "add", "ally"]) == 77

    assert declined() == ["operators add"]
