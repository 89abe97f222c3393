import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, places
from tests.scenarios.support import eventually

CROWD = """
import contextlib, os, selectors, socket, sys
os.setuid(int(sys.argv[1]))
place, links = ("127.0.0.1", int(sys.argv[2])), selectors.DefaultSelector()
while True:
    while len(links.get_map()) < 100:
        link = socket.socket()
        with contextlib.suppress(OSError):
            link.connect(place)
        links.register(link, selectors.EVENT_READ)
    print("full", flush=True)
    for key, _ in links.select():
        links.unregister(key.fileobj)
        key.fileobj.close()
"""
"""Opens more connections than one source may have, and does so again at once."""


@contextlib.contextmanager
def crowd(relay: str, uid: int) -> Iterator[None]:
    port = relay.rpartition(":")[2]
    pushing = subprocess.Popen(
        [sys.executable, "-c", CROWD, str(uid), port], stdout=subprocess.PIPE
    )
    assert pushing.stdout is not None
    pushing.stdout.readline()
    try:
        yield
    finally:
        pushing.kill()
        pushing.communicate()


@pytest.fixture
def joined() -> Iterator[tuple[Place, Place]]:
    with places() as (home, away):
        home.up()
        away.do("join", "-", "--name", "box", said=home.invite())
        home.new("cat", name="web")
        yield home, away


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_without_a_relay_named_there_is_one_on_loopback(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined

    away.do("send", "box/web", "--enter", "hello")

    (link,) = home.status()["links"]
    assert link["relay"].startswith("http://127.0.0.1:")
    assert "hello" in home.do("read", "web")


def test_it_ends_with_the_host_and_its_port_is_used_again(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    before = home.status()

    home.kill_host()
    eventually("the relay has ended too", lambda: is_gone(before["relay"]))
    home.up()

    assert home.status()["links"][0]["relay"] == before["links"][0]["relay"]
    assert "web" in away.do("ls", "box/")


def test_when_it_dies_another_is_started(joined: tuple[Place, Place]) -> None:
    home, away = joined
    dead = home.status()["relay"]

    os.kill(dead, signal.SIGKILL)

    eventually("another", lambda: home.status()["relay"] not in (0, dead))
    eventually("it leads there", lambda: away.run("ls", "box/").returncode == 0)


def test_naming_a_relay_ends_it_and_takes_effect_at_once(
    joined: tuple[Place, Place],
) -> None:
    home, _ = joined
    own = home.status()["relay"]

    home.do("up", "--detach", "--relay", "https://relay.invalid")

    eventually("it is not needed any more", lambda: is_gone(own))
    assert [one["relay"] for one in home.status()["links"]] == ["https://relay.invalid"]


@pytest.mark.parametrize(
    "relay", ["http://relay.example", "relay.example", "https://a@b", "https://x/y?z"]
)
def test_t40_a_relay_without_tls_or_with_more_than_a_name_is_refused(
    relay: str,
) -> None:
    with places(1) as (home,):
        done = home.run("up", "--detach", "--relay", relay)

        assert done.returncode == 64
        assert not Path(home.folder, "config", "relays").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_of_the_machine_crowds_nobody_out(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    (link,) = home.status()["links"]

    with crowd(link["relay"], uid=65534):
        for _ in range(3):
            away.do("send", "box/web", "--enter", "hello")


def test_the_host_gets_in_whatever_crowd_of_its_own_user_stands_there(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    before = home.status()

    with crowd(before["links"][0]["relay"], os.getuid()):
        os.kill(before["relay"], signal.SIGKILL)

        def is_linked() -> bool:
            now = home.status()
            return now["relay"] not in (0, before["relay"]) and bool(
                now["links"][0]["up"]
            )

        eventually("the host is linked to the next relay", is_linked)
    eventually("it leads there", lambda: away.run("ls", "box/").returncode == 0)
