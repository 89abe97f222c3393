"""A session that nobody uses has no process of ours, and loses nothing by it."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.dozing import (
    SOON,
    dozes,
    dozing_machine,
    fall_asleep,
    leave,
    said,
    set_to,
    typed,
)
from tests.scenarios.shells import run, shell
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import calls, keeper
from holdfast.core.book.logbook import Entry, EntryKind, read_entries
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

MOMENT = 4 * SOON
"""Seconds in which a session would have dozed, if it could."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with dozing_machine() as made:
        yield made


def has_open(pid: int, what: str) -> bool:
    return what in " ".join(witness.descriptors(pid))


def entries(session: SessionId) -> list[Entry]:
    lines = places.session_log(session).read_bytes().splitlines()
    return [*read_entries(lines, session)]


# ── falling asleep ────────────────────────────────────────────────────────


def test_a_session_that_dozes_has_no_process_but_its_own(here: Machine) -> None:
    session = here.new("sleep", "600")
    holder, leader = here.pid("holder", session), here.pid("leader", session)

    fall_asleep(here, session)

    eventually("its holder has ended", partial(witness.is_dead, holder))
    assert not witness.is_dead(leader)
    status = here.ask(do="status")
    assert status["dozing"] == 1
    assert witness.grip(session, int(str(status["dozer"]))) == 0


def test_keeper_trustee_and_dozer_have_all_that_it_needs(here: Machine) -> None:
    session = here.new("sleep", "600")
    fall_asleep(here, session)
    status = here.ask(do="status")

    for one in ("pid", "trustee", "dozer"):
        pid = int(str(status[one]))
        for what in (f"/memfd:{session}", "/memfd:left", "pidfd", "/dev/p"):
            # What is on its way to one of them is in its socket, where none is listed.
            eventually(f"{one} has {what}", partial(has_open, pid, what))


def test_who_watches_keeps_it_awake(here: Machine) -> None:
    session = here.new("sleep", "600")
    client = here.join(session)
    time.sleep(MOMENT)
    assert not dozes(here, session)

    client.close()

    fall_asleep(here, session)


def test_whoever_has_the_turn_keeps_it_awake(here: Machine) -> None:
    session = here.new("cat")
    client = here.join(session)
    client.enter(b"mine\r")
    client.close()  # The turn stays for a while, for whoever lost their link.
    time.sleep(MOMENT)
    assert not dozes(here, session)

    again = here.join(session)
    leave(again)

    fall_asleep(here, session)


def test_what_is_frozen_does_not_doze(here: Machine) -> None:
    session = here.new("sleep", "600")
    client = here.join(session)
    assert client.request(wire.Freeze()) is None
    leave(client)
    time.sleep(MOMENT)
    assert not dozes(here, session)

    client.attach()
    assert client.request(wire.Thaw()) is None
    leave(client)

    fall_asleep(here, session)


def test_what_listens_keeps_it_awake_until_its_end_was_told(here: Machine) -> None:
    server = "import socket; s = socket.create_server(('127.0.0.1', 0)); s.accept()"
    listens = f'{sys.executable} -c "{server}" & echo pid $!.; wait; sleep 600'
    session = here.new("sh", "-c", listens)
    client = here.join(session)
    pid = int(client.wait_output(b".").split()[1].rstrip(b"."))
    client.close()
    eventually("it listens", lambda: _listens(pid))
    time.sleep(MOMENT)
    assert not dozes(here, session)

    os.kill(pid, signal.SIGKILL)

    fall_asleep(here, session)
    assert EntryKind.UNBOUND in {one.kind for one in entries(session)}


def _listens(pid: int) -> bool:
    return any("socket" in one for one in witness.descriptors(pid))


def test_with_never_nothing_dozes() -> None:
    with set_to("never"), machine() as here:
        session = here.new("sleep", "600")
        time.sleep(MOMENT)

        assert not dozes(here, session)
        assert here.ask(do="status")["dozer"] == 0


# ── waking ────────────────────────────────────────────────────────────────


def test_whoever_attaches_wakes_it_and_finds_it_as_it_was(here: Machine) -> None:
    session = here.new("bash", "--norc", "--noprofile")
    typed(here, session, b"X=42\r", b"X=42")
    leader = here.pid("leader", session)

    for number in range(3):
        fall_asleep(here, session)
        typed(here, session, b"echo %d-$X.\r" % number, b"%d-42." % number)

    assert here.pid("leader", session) == leader


def test_the_first_byte_wakes_it_and_none_is_lost(
    here: Machine, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    lines = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo line-$i; done"
    session = here.new("sh", "-c", f"read x <{go}; {lines}; echo end.; sleep 600")
    fall_asleep(here, session)

    go.write_text("now\n")
    eventually("it wakes", lambda: not dozes(here, session))
    fall_asleep(here, session)

    client = here.join(session)
    client.wait_output(b"end.")
    expected = [f"line-{n}".encode() for n in range(1, 5001)] + [b"end."]
    assert (client.gone, client.output.split()) == (0, expected)


def test_its_leader_s_end_wakes_it_and_the_status_is_kept(
    here: Machine, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    session = here.new("sh", "-c", f"read x <{go}; exit 7")
    fall_asleep(here, session)

    go.write_text("now\n")

    eventually("it is over", lambda: (here.facts(session) or {}).get("exit") == 7)
    eventually("it is in the book", lambda: _ends(session) == ["7"])


def _ends(session: SessionId) -> list[str]:
    exits = [one for one in entries(session) if one.kind is EntryKind.EXITED]
    return [str(one.fields["how"]) for one in exits]


def test_what_has_ended_dozes_too_and_shows_its_output(here: Machine) -> None:
    session = here.new("sh", "-c", "echo the last words; exit 3")
    eventually("it is over", lambda: (here.facts(session) or {}).get("exit") == 3)

    fall_asleep(here, session)

    facts = here.facts(session)
    assert facts is not None
    assert facts["state"] == "exited"
    client = here.join(session)
    client.wait_output(b"the last words")
    assert client.wait(wire.Exited).status == 3


def test_a_list_wakes_nobody(here: Machine) -> None:
    sessions = [here.new("sleep", "600") for _ in range(3)]
    fall_asleep(here, *sessions)

    shown = said("ls")
    listed = keeper.sessions()

    assert shown.count("dozing") == 3
    assert [one.dozing for one in listed] == [True] * 3
    assert [one.state for one in listed] == ["running"] * 3
    assert "3 dozing" in said("status")
    time.sleep(SOON / 2)
    assert all(dozes(here, session) for session in sessions)


def test_the_logbook_has_nothing_of_it(here: Machine) -> None:
    session = here.new("cat")
    fall_asleep(here, session)
    before = places.session_log(session).read_bytes()

    calls.state(session)  # Whoever asks wakes it.
    fall_asleep(here, session)

    assert places.session_log(session).read_bytes() == before


def test_somebody_who_only_asks_wakes_it_for_a_moment(here: Machine) -> None:
    session = here.new("cat")
    fall_asleep(here, session)

    found = calls.state(session)

    assert found.state == "waiting-for-input"
    fall_asleep(here, session)


def test_names_keeps_and_ends_reach_a_session_that_dozes(here: Machine) -> None:
    session = here.new("sleep", "600")
    fall_asleep(here, session)
    assert here.ask(do="rename", id=session, name="sleepy")["ok"]
    fall_asleep(here, session)
    assert here.ask(do="keep", id=session, keep=True)["ok"]
    fall_asleep(here, session)
    facts = here.facts(session)
    assert facts is not None
    assert (facts["name"], facts["keep"]) == ("sleepy", True)

    said("end", "sleepy")

    eventually("it is over", lambda: _ends(session) == ["-1"])


def test_a_session_that_dozes_can_be_forgotten(here: Machine) -> None:
    session = here.new("sleep", "600")
    fall_asleep(here, session)

    assert here.ask(do="forget", id=session)["ok"]

    assert here.facts(session) is None
    assert not places.session_socket(session).exists()
    eventually(
        "nobody has anything of it",
        lambda: (
            not any(
                session in one
                for what in ("pid", "trustee", "dozer")
                for one in witness.descriptors(int(str(here.ask(do="status")[what])))
            )
        ),
    )


def test_a_session_that_prints_now_and_then_stays_awake(here: Machine) -> None:
    pause = SOON * 1.5
    script = f"while :; do echo x; sleep {pause}; done"
    session = here.new("sh", "-c", script)
    holders: set[int] = set()
    deadline = time.monotonic() + 20 * pause

    while time.monotonic() < deadline:
        facts = here.facts(session)
        assert facts is not None
        holders.add(int(str(facts["holder"])))
        time.sleep(pause / 4)

    assert len(holders) <= 3


# ── the shell's word, and the screen ──────────────────────────────────────


def test_the_shell_s_state_is_known_when_it_wakes(
    here: Machine, tmp_path: Path
) -> None:
    session = shell(here, tmp_path)
    run(session, "alias dep='echo deployed'")
    fall_asleep(here, session)

    done = run(session, "dep")

    assert b"deployed" in done.output
    changed = [one for one in entries(session) if one.kind is EntryKind.CHANGED]
    assert not any("lost" in str(one.fields) for one in changed)


def test_what_the_shell_says_meanwhile_is_not_lost(
    here: Machine, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    session = shell(here, tmp_path)
    client = here.join(session)
    client.enter(f"read LATER <{go}\r".encode())
    leave(client)
    fall_asleep(here, session)
    holder = here.pid("holder", session)

    go.write_text("said-asleep\n")

    eventually("it wakes", lambda: here.pid("holder", session) != holder)
    eventually("it is told", lambda: _is_told(session, "+", "LATER"))


def _is_told(session: SessionId, sign: str, name: str) -> bool:
    told = [
        str(entry.fields["changes"]).splitlines()
        for entry in entries(session)
        if entry.kind is EntryKind.CHANGED
    ]
    found = [one for entry in told for one in entry]
    return any(one[:1] == sign and one.endswith(f" {name}") for one in found)


def test_a_command_can_be_run_at_once_after_waking(
    here: Machine, tmp_path: Path
) -> None:
    session = shell(here, tmp_path)
    client = here.join(session)
    client.enter(b"nothing of this\x03")  # The book does not tell that it is gone.
    leave(client)
    fall_asleep(here, session)

    assert run(session, "echo here").output.strip() == b"here"


def test_a_picture_from_before_the_window_survives(
    here: Machine, tmp_path: Path
) -> None:
    # The title is printed once, and rolls out of the window of a megabyte.
    go = tmp_path / "go"
    os.mkfifo(go)
    lines = (
        "i=0; while [ $i -lt 8000 ]; do i=$((i+1)); "
        "[ $((i % 1000)) = 0 ] && sleep 0.1; printf '\\033[5;1H%060d' $i; done; "
    )
    script = f"printf '\\033[2J\\033[Htitle of it all'; {lines} read x <{go}; "
    script += f"{lines} {lines} echo; echo drawn.; sleep 600"
    session = here.new("sh", "-c", script)
    eventually("half is drawn", lambda: "00008000" in said("screen", session))
    go.write_text("now\n")
    client = here.join(session)
    client.wait_output(b"drawn.")
    client.close()
    assert "title of it all" in said("screen", session)
    fall_asleep(here, session)

    assert "title of it all" in said("screen", session)
