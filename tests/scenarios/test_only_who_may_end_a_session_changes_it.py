"""Nobody renames, keeps or forgets a session by a packet to the keeper alone."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from tests.scenarios.proving import change_proven
from tests.scenarios.support import PATIENCE, Machine, eventually, machine

from holdfast.cli.main import main
from holdfast.client import current_operator
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import presence as parties

Packet = dict[str, object]
CHANGES: dict[str, Packet] = {
    "rename": {"name": "another"},
    "keep": {"keep": True},
    "forget": {},
    "facts": {"name": "another", "keep": True},
}
PROVEN = ("rename", "keep", "forget")


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        current_operator.ourselves()
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("cat")


def raw(packet: Packet) -> packets.Packet:
    with packets.connect(places.keeper_socket(), PATIENCE) as link:
        packets.send(link, packet)
        heard = packets.receive(link)
    assert heard is not None
    return heard[0]


def asked(session: SessionId, do: str) -> Packet:
    return {"do": do, "id": session, **CHANGES[do]}


def by(name: str, kind: ActorKind, session: SessionId, do: str) -> Packet:
    us = current_operator.enrol(name, kind)
    return change_proven(asked(session, do), us.actor.id, us.token())


def is_as_it_was(here: Machine, session: SessionId, before: Packet) -> bool:
    now = here.facts(session)
    names = ("name", "keep", "state", "held", "pid")
    return now is not None and all(now[one] == before[one] for one in names)


def _forged(packet: Packet) -> None:
    packet["asker"] = current_operator.ourselves().actor.id


def _as_host(packet: Packet) -> None:
    packet["asker"] = "host"


def _other(packet: Packet) -> None:
    packet |= {"name": "third", "keep": False, "id": packet["id"]}


def _old(packet: Packet) -> None:
    packet["asked_ms"] = 0


def _unproven(packet: Packet) -> None:
    del packet["proof"]


@pytest.mark.parametrize("do", CHANGES)
def test_a_packet_without_a_proof_changes_nothing(
    here: Machine, session: SessionId, do: str
) -> None:
    before = here.facts(session)
    assert before is not None

    answer = raw(asked(session, do))

    assert answer["code"] == "not-proven", answer
    assert is_as_it_was(here, session, before)


@pytest.mark.parametrize("do", PROVEN)
def test_an_agent_may_not_and_who_began_it_may(
    here: Machine, session: SessionId, do: str
) -> None:
    before = here.facts(session)
    assert before is not None

    answer = raw(by("bot", ActorKind.AGENT, session, do))
    assert answer["code"] == "not-allowed", answer
    assert is_as_it_was(here, session, before)

    assert raw(by("carol", ActorKind.HUMAN, session, do))["ok"] is True
    assert not is_as_it_was(here, session, before)


@pytest.mark.parametrize("spoil", [_forged, _as_host, _other, _old, _unproven])
def test_a_proof_is_of_one_change_by_one_operator(
    here: Machine, session: SessionId, spoil: Callable[[Packet], None]
) -> None:
    before = here.facts(session)
    assert before is not None
    packet = by("carol", ActorKind.HUMAN, session, "rename")
    spoil(packet)

    answer = raw(packet)

    assert answer["code"] == "not-proven", answer
    assert is_as_it_was(here, session, before)


def test_who_was_revoked_in_a_session_cannot_forget_it(
    here: Machine, session: SessionId
) -> None:
    carol = current_operator.enrol("carol", ActorKind.HUMAN)
    assert here.join(session).request(parties.Revoke(carol.actor.id)) is None

    answer = raw(by("carol", ActorKind.HUMAN, session, "forget"))

    assert answer["code"] == "not-allowed", answer


def test_a_grant_lets_an_agent_rename_what_it_did_not_begin(
    here: Machine, session: SessionId
) -> None:
    bot = current_operator.enrol("bot", ActorKind.AGENT)
    granted = parties.Grant(bot.actor.id, ("observe", "end"), 0)
    assert here.join(session).request(granted) is None

    assert raw(by("bot", ActorKind.AGENT, session, "rename"))["ok"] is True


def test_a_killed_holder_does_not_leave_its_session_open_to_anybody(
    here: Machine, session: SessionId
) -> None:
    for _ in range(5):
        before = here.facts(session)
        assert before is not None
        here.kill("holder", session)

        answer = raw(by("bot", ActorKind.AGENT, session, "forget"))

        assert answer["code"] == "not-allowed", answer
        here.wait_whole(session)
        assert is_as_it_was(here, session, before)


def test_a_stopped_holder_is_replaced_and_asked(
    here: Machine, session: SessionId
) -> None:
    os.kill(here.pid("holder", session), signal.SIGSTOP)
    began = time.monotonic()

    assert main(["rename", session, "later"]) == 0

    assert time.monotonic() - began < PATIENCE
    facts = here.facts(session)
    assert facts is not None
    assert facts["name"] == "later"


def test_the_command_line_says_who_asks(
    here: Machine, session: SessionId, capsys: pytest.CaptureFixture[str]
) -> None:
    current_operator.enrol("bot", ActorKind.AGENT)
    for words in (["rename", session, "mine"], ["keep", session]):
        assert main(["--as", "bot", *words]) == 77
        assert "may not end" in capsys.readouterr().err
    os.environ.pop("HOLDFAST_AS", None)

    assert main(["rename", session, "ours"]) == 0
    assert main(["keep", "ours"]) == 0
    assert main(["end", "ours"]) == 0
    eventually("it is gone", lambda: here.facts(session) is None)


@pytest.mark.parametrize("is_held", [True, False])
def test_nobody_takes_a_session_over_by_a_deposit(
    here: Machine, session: SessionId, *, is_held: bool
) -> None:
    before = here.facts(session)
    assert before is not None
    if not is_held:
        os.kill(here.pid("holder", session), signal.SIGKILL)

    answer = forged_deposit(session, "", before)

    assert answer.get("code") == "not-proven", answer
    here.wait_whole(session)
    client = here.join(session)
    client.enter(b"still here\r")
    client.wait_output(b"still here")
    after = here.facts(session)
    assert after is not None
    assert (after["holder"] == before["holder"]) == is_held


def forged_deposit(
    session: str, token: str, facts: Packet, do: str = "deposit", status: object = None
) -> packets.Packet:
    """Deposit descriptors of our own; return what the keeper says of it."""
    master, slave = os.openpty()
    memory = os.memfd_create("window")
    listener = socket.socket(socket.AF_UNIX)
    itself = os.pidfd_open(os.getpid())
    fds = [master, memory, listener.fileno(), itself]
    packet = {"do": do, "id": session, "token": token, "exit": status}
    with packets.connect(places.keeper_socket(), PATIENCE) as link:
        packets.send(link, {**packet, "facts": facts}, fds)
        heard = packets.receive(link)
    for fd in (master, slave, memory, itself):
        os.close(fd)
    listener.close()
    assert heard is not None
    return heard[0]


def test_nobody_says_that_a_session_has_ended_by_inheriting_it(
    here: Machine, session: SessionId
) -> None:
    before = here.facts(session)
    assert before is not None

    answer = forged_deposit(session, "", before, "inherit", 7)

    assert answer.get("code") == "not-proven", answer
    after = here.facts(session)
    assert after is not None
    assert after["exit"] is None
    assert is_as_it_was(here, session, before)


def test_nobody_else_says_that_a_holder_on_its_way_has_failed(
    here: Machine, session: SessionId
) -> None:
    facts = here.facts(session)
    assert facts is not None
    nursery = here.pid("nursery")
    os.kill(nursery, signal.SIGSTOP)
    try:
        os.kill(here.pid("holder", session), signal.SIGKILL)
        eventually("nobody holds it", lambda: not here.is_whole(session))
        failed = raw({"do": "failed", "token": session, "kept": False})
        # Its name would clash, but a deposit is not refused for that.
        forged_deposit("s_" + "z" * 16, session, facts)
    finally:
        os.kill(nursery, signal.SIGKILL)  # What it was asked for is asked for again.

    assert failed.get("code") == "not-proven", failed
    assert places.session_log(session).exists()
    client = here.join(session)
    client.enter(b"still here\r")
    client.wait_output(b"still here")
