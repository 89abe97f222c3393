"""A session that is over says how it ended, and is still found by its name."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.scenarios.leftovers import end_everything
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux import process_start
from holdfast.linux.stored import places, recovery_places
from holdfast.model.ids import SessionId


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def holdfast(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "holdfast", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def over() -> dict[str, dict[str, object]]:
    done = holdfast("ls", "--all", "--json")
    assert done.returncode == 0, done.stderr
    return {one["id"]: one for one in json.loads(done.stdout)["over"]}


def named(here: Machine, name: str, *command: str) -> SessionId:
    session = here.new(*command)
    assert here.ask(do="rename", id=session, name=name)["ok"]
    eventually("it has its name", lambda: (here.facts(session) or {})["name"] == name)
    return session


def test_a_session_that_was_ended_says_when_and_how(here: Machine) -> None:
    session = named(here, "build", "sleep", "600")
    assert holdfast("kill", "-t", "build").returncode == 0

    asked = holdfast("attach", "build")

    assert asked.returncode == 64
    assert "build ended " in asked.stderr
    assert " s ago, signal 1; `holdfast log build`" in asked.stderr
    assert "The session started." in holdfast("log", "build").stdout
    told = over()[session]
    assert (told["name"], told["exit"], told["state"]) == ("build", -1, "exited")
    assert str(told["command"]).endswith("sleep 600")
    assert "killed SIGHUP" in holdfast("ls", "--all").stdout
    assert session not in holdfast("ls").stdout


def test_the_last_of_one_name_is_meant_and_the_living_first(here: Machine) -> None:
    first = named(here, "web", "sleep", "601")
    holdfast("end", "web")
    second = named(here, "web", "sleep", "602")
    holdfast("end", "web")

    assert {first, second} <= over().keys()
    assert "sleep 602" in holdfast("log", "web").stdout
    named(here, "web", "sleep", "603")
    assert "sleep 603" in holdfast("log", "web").stdout
    assert holdfast("state", "web").returncode == 0


def test_what_was_lost_with_the_machine_is_said_to_be_lost(here: Machine) -> None:
    session = named(here, "web", "sleep", "600")
    eventually("its record", lambda: session in recovery_places.recorded() or None)
    end_everything(os.environ["HOLDFAST_RUNTIME_DIR"])  # As a power cut would.
    process_start.ensure_keeper()

    assert session not in over()
    [told] = json.loads(holdfast("ls", "--json").stdout)["lost"]
    assert (told["id"], told["state"], told["name"]) == (session, "lost", "web")
    asked = holdfast("screen", "web")
    assert asked.returncode == 64
    assert "web was lost" in asked.stderr


def test_what_ended_before_yesterday_is_just_not_there(here: Machine) -> None:
    session = named(here, "web", "sleep", "600")
    holdfast("end", "web")
    for path in places.session_log_files(session):
        if path.exists() and not path.is_symlink():
            os.utime(path, (0, 0))

    assert session not in over()
    assert "no session 'web' here" in holdfast("attach", "web").stderr
    assert "The session started." in holdfast("log", "web").stdout


def test_a_book_that_is_none_spoils_no_list(here: Machine) -> None:
    session = named(here, "web", "sleep", "600")
    holdfast("end", "web")
    junk = places.log_dir() / "s_aaaaaaaaaaaaaaaa.log"
    junk.write_bytes(b"\x00\xff{]\n" * 100)
    (places.log_dir() / "s_not-an-id.log").write_bytes(b"")
    (places.log_dir() / "s_bbbbbbbbbbbbbbbb.log").mkdir()

    assert list(over()) == [session]


def test_a_name_that_looks_like_another_is_answered_with_that(here: Machine) -> None:
    named(here, "frontend", "sleep", "600")

    said = holdfast("state", "fronted").stderr

    assert "Did you mean frontend?" in said
