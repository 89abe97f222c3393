"""What is unusual in a command begun early: the ordinary way goes on with it."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.cli.support.fakes import OTHER, FakeKeeper, FakeSession
from tests.cli.support.kernel import evidence
from tests.cli.support.operating import waiting

from holdfast.cli import start
from holdfast.client import early_session
from holdfast.client.own_name import login_name
from holdfast.linux import early_requests
from holdfast.model.errors import HoldfastError, NotAllowed, NotYourTurn
from holdfast.model.events import EventName
from holdfast.model.ids import Epoch, Incarnation
from holdfast.wire.codec import Message
from holdfast.wire.messages import Event, Goodbye, Ping, State


@pytest.fixture(autouse=True)
def at_home(keeper: FakeKeeper) -> Iterator[None]:
    """Have a key of our own, and forget what a test has begun."""
    folder = keeper.folder / "config/operators" / login_name()
    (folder / "key").write_bytes(bytes(32))
    yield
    early_session.forget()
    if (creation := early_requests.take_creation()) is not None:
        creation.close()


def begun(*words: str) -> str | None:
    return start._begun(start.EARLY[words[0]], list(words[1:]))  # noqa: SLF001


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ["attach"],
        ["attach", "web", "--wrong"],
        ["attach", "web", "--observe"],  # no terminal here
        ["attach", "box/web"],
        ["state", "nobody"],
        ["state", "s_"],
        ["screen", "web", "--cells"],
        ["send", "web"],
        ["send", "web", "--timeout", "1", "x"],
        ["send"],
        ["end"],
        ["end", "web", "other"],
        ["end", "web", "--signal", "KILL"],
        ["end", "box/web"],
        ["end", "nobody"],
        ["ls", "--all"],
        ["new"],
        ["new", "--detach", "--size", "1x1"],
        ["new", "--detach", "--name"],
        ["new", "--detach", "--name", "-x"],
        ["new", "--detach", "--name", "s_"],
    ],
    ids=" ".join,
)
def test_what_is_not_usual_is_not_begun(words: list[str], web: FakeSession) -> None:
    assert begun(*words) is None
    assert web.attaches == []
    assert web.inputs == []


@pytest.mark.parametrize("early", [[Ping(1)], [State("running", Incarnation(1))]])
def test_a_message_between_is_no_second_attach(
    early: list[Message], web: FakeSession
) -> None:
    web.operating.early = early

    assert ran("send", "web", "x").returncode == 0
    assert len(web.attaches) == 1
    assert web.typed() == b"x"
    assert len(web.submitted) == 1


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(NotYourTurn(OTHER, Epoch(1)), 77), (NotAllowed(OTHER, "input"), 77)],
)
def test_an_input_that_is_refused_was_made_once(
    refusal: HoldfastError, status: int, web: FakeSession
) -> None:
    web.refusal = refusal

    assert ran("send", "web", "x").returncode == status
    assert len(web.attaches) == len(web.submitted) == 1


def test_an_input_that_is_put_off_is_sent_again_by_the_same_client(
    web: FakeSession,
) -> None:
    web.busy_times = 1

    assert ran("send", "web", "x").returncode == 0
    assert len(web.attaches) == 1
    assert web.typed() == b"x"


def test_an_input_that_waits_is_waited_for(web: FakeSession) -> None:
    web.operating.early = [waiting()]

    assert ran("send", "web", "x").returncode == 0
    assert len(web.attaches) == 1


def test_who_is_not_let_in_is_told_so_once(web: FakeSession) -> None:
    web.door = NotAllowed(OTHER, "observe")

    assert ran("send", "web", "x").returncode == 77
    assert len(web.attaches) == 1


@pytest.mark.parametrize(
    ("farewell", "status"),
    [(Goodbye("no-common-version", "2, 3"), 76), (Goodbye("full", "too many"), 75)],
)
def test_a_holder_of_another_age_is_understood(
    farewell: Goodbye, status: int, web: FakeSession
) -> None:
    web.farewell = farewell
    web.operating.kernel.states = [evidence("running")]

    assert ran("state", "web").returncode == status


def test_a_session_that_has_ended_is_told_of_by_the_keeper(web: FakeSession) -> None:
    web.exits(3)
    web.operating.kernel.states = [evidence("exited")]

    assert "exited 3" in ran("state", "web").stdout
    assert ran("send", "web", "x").returncode == 64
    assert web.inputs == []


def test_what_the_keeper_refuses_is_not_asked_twice(keeper: FakeKeeper) -> None:
    keeper.answer = b'{"ok": false, "code": "host-full", "text": "", "facts": {}}'

    assert ran("new", "--detach").returncode == 70
    assert [one["do"] for one in keeper.asked] == ["create"]


def test_a_keeper_that_dies_with_a_creation_leaves_it_open(keeper: FakeKeeper) -> None:
    keeper.answer = b""

    run = ran("new", "--detach")

    assert run.returncode == 75
    assert "is not known" in run.stderr
    assert [one["do"] for one in keeper.asked] == ["create"]


def test_without_a_keeper_a_session_is_reached(keeper: FakeKeeper) -> None:
    (web,) = keeper.has("web")
    keeper.close()
    web.revive()

    assert ran("send", "web", "x").returncode == 0
    assert web.typed() == b"x"


def test_an_operator_who_is_not_known_yet_is_made_known(web: FakeSession) -> None:
    early_env = {**os.environ, "HOLDFAST_AS": "robo"}
    words = [sys.executable, "-m", "holdfast", "send", "web", "x"]

    run = subprocess.run(words, env=early_env, check=False, capture_output=True)

    assert (web.folder / "config/operators/robo/key").exists(), run.stderr


def test_closed_descriptors_are_left_to_the_ordinary_way(web: FakeSession) -> None:
    run = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m holdfast send web x >&-"], check=False
    )

    assert run.returncode == 0
    assert web.typed() == b"x"


def test_output_that_cannot_be_written_is_said(web: FakeSession) -> None:
    web.operating.kernel.states = [evidence("running")]
    words = f"{sys.executable} -m holdfast state web >/dev/full"

    run = subprocess.run(["/bin/sh", "-c", words], check=False, capture_output=True)

    assert run.returncode == 74
    assert b"cannot write" in run.stderr


def test_what_an_ended_session_left_running_is_told(
    web: FakeSession, keeper: FakeKeeper
) -> None:
    swept: dict[str, str | int] = {"leftovers": 1, "names": "sshd", "left": 0}
    web.operating.swept = Event(EventName.SESSION_SWEPT, web.id, swept)

    done = ran("end", "web")

    assert done.stdout == "1 daemon ended: sshd\nweb has ended\n"
    assert len(web.attaches) == 1
    assert keeper.sessions == []


def test_a_session_that_has_ended_already_is_cleared_away(
    web: FakeSession, keeper: FakeKeeper
) -> None:
    web.exits(3)

    done = ran("end", "web")

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("web has ended\n")
    assert keeper.sessions == []
