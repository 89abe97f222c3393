"""Records that were forged, lives that nobody sees, and folders that are not ours."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

from tests.scenarios.leftovers import left_over
from tests.scenarios.losing import (
    a_machine,
    begun,
    holdfast,
    is_alive,
    lose,
    lost,
)
from tests.scenarios.starts import book
from tests.scenarios.support import Machine, eventually

from holdfast.core.book.logbook import EntryKind
from holdfast.linux import process_start
from holdfast.linux.stored import places, recovery_files, recovery_places
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId

__all__ = ["a_machine"]

PATIENT = "trap '' HUP; while :; do sleep 1; done"


def path_of(session: SessionId, kind: str) -> Path:
    return Path(recovery_places.path_of(session, kind))


def kill_all_of_ours_but(leader: int) -> None:
    """Kill every process of ours at once, and nothing that runs in the session."""
    found = left_over(os.environ["HOLDFAST_RUNTIME_DIR"], "HOLDFAST_RUNTIME_DIR")
    ours = [
        one
        for one in found
        if one != leader and b"holdfast" in Path(f"/proc/{one}/cmdline").read_bytes()
    ]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in ours:
            with contextlib.suppress(OSError):
                os.kill(one, number)
    eventually("they are gone", lambda: not any(map(is_alive, ours)))


def test_a_life_whose_begin_was_not_noted_is_a_life(here: Machine) -> None:
    session = begun(here, "sh", "-c", PATIENT)
    lose(session)
    facts = path_of(session, recovery_places.FACTS)
    first = facts.read_bytes()
    assert holdfast("recover", "--json", "web").returncode == 0
    here.wait_whole(session)
    eventually("it is noted", lambda: facts.read_bytes() != first)
    leader = here.pid("leader", session)
    kill_all_of_ours_but(leader)
    # As it is if everything was killed between the command's begin and the note of it.
    facts.rename(path_of(session, recovery_places.NEXT))
    facts.write_bytes(first)
    process_start.ensure_keeper()

    assert lost()[session]["recoverable"] is False
    done = holdfast("recover", "--json", "web")

    assert done.returncode == 64
    assert f"process {leader}" in done.stderr
    assert is_alive(leader)
    os.kill(leader, signal.SIGKILL)
    eventually("it is gone", lambda: not is_alive(leader))
    assert holdfast("recover", "--json", "web").returncode == 0
    lives = [
        one.incarnation for one in book(session) if one.kind is EntryKind.RECOVERED
    ]
    assert lives == [2, 3]


def test_a_holder_that_dies_at_once_leaves_nothing_unrecorded(here: Machine) -> None:
    words = ("new", "--detach", "--json", "-n", "web", "--", "cat")
    done = holdfast(*words, MINE="one")
    assert done.returncode == 0, done.stderr
    session = SessionId(json.loads(done.stdout)["id"])
    os.kill(here.pid("holder", session), signal.SIGKILL)
    path_of(session, recovery_places.FACTS).unlink(missing_ok=True)

    def kept() -> bool:
        with contextlib.suppress(OSError, HoldfastError):
            found = recovery_files.facts_of(session)
            return found.environment is not None and found.environment["MINE"] == "one"
        return False

    eventually("its successor has kept it", kept)


def test_variables_that_are_no_text_come_back_as_they_were(here: Machine) -> None:
    odd = os.fsdecode(b"\xff\xfe")
    session = begun(here, "sh", "-c", "exec sleep 600", MINE=odd)
    lose(session)

    done = holdfast("recover", "--json", "web")

    assert done.returncode == 0, done.stderr
    environ = Path(f"/proc/{here.pid('leader', session)}/environ")
    eventually("it runs", lambda: b"MINE=\xff\xfe\0" in environ.read_bytes())


def test_a_record_without_end_is_not_read_to_its_end(here: Machine) -> None:
    session = begun(here, "sleep", "600")
    lose(session)
    for kind in (recovery_places.FACTS, *recovery_places.TAILS):
        with path_of(session, kind).open("wb") as file:
            file.truncate(1 << 40)

    began = time.monotonic()
    told = lost()[session]

    assert told["recoverable"] is False
    assert time.monotonic() - began < 20
    assert holdfast("recover", "--json", "web").returncode == 64


def test_a_folder_that_is_not_ours_alone_is_not_used(here: Machine) -> None:
    session = begun(here, "sleep", "600")
    lose(session)
    folder = Path(recovery_places.folder())
    folder.chmod(0o777)
    assert holdfast("recover", "--json", "web").returncode == 64
    other = begun_elsewhere(here)

    assert other != session
    folder.chmod(0o700)
    assert holdfast("recover", "--json", "web").returncode == 0


def begun_elsewhere(here: Machine) -> SessionId:
    """Start a session whose records have no place: it lives all the same."""
    done = holdfast("new", "--detach", "--json", "-n", "other", "--", "cat")
    assert done.returncode == 0, done.stderr
    session = SessionId(json.loads(done.stdout)["id"])
    here.wait_whole(session)
    assert places.session_log(session).exists()
    return session


def test_one_that_is_frozen_with_its_holder_is_not_begun_twice(here: Machine) -> None:
    session = begun(here, "sh", "-c", PATIENT)
    leader = here.pid("leader", session)
    found = left_over(os.environ["HOLDFAST_RUNTIME_DIR"], "HOLDFAST_RUNTIME_DIR")
    ours = [one for one in found if one != leader]
    for one in ours:
        os.kill(one, signal.SIGSTOP)
    try:
        done = holdfast("recover", "--json", "web")
        assert done.returncode != 0
        assert done.stdout == ""
    finally:
        for one in ours:
            os.kill(one, signal.SIGCONT)
    facts = eventually("it is listed again", lambda: here.facts(session))
    assert (facts["incarnation"], facts["pid"]) == (1, leader)
