"""A holder has a porter made, and a session comes back from its image."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.keeper_world import ONE, TWO, House, Peer, house

from holdfast.linux import packets


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with house(tmp_path) as made:
        yield made


def has_ended(link: socket.socket) -> bool:
    """Tell whether nobody has the other end any more."""
    link.settimeout(0)
    try:
        return packets.receive(link) is None
    except BlockingIOError:
        return False


@contextlib.contextmanager
def asked_porter(holder: Peer, session: str) -> Iterator[socket.socket]:
    """Ask for a porter; yield our end of the link to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        holder.say(theirs.fileno(), do="port", id=session)
        theirs.close()
        yield ours


def test_a_holder_s_link_goes_to_the_nursery(here: House) -> None:
    nursery, holder = here.nursery(), here.peer()
    here.deposit(holder=holder)
    holder.told()

    with asked_porter(holder, ONE) as link:
        assert nursery.asked() == [{"do": "port", "fds": 1}]
        assert holder.told() == []
        assert not has_ended(link)
        assert ONE not in here.keeper_state.births
        while nursery.fds:
            os.close(nursery.fds.pop())
        assert has_ended(link)


@pytest.mark.parametrize("session", [ONE, TWO])
def test_nobody_else_has_a_porter_made_for_a_session(here: House, session: str) -> None:
    nursery = here.nursery()
    here.deposit(ONE)
    other = here.peer()
    here.deposit(TWO, holder=other)
    other.told()
    stranger = other if session == ONE else here.peer()

    with asked_porter(stranger, session) as link:
        (told,) = stranger.told()
        assert told["code"] == "not-proven"
        assert nursery.asked() == []
        assert has_ended(link)


def test_without_a_nursery_the_holder_hears_that_there_is_no_porter(
    here: House,
) -> None:
    holder = here.peer()
    here.deposit(holder=holder)

    with asked_porter(holder, ONE) as link:
        assert has_ended(link)


def test_a_session_that_was_forgotten_comes_back_from_its_image(here: House) -> None:
    nursery, asker = here.nursery(), here.peer()
    here.deposit(ONE)
    here.keeper_state.forget(ONE)
    asker.say(do="recover", recovers=ONE, name="web")
    (told,) = [one for one in asker.told() if "ok" in one]
    assert told["code"] == "session-not-found"

    asker.say(do="recover", recovers=ONE, name="web", image=3)

    (asked,) = nursery.asked()
    assert (asked["id"], asked["image"], asked["recover"]) == (ONE, 3, True)


def test_a_session_that_is_here_is_not_restored(here: House) -> None:
    nursery, asker = here.nursery(), here.peer()
    here.deposit(ONE)

    asker.say(do="recover", recovers=ONE, name="web", image=3)

    (told,) = [one for one in asker.told() if "ok" in one]
    assert told["code"] == "still-alive"
    assert nursery.asked() == []
