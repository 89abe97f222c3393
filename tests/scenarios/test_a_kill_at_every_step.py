"""Whoever is killed in the midst of whatever: nothing is lost, doubled or half-made."""

import contextlib
import functools
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.killing import (
    OURS,
    STOPPED,
    asked,
    kill,
    kill_amid,
    moments,
    reader,
    sessions,
    start,
    victim_of,
)
from tests.scenarios.support import PATIENCE, Client, Machine, eventually, machine

from holdfast.linux import packets
from holdfast.linux.process_start import ensure_keeper
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

BIRTH = (STOPPED, *(step / 1000 for step in range(0, 16, 2)))
"""Seconds from a creation to the kill: it takes longer than anything else."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        try:
            yield made
        finally:
            witness.end_marked()


# ── create ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("victim", ["keeper", "nursery", "newborn", "client"])
def test_a_creation_is_whole_or_has_not_happened(here: Machine, victim: str) -> None:
    bystander = start(here, "sleep", "600")
    leader = here.pid("leader", bystander)
    # Hanging up does not end this one: whoever makes it half has to end it.
    command = ("sh", "-c", "trap '' HUP; sleep 600; :")

    for number, moment in enumerate(BIRTH):
        name = f"born-{number}"
        answer = create_amid(here, victim, moment, asked(*command, name=name))
        eventually("there is a keeper", lambda: here.ask(do="status"))
        here.wait_whole(bystander)
        witness.all_is_tidy(here)
        made = [one for one in sessions(here) if one["name"] == name]
        assert len(made) <= 1
        if answer is not None and answer["ok"]:
            assert [one["id"] for one in made] == [answer["id"]]
        for one in made:
            assert client_reaches(here, SessionId(str(one["id"])))
            witness.end(here, SessionId(str(one["id"])))

    assert here.pid("leader", bystander) == leader
    witness.all_is_tidy(here)


def create_amid(
    here: Machine, victim: str, moment: float | None, ask: dict[str, object]
) -> packets.Packet | None:
    nursery = here.pid("nursery")
    before = witness.children(nursery)
    with packets.connect(places.keeper_socket(), PATIENCE) as link:
        if victim == "newborn":
            packets.send(link, ask)
            born = eventually(
                "a holder is forked", lambda: witness.children(nursery) - before
            )
            kill_amid(born.pop(), moment or 0.0, lambda: None)
        elif victim == "client":
            packets.send(link, ask)
            time.sleep(moment or 0.0)
            return None
        else:
            pid = here.pid(victim)
            kill_amid(pid, moment, packets.send, link, ask)
        with contextlib.suppress(ConnectionError):
            heard = packets.receive(link)
            return heard[0] if heard else None
    return None


def client_reaches(here: Machine, session: SessionId) -> bool:
    client = here.join(session)
    client.close()
    return True


# ── attach ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("victim", OURS)
def test_an_attach_gets_through_with_the_whole_stream(
    here: Machine, tmp_path: Path, victim: str
) -> None:
    session, _ = reader(here, tmp_path)
    leader = here.pid("leader", session)

    for moment in moments(victim):
        pid = victim_of(here, victim, session)
        if moment is STOPPED:
            os.kill(pid, signal.SIGSTOP)
        killing = threading.Timer(moment or 0.05, kill, (pid,))
        killing.start()
        client = here.join(session)
        assert client.wait_output(b"ready") == b"ready\r\n"
        client.close()
        killing.join()

    here.wait_whole(session)
    assert here.pid("leader", session) == leader
    witness.all_is_tidy(here)


# ── end ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("victim", OURS)
def test_an_end_is_an_end_and_its_status_is_kept(here: Machine, victim: str) -> None:
    for moment in moments(victim):
        session = start(
            here, "sh", "-c", "trap 'exit 7' TERM; while :; do sleep 0.01; done"
        )
        client = here.join(session)
        pid = victim_of(here, victim, session)
        kill_amid(pid, moment, client.send, wire.End(15, leave=False))

        exited = client.through_cuts(
            lambda: None, functools.partial(again_until_ended, client)
        )
        assert exited.status in (7, -signal.SIGTERM), (victim, moment)
        wait_exit(here, session, exited.status)
        here.wait_whole(session)
        assert here.ask(do="forget", id=session)["ok"]
        client.close()

    witness.all_is_tidy(here)
    assert sessions(here) == []


def test_the_end_is_logged_once_however_many_holders_come(here: Machine) -> None:
    session = start(here, "sh", "-c", "exit 3")
    wait_exit(here, session, 3)

    for _ in range(3):
        here.replace_holder(session)

    here.join(session).close()
    log = places.session_log(session).read_text()
    assert log.count('"exited"') == 1


def again_until_ended(client: Client) -> wire.Exited:
    client.send(wire.End(15, leave=False))
    return client.wait(wire.Exited)


def wait_exit(here: Machine, session: SessionId, status: int) -> None:
    def is_known() -> bool:
        facts = here.facts(session)
        return facts is not None and facts["exit"] == status

    eventually(f"the keeper knows of {status}", is_known)


@pytest.mark.parametrize("victim", OURS)
def test_a_forgotten_session_does_not_come_back(here: Machine, victim: str) -> None:
    for moment in moments(victim):
        session = start(here, "true")
        wait_exit(here, session, 0)
        pid = victim_of(here, victim, session)
        with packets.connect(places.keeper_socket(), PATIENCE) as link:
            forget = {"do": "forget", "id": session}
            kill_amid(pid, moment, packets.send, link, forget)
            with contextlib.suppress(ConnectionError):
                packets.receive(link)

        forget_for_good(here, session)
        witness.all_is_tidy(here)
        assert sessions(here) == []


def test_a_successor_on_its_way_finds_that_it_was_forgotten(here: Machine) -> None:
    session = start(here, "true")
    wait_exit(here, session, 0)
    nursery, holder = here.pid("nursery"), here.pid("holder", session)
    os.kill(nursery, signal.SIGSTOP)
    kill(holder)
    eventually("a successor is asked for", lambda: not here.is_whole(session))

    assert here.ask(do="forget", id=session)["ok"]
    with contextlib.suppress(ProcessLookupError):  # It may have been replaced.
        os.kill(nursery, signal.SIGCONT)

    assert start(here, "true") != session  # Forked by the nursery after it.
    eventually("it is gone", lambda: session not in known(here))
    eventually("its holder is gone", lambda: not witness.disorder(here))


def test_a_holder_on_its_way_to_a_new_keeper_finds_that_too(here: Machine) -> None:
    session = start(here, "true")
    wait_exit(here, session, 0)
    holder = here.pid("holder", session)
    os.kill(holder, signal.SIGSTOP)
    kill(here.pid("keeper"))

    forget_for_good(here, session)
    os.kill(holder, signal.SIGCONT)

    eventually("its holder is gone", lambda: witness.is_dead(holder))
    witness.all_is_tidy(here)
    assert known(here) == set()


def known(here: Machine) -> set[str]:
    return {str(one["id"]) for one in sessions(here)}


def forget_for_good(here: Machine, session: SessionId) -> None:
    def is_forgotten() -> bool:
        ensure_keeper()  # Without any session there may be none.
        return bool(here.ask(do="forget", id=session)["ok"])

    eventually("it is forgotten", is_forgotten)


# ── while a program prints ────────────────────────────────────────────────

LINES = 20_000

PRINTER = (
    f"i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo line-$i; done;"
    ' until [ -e "$0" ]; do sleep 0.01; done; echo end.; cat'
)

PRINTED = b"".join(b"line-%d\r\n" % number for number in range(1, LINES + 1))

ONE_READ = 8 * 1024
"""Bytes that the death of a holder can take with it (docs/spec/keeper.md, 5): the
kernel hands over about 4 KB at a time, and is not bound to."""

ANCHOR = 40
"""Bytes of the printed lines in which one stands whole, and so come only once."""


@pytest.mark.parametrize("victim", OURS)
def test_what_is_printed_comes_once_and_in_order(
    here: Machine, tmp_path: Path, victim: str
) -> None:
    session = start(here, "sh", "-c", PRINTER, str(tmp_path / "go"))
    client = here.join(session)

    kills = len(moments(victim))
    assert 2 * kills * ONE_READ < len(PRINTED)
    for count in range(kills):
        kill(victim_of(here, victim, session))
        client.wait_output(size=(count + 1) * ONE_READ)
    (tmp_path / "go").touch()
    client.wait_output(b"end.")

    assert client.gone == 0
    gaps = gaps_of(client.output.partition(b"end.")[0], PRINTED)
    assert len(gaps) <= (kills if victim == "holder" else 0)
    assert all(gap <= ONE_READ for gap in gaps)
    here.wait_whole(session)
    witness.all_is_tidy(here)


def gaps_of(found: bytes, whole: bytes) -> list[int]:
    """Return how much of `whole` is missing at each place where something is.

    What is not missing must be there once, in order, and nothing else with it.
    """
    gaps = []
    while found != whole:
        pairs = enumerate(zip(found, whole, strict=False))
        shorter = min(len(found), len(whole))
        came = next((at for at, (one, two) in pairs if one != two), shorter)
        found, whole = found[came:], whole[came:]
        gap = whole.find(found[:ANCHOR]) if found else len(whole)
        assert gap > 0, f"{found[:ANCHOR]!r} was not printed after what came before it"
        gaps.append(gap)
        whole = whole[gap:]
    return gaps
