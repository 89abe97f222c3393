"""Through a relay nobody starts more than on the machine itself."""

import subprocess  # noqa: TC003  # an annotation people read
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, places, relay
from tests.scenarios.support import eventually

from holdfast.client import keeper
from holdfast.model.errors import Forbidden
from holdfast.model.session_requests import Creation

START = """
[[rule]]
name = "start"
verdict = "allow"
kind = "agent"
input = "start"
"""


@pytest.fixture(scope="module")
def near() -> Iterator[Place]:
    with relay() as between, places(1) as (made,):
        made.up(between.url)
        yield made


@pytest.fixture
def home(near: Place) -> Iterator[tuple[Place, Place]]:
    with places(1) as (far,):
        yield near, far


def joined(home: tuple[Place, Place], name: str, *words: str) -> None:
    """Have somebody of this name join the host, by an invitation with these words."""
    near, far = home
    link = near.invite("--as", name, *words)
    far.do("--as", name, "join", "-", "--name", f"box-{name}", said=link)


def start(
    home: tuple[Place, Place], name: str, marker: Path
) -> "subprocess.CompletedProcess[str]":
    words = ["new", "--detach", "--on", f"box-{name}", "--", "sh", "-c"]
    return home[1].run("--as", name, *words, f"touch {marker}; sleep 60")


def policy(home: tuple[Place, Place], text: str) -> None:
    (Path(home[0].folder) / "config/policy.toml").write_text(text)
    home[0].do("gate", "apply", "--yes")


@pytest.mark.parametrize(
    ("name", "words", "text"),
    [
        ("bot", ("--kind", "agent"), START),
        ("anna", (), ""),
        ("otto", ("--can", "observe,input,command"), ""),
        ("bert", ("--kind", "agent", "--can", "+create"), ""),
    ],
)
def test_an_invitation_without_create_or_a_policy_that_denies_runs_nothing(
    home: tuple[Place, Place],
    tmp_path: Path,
    name: str,
    words: tuple[str, ...],
    text: str,
) -> None:
    policy(home, text)
    joined(home, name, *words)
    before = home[0].do("ls", "--all", "--names")

    done = start(home, name, tmp_path / "ran")

    assert done.returncode == 77, done.stderr
    assert home[0].do("ls", "--all", "--names") == before
    assert not (tmp_path / "ran").exists()


def test_an_invitation_for_one_session_cannot_name_create(near: Place) -> None:
    near.new("cat", name="one")

    done = near.run("invite", "--session", "one", "--can", "+create")

    assert done.returncode == 64
    assert "create" in done.stderr


@pytest.mark.parametrize(
    ("name", "words", "text"),
    [
        ("carl", ("--can", "+create"), ""),
        ("dave", ("--kind", "agent", "--can", "+create"), START),
    ],
)
def test_an_invitation_that_names_create_lets_sessions_be_started(
    home: tuple[Place, Place],
    tmp_path: Path,
    name: str,
    words: tuple[str, ...],
    text: str,
) -> None:
    policy(home, text)
    joined(home, name, *words)

    done = start(home, name, tmp_path / "ran")

    assert done.returncode == 0, done.stderr
    eventually("it runs", (tmp_path / "ran").exists)


def test_what_a_packet_says_of_its_creator_does_not_count(
    home: tuple[Place, Place], tmp_path: Path
) -> None:
    policy(home, START)
    joined(home, "eve", "--kind", "agent")
    near, far = home
    with near.inhabited():
        owner = _owner()
    command = ("sh", "-c", f"touch {tmp_path / 'ran'}")
    asked = Creation(command=command, creator=owner, proof="00" * 32)

    with far.inhabited(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_AS", "eve")
        with pytest.raises(Forbidden):
            keeper.request(asked, host="box-eve")

    assert not (tmp_path / "ran").exists()


def _owner() -> str:
    from holdfast.client.current_operator import ourselves  # noqa: PLC0415  # as that machine

    return ourselves().actor.id
