"""Whichever two of our processes die in the same moment, the sessions live on."""

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest
from tests.scenarios import witness
from tests.scenarios.gated import gated
from tests.scenarios.support import OURS, Client, Machine, eventually, machine

from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

ROUNDS = 2

PAIRS = [
    ("keeper", "holder"),
    ("holder", "keeper"),
    ("keeper", "nursery"),
    ("nursery", "holder"),
    ("keeper", "trustee"),
    ("trustee", "holder"),
    ("nursery", "trustee"),
]


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def shell(here: Machine) -> tuple[SessionId, Client]:
    session = here.new("bash", "--norc", "--noprofile")
    client = here.join(session)
    client.enter(b"X=42\r")
    return session, client


def victims(here: Machine, names: tuple[str, ...], session: SessionId) -> list[int]:
    """Return who is to be killed, once everybody is there."""

    def all_there() -> list[int] | None:
        here.wait_whole(session)
        every = [here.pid(one, session) for one in (*OURS, "holder")]
        if any(witness.is_dead(pid) for pid in every):
            return None
        return [here.pid(one, session) for one in names]

    return eventually("everybody is there", all_there)


def kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def assert_alive(client: Client, word: bytes) -> None:
    client.enter(b"echo %s-$X.\r" % word)
    client.wait_output(b"%s-42." % word)


@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_a_shell_keeps_its_variables_whichever_two_are_killed_at_once(
    here: Machine, pair: tuple[str, str]
) -> None:
    session, client = shell(here)
    leader = here.pid("leader", session)

    for number in range(ROUNDS):
        kill(*victims(here, pair, session))
        assert_alive(client, b"round-%d" % number)

    here.wait_whole(session)
    assert here.pid("leader", session) == leader
    witness.all_is_tidy(here)


def test_an_exec_gate_outlives_keeper_and_holder(here: Machine) -> None:
    session = gated(here)
    client = here.join(session)
    client.enter(b"X=42\r")

    kill(*victims(here, ("keeper", "holder"), session))

    client.enter(b"env echo executed-$X.\r")
    client.wait_output(b"executed-42.")


def test_a_keeper_that_could_do_nothing_about_its_holder_s_death_costs_nothing(
    here: Machine,
) -> None:
    session, client = shell(here)
    others = [here.new("sleep", "600") for _ in range(5)]
    made = [session, *others]
    leaders = [here.pid("leader", one) for one in made]
    holders = [here.pid("holder", one) for one in made]
    keeper = here.pid("keeper")

    os.kill(keeper, signal.SIGSTOP)
    kill(*holders, keeper)

    assert_alive(client, b"still")
    for one in made:
        here.wait_whole(one)
    assert [here.pid("leader", one) for one in made] == leaders
    witness.all_is_tidy(here)


def test_what_a_session_is_called_and_how_it_ended_outlive_keeper_and_holder(
    here: Machine,
) -> None:
    session, _ = shell(here)
    ended = here.new("sh", "-c", "exit 7")
    eventually("it has ended", lambda: (here.facts(ended) or {}).get("exit") == 7)
    here.ask(do="rename", id=session, name="called-later")
    holders = [here.pid("holder", one) for one in (session, ended)]

    kill(*holders, *victims(here, ("keeper",), session))

    eventually("it is there", lambda: here.facts(session))
    facts = here.facts(session)
    assert facts is not None
    assert facts["name"] == "called-later"
    known = eventually("the ended one", lambda: here.facts(ended))
    assert (known["exit"], known["state"]) == (7, "exited")


def test_a_trustee_that_stands_still_delays_nobody_and_is_told_later(
    here: Machine,
) -> None:
    session, client = shell(here)
    trustee = here.pid("trustee")

    os.kill(trustee, signal.SIGSTOP)
    for number in range(400):  # More than the socket between them takes.
        here.ask(do="rename", id=session, name=f"name-{number}")
    late, later = shell(here)
    with contextlib.suppress(ProcessLookupError):  # A slow machine has replaced it.
        os.kill(trustee, signal.SIGCONT)
    eventually("one has both", lambda: terminals(here.pid("trustee")) == 2)
    kill(*(here.pid("holder", one) for one in (session, late)), here.pid("keeper"))

    assert_alive(later, b"late")
    assert_alive(client, b"early")
    facts = here.facts(session)
    assert facts is not None
    assert facts["name"] == "name-399"


def test_a_holder_that_stands_still_is_replaced_by_the_next_keeper(
    here: Machine,
) -> None:
    session, client = shell(here)
    leader, holder = here.pid("leader", session), here.pid("holder", session)

    os.kill(holder, signal.SIGSTOP)
    kill(here.pid("keeper"))

    assert_alive(client, b"still")
    assert here.pid("leader", session) == leader
    eventually("the first holder is gone", lambda: witness.is_dead(holder))


def test_the_kernel_knows_the_one_holder_of_a_session(here: Machine) -> None:
    session, _ = shell(here)
    keeper, first = here.pid("keeper"), here.pid("holder", session)
    assert witness.grip(session, keeper) == first

    here.replace_holder(session)

    second = here.pid("holder", session)
    assert second != first
    assert witness.grip(session, keeper) == second


def test_a_forgotten_session_is_let_go_of_by_everybody(here: Machine) -> None:
    session, _ = shell(here)
    trustee = here.pid("trustee")
    assert terminals(trustee) == 1

    witness.end(here, session)

    eventually("the trustee has let go", lambda: not terminals(trustee))


def test_the_trustee_has_deposits_and_nothing_else_of_the_keeper_s(
    here: Machine,
) -> None:
    shell(here)
    first = here.pid("trustee")
    kill(first)

    trustee = eventually("another trustee", lambda: other_than(first, here))

    eventually("it has the deposit", lambda: terminals(trustee) == 1)
    eventually("and no more", lambda: len(witness.descriptors(trustee)) == 3 + 1 + 4)
    assert not any("keeper.lock" in one for one in witness.descriptors(trustee))


def test_a_keeper_that_is_told_to_end_is_not_started_again(here: Machine) -> None:
    _, client = shell(here)
    trustee, keeper = here.pid("trustee"), here.pid("keeper")

    here.ask(do="down")

    eventually("both are gone", lambda: all(map(witness.is_dead, (trustee, keeper))))
    with pytest.raises(OSError, match=r"refused|No such file"):
        packets.connect(places.keeper_socket(), 1)
    assert_alive(client, b"resting")


def other_than(first: int, here: Machine) -> int | None:
    found = here.pid("trustee")
    return None if found == first else found


def terminals(pid: int) -> int:
    """Return how many terminals a process has its hands on."""
    return sum("ptmx" in one for one in witness.descriptors(pid))
