import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.leased import TTL, Ticking, host_at_terminal, needs_cgroups
from tests.scenarios.support import eventually
from tests.scenarios.test_watch_tells_what_happens import Watching

pytestmark = needs_cgroups


@pytest.fixture
def point() -> Iterator[RelayPlace]:
    with relay("--lease-ttl", str(TTL)) as made:
        yield made


@pytest.fixture
def here(point: RelayPlace) -> Iterator[Place]:
    with places(1) as (made,):
        made.up(point.url)
        yield made


def test_a_relay_that_does_not_answer_fences_and_its_answer_lets_go_on(
    point: RelayPlace, here: Place, tmp_path: Path
) -> None:
    web = Ticking(here, tmp_path)
    with here.inhabited():
        watching = Watching(tmp_path, "web")
    watching.told("session.seen", name="web")

    point.process.send_signal(signal.SIGSTOP)
    web.fenced()

    watching.told("session.fenced", name="web")
    watching.program.kill()
    watching.program.wait()
    eventually("it is said", lambda: web.is_state("fenced"))
    assert web.facts()["fenced"] == "its relay does not answer"
    assert "fenced" in here.do("ls")
    assert here.do("state", "web").startswith("fenced")
    refused = here.run("send", "web", "x")
    assert refused.returncode == 75
    assert "is fenced" in refused.stderr
    assert here.run("thaw", "web").returncode == 75
    listed = here.run("leases")
    assert listed.returncode == 1
    assert "does not answer" in listed.stdout
    assert not web.runs

    point.process.send_signal(signal.SIGCONT)
    eventually("it goes on", lambda: web.runs)
    eventually("it is said", lambda: web.is_state("running"))
    assert here.do("leases").splitlines()[1].split()[3].isdecimal()
    log = here.do("log", "web")
    assert "lease expired" in log
    assert "lease was granted again" in log


def test_a_fenced_session_is_ended_where_it_stands(
    point: RelayPlace, here: Place, tmp_path: Path
) -> None:
    web = Ticking(here, tmp_path)
    point.process.send_signal(signal.SIGSTOP)
    web.fenced()
    last = web.last

    here.do("end", "web")

    assert web.last == last, "it ran once more"
    point.process.send_signal(signal.SIGCONT)


def test_a_host_that_is_stopped_makes_no_difference(
    point: RelayPlace, tmp_path: Path
) -> None:
    with places(1) as (here,), host_at_terminal(here, point.url) as host:
        web = Ticking(here, tmp_path)

        host.send_signal(signal.SIGSTOP)
        web.fenced()

        host.send_signal(signal.SIGCONT)
        eventually("it goes on", lambda: web.runs)


def test_with_host_and_holder_stopped_the_keeper_fences(
    point: RelayPlace, tmp_path: Path
) -> None:
    with places(1) as (here,), host_at_terminal(here, point.url) as host:
        web = Ticking(here, tmp_path)
        host.send_signal(signal.SIGSTOP)
        web.stop_before_expiry()

        web.fenced()

        host.send_signal(signal.SIGCONT)
        eventually("it goes on, with another holder", lambda: web.runs)


def test_a_host_that_is_killed_is_followed_by_one_that_renews(
    here: Place, tmp_path: Path
) -> None:
    web = Ticking(here, tmp_path)
    before = web.facts()["expires"]

    here.kill_host()

    eventually("another renews", lambda: web.facts()["expires"] > before + TTL / 2)
    assert web.runs


def test_a_holder_that_is_stopped_is_fenced_by_the_keeper(
    point: RelayPlace, here: Place, tmp_path: Path
) -> None:
    web = Ticking(here, tmp_path)
    point.process.send_signal(signal.SIGSTOP)
    web.stop_before_expiry()

    web.fenced()

    point.process.send_signal(signal.SIGCONT)
    eventually("it goes on, with another holder", lambda: web.runs)
    assert web.is_state("running")


def test_a_relay_that_comes_back_in_time_is_not_noticed(
    point: RelayPlace, here: Place, tmp_path: Path
) -> None:
    web = Ticking(here, tmp_path)
    before = web.facts()["expires"]
    point.kill()

    point.start()

    eventually("it is renewed", lambda: web.facts()["expires"] > before + TTL / 2)
    assert web.runs
    assert "lease expired" not in here.do("log", "web")


def test_a_relay_that_has_lost_its_store_believes_who_speaks(
    point: RelayPlace, here: Place, tmp_path: Path
) -> None:
    web = Ticking(here, tmp_path)
    before = web.facts()["expires"]
    point.kill()
    for path in Path(point.folder).glob("leases*"):
        path.unlink()

    point.start()

    eventually("it is renewed", lambda: web.facts()["expires"] > before + TTL / 2)
    assert web.runs
    assert "lease expired" not in here.do("log", "web")


def test_a_session_that_has_ended_gives_its_lease_back(
    here: Place, tmp_path: Path
) -> None:
    Ticking(here, tmp_path)

    here.do("end", "web")

    eventually("it is given back", lambda: here.status()["lease_count"] == 0)
