"""Whoever is killed while a session falls asleep, dozes or wakes: nothing is lost.

A kill is aimed by stopping a process first: whatever it is told then lies before it,
and it dies having seen nothing of it. Holders on their way are met by a sweep.
"""

import contextlib
import itertools
import os
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.dozing import SOON, dozes, dozing_machine, fall_asleep, leave
from tests.scenarios.killing import kill
from tests.scenarios.support import PATIENCE, Machine, eventually

from holdfast.linux.stored import places
from holdfast.wire import messages as wire
from holdfast.wire.codec import encode
from holdfast.wire.versions import SPOKEN

OURS = {"keeper": "pid", "nursery": "nursery", "trustee": "trustee", "dozer": "dozer"}

ALONE_AND_IN_PAIRS = [
    *((one,) for one in OURS),
    *itertools.combinations(OURS, 2),
]

REQUESTED = 0.6
"""Seconds in which a holder has asked whether its session may doze. It waits for the
answer for a second."""

SWEEP = (0.0, 0.004, 0.009, 0.015)
"""Seconds from the fork of the holder that is woken to its kill. They are few: a
session that is woken at once waits twice as long before it dozes again."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with dozing_machine() as made:
        fall_asleep(made, made.new("sleep", "600"))  # So that there is a dozer.
        yield made


class Talker:
    """A session that prints what it is told through a pipe, and ends when told."""

    def __init__(self, here: Machine, folder: Path) -> None:
        self._here = here
        self._pipe = folder / "go"
        os.mkfifo(self._pipe)
        script = (
            f'exec 3<>{self._pipe}; while read x <&3; do [ "$x" = end ] && exit 7;'
            ' echo "got-$x-by-$$."; done'
        )
        self.session = here.new("sh", "-c", script)
        self.leader = here.pid("leader", self.session)
        self._said: list[str] = []

    def say(self, word: str) -> None:
        """Have it print a word."""
        self._pipe.write_text(f"{word}\n")
        self._said.append(word)

    def end(self) -> None:
        """Have it end with status 7."""
        self._pipe.write_text("end\n")

    def demand_all(self) -> None:
        """Do nothing if it lives, and everything was printed once and is there."""
        client = self._here.join(self.session)
        expected = [f"got-{word}-by-{self.leader}.".encode() for word in self._said]
        if expected:
            client.wait_output(expected[-1])
        assert (client.gone, client.output.split()) == (0, expected)
        client.close()
        assert not witness.is_dead(self.leader)


@pytest.fixture
def talker(here: Machine, tmp_path: Path) -> Talker:
    return Talker(here, tmp_path)


def victims(here: Machine, names: Sequence[str]) -> list[int]:
    """Return who is to be killed, once all of them are there."""

    def all_there() -> dict[str, int] | None:
        status = here.ask(do="status")
        every = {name: int(str(status[key])) for name, key in OURS.items()}
        is_whole = not any(pid == 0 or witness.is_dead(pid) for pid in every.values())
        return every if is_whole else None

    every = eventually("everybody is there", all_there)
    return [every[name] for name in names]


def stop(pids: Sequence[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)


def kill_all(pids: Sequence[int]) -> None:
    for pid in pids:
        kill(pid)


def ids(names: Sequence[str]) -> str:
    return "+".join(names)


@pytest.mark.parametrize("names", ALONE_AND_IN_PAIRS, ids=ids)
def test_while_it_dozes(here: Machine, talker: Talker, names: Sequence[str]) -> None:
    fall_asleep(here, talker.session)

    kill_all(victims(here, names))
    fall_asleep(here, talker.session)
    talker.say("after")

    talker.demand_all()
    witness.all_is_tidy(here)


@pytest.mark.parametrize("names", ALONE_AND_IN_PAIRS, ids=ids)
def test_while_something_wakes_it(
    here: Machine, talker: Talker, names: Sequence[str]
) -> None:
    for word in ("one", "two"):
        fall_asleep(here, talker.session)
        found = victims(here, names)
        stop(found)
        talker.say(word)
        time.sleep(0.02)
        kill_all(found)

        talker.demand_all()

    witness.all_is_tidy(here)


@pytest.mark.parametrize("names", ALONE_AND_IN_PAIRS, ids=ids)
def test_while_somebody_connects(
    here: Machine, talker: Talker, names: Sequence[str]
) -> None:
    talker.say("before")
    fall_asleep(here, talker.session)
    found = victims(here, names)
    stop(found)
    # The connection waits in the queue of a socket that others have open.
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(places.session_socket(talker.session)))
        link.sendall(encode(wire.Hello(SPOKEN, "test", "cli")))
        kill_all(found)

        link.settimeout(PATIENCE)
        assert link.recv(1000), "nobody answers whoever connected before the kill"

    talker.demand_all()
    witness.all_is_tidy(here)


@pytest.mark.parametrize("names", ALONE_AND_IN_PAIRS, ids=ids)
def test_while_its_leader_ends(
    here: Machine, talker: Talker, names: Sequence[str]
) -> None:
    talker.say("last words")
    fall_asleep(here, talker.session)
    found = victims(here, names)
    stop(found)
    talker.end()
    time.sleep(0.02)
    kill_all(found)

    eventually(
        "its status is known",
        lambda: (here.facts(talker.session) or {}).get("exit") == 7,
    )
    assert b"last words" in here.join(talker.session).wait_output(b".")


@pytest.mark.parametrize("names", ALONE_AND_IN_PAIRS, ids=ids)
def test_while_it_falls_asleep(
    here: Machine, talker: Talker, names: Sequence[str]
) -> None:
    talker.say("before")
    talker.demand_all()
    found = victims(here, names)

    stop(found)
    time.sleep(REQUESTED)
    kill_all(found)

    talker.say("after")
    talker.demand_all()
    fall_asleep(here, talker.session)
    witness.all_is_tidy(here)


WITH_A_HOLDER = [("holder",), *(("holder", one) for one in OURS)]


@pytest.mark.parametrize("names", WITH_A_HOLDER, ids=ids)
def test_a_holder_killed_between_the_grant_and_its_end(
    here: Machine, talker: Talker, names: Sequence[str]
) -> None:
    keeper = victims(here, ["keeper"])
    others = victims(here, [name for name in names if name != "holder"])
    holder = here.pid("holder", talker.session)
    stop(keeper)
    time.sleep(REQUESTED)  # The request lies before the keeper.
    stop([holder])
    os.kill(keeper[0], signal.SIGCONT)
    eventually("it is granted", lambda: (here.facts(talker.session) or {})["dozing"])
    kill_all([holder, *others])

    talker.say("after")
    talker.demand_all()
    witness.all_is_tidy(here)


def newborn(nursery: int, before: set[int]) -> set[int]:
    return witness.children(nursery) - before


@pytest.mark.parametrize("name", ["", *OURS])
def test_a_holder_killed_on_its_way(here: Machine, talker: Talker, name: str) -> None:
    for number, moment in enumerate(SWEEP):
        fall_asleep(here, talker.session)
        others = victims(here, [name] if name else [])
        nursery = victims(here, ["nursery"])[0]
        before = witness.children(nursery)
        talker.say(f"word-{number}")
        born = eventually("a holder is forked", partial(newborn, nursery, before))
        time.sleep(moment)
        kill_all([*born, *others])

    talker.demand_all()
    witness.all_is_tidy(here)


def test_what_is_stopped_is_replaced_and_the_session_wakes(
    here: Machine, talker: Talker
) -> None:
    fall_asleep(here, talker.session)
    dozer = victims(here, ["dozer"])[0]

    os.kill(dozer, signal.SIGSTOP)
    talker.say("late")

    eventually("it is replaced", lambda: witness.is_dead(dozer))
    talker.demand_all()


def test_an_input_acknowledged_just_before_it_dozed_is_known_after(
    here: Machine,
) -> None:
    session = here.new("cat")
    client = here.join(session)
    client.submit(b"once\r")
    answer = client.settle_through_cuts()
    sent = client.number
    leave(client)
    fall_asleep(here, session)
    kill_all(victims(here, ["keeper", "dozer"]))

    client.number = sent - 1  # The same input again, as after a lost answer.
    client.attach()
    client.submit(b"once\r")
    again = client.settle_through_cuts()

    assert getattr(again, "index", None) == getattr(answer, "index", 0)
    time.sleep(SOON)
    assert client.output.count(b"once") == 2  # Echoed and read, once each.
    assert not dozes(here, session)
