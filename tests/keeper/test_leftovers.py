import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper import leftovers
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

ONE = SessionId("s_aaaaaaaaaaaaaaaa")
OTHER = SessionId("s_bbbbbbbbbbbbbbbb")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", folder)
        yield Path(folder)


def names(*folders: Path) -> list[str]:
    return sorted(path.name for folder in folders for path in folder.iterdir())


def test_a_session_that_is_over_leaves_its_logbook_and_nothing_else(
    place: Path,
) -> None:
    for session in (ONE, OTHER):
        places.session_socket(session).touch()
        places.session_pipe(session).touch()
        places.session_log(session).touch()

    leftovers.remove_files(ONE)
    leftovers.remove_files(ONE)

    assert names(place / "s") == [f"{OTHER}.pipe", f"{OTHER}.sock"]
    assert names(places.log_dir()) == [f"{ONE}.log", f"{OTHER}.log"]


def test_a_session_that_never_lived_leaves_nothing(place: Path) -> None:
    for session in (ONE, OTHER):
        places.session_socket(session).touch()
        places.session_log(session).touch()

    leftovers.remove_traces(ONE)

    assert names(place / "s", places.log_dir()) == [f"{OTHER}.log", f"{OTHER}.sock"]


def test_the_command_of_a_session_is_ended_and_those_of_others_are_not() -> None:
    program = [sys.executable, "-c", "input()"]
    started = [
        subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            env={**os.environ, "HOLDFAST_SESSION": session},
            start_new_session=True,
        )
        for session in (ONE, OTHER)
    ]

    leftovers.end_orphans(ONE)

    assert started[0].wait(10) == -9
    assert started[1].poll() is None
    for process in started:
        process.communicate()
