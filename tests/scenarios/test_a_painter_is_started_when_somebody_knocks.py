import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.copies import PRESENT, finish, start_upgrade
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux import packets
from holdfast.linux.stored import places


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def painter(here: Machine) -> int:
    found = here.ask(do="status")["painter"]
    assert isinstance(found, int)
    return found


def knock() -> None:
    """Say something that is no request, and wait until somebody hangs up."""
    with packets.connect(places.painter_socket(), 20) as link:
        link.send(b"?")
        assert link.recv(10) == b""


def test_nobody_paints_until_somebody_knocks(here: Machine) -> None:
    assert painter(here) == 0
    assert places.painter_socket().stat().st_mode & 0o777 == 0o600

    knock()

    assert painter(here) > 0


def test_a_dead_painter_is_replaced_when_the_next_knocks(here: Machine) -> None:
    knock()
    first = painter(here)

    os.kill(first, signal.SIGKILL)

    eventually("it is gone", lambda: painter(here) == 0)
    knock()
    assert painter(here) not in (0, first)


def test_a_painter_has_nothing_of_ours_but_the_socket(here: Machine) -> None:
    knock()
    pid = painter(here)

    folder = Path(f"/proc/{pid}")
    assert (folder / "environ").read_bytes() == b""
    assert os.getsid(pid) == pid
    assert (folder / "cwd").readlink() == Path("/")
    assert str((folder / "fd/0").readlink()).startswith("socket:")


def test_painters_that_die_at_once_are_started_ever_more_rarely(here: Machine) -> None:
    seen = set()
    link = eventually("a door", lambda: packets.connect(places.painter_socket(), 20))
    with link:
        for _ in range(5):
            pid = eventually("a painter", lambda: painter(here))
            seen.add(pid)
            os.kill(pid, signal.SIGKILL)
            eventually("it is gone", lambda dead=pid: painter(here) != dead)  # type: ignore[misc]

    assert len(seen) == 5
    assert here.ask(do="status")["ok"]


def test_after_an_upgrade_the_next_painter_is_of_the_new_code(here: Machine) -> None:
    knock()
    first = painter(here)

    said = finish(start_upgrade(PRESENT))

    assert "after" in said, said
    eventually("it is gone", lambda: painter(here) != first)
    knock()
    assert painter(here) not in (0, first)


def test_a_keeper_that_is_replaced_listens_for_painters_again(here: Machine) -> None:
    session = here.new("sleep", "60")
    knock()
    first = painter(here)

    here.kill("keeper", session)
    eventually("another keeper", lambda: here.ask(do="status"))

    knock()
    assert painter(here) not in (0, first)
    os.kill(first, signal.SIGKILL)
