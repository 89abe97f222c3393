"""A machine on which every process of ours is lost at once, as by a power cut."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.scenarios.leftovers import left_over
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import current_operator
from holdfast.linux import process_start, procfs
from holdfast.linux.stored import recovery_places
from holdfast.model.ids import SessionId

CANARY = "hunter2-is-ours"


@pytest.fixture(name="here")
def a_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Run a machine whose sessions doze soon, so that their output is on disk."""
    monkeypatch.setenv("HOLDFAST_DOZE_AFTER", "0.2")
    with machine() as made:
        current_operator.ourselves()
        yield made


def holdfast(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "holdfast", *words]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
    )


def lose_everything() -> None:
    """Kill all of ours and all that runs in sessions; nobody sees another die."""
    folder = os.environ["HOLDFAST_RUNTIME_DIR"]
    killed: set[int] = set()
    while left := left_over(folder, "HOLDFAST_RUNTIME_DIR"):
        killed.update(left)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
    # One that is dying has no environment any more, and still has its sockets: whoever
    # connects then believes in a keeper.
    eventually("they are gone", lambda: not any(map(is_alive, killed)))


def is_alive(pid: int) -> bool:
    """Tell whether a process runs: one that has ended may wait to be collected."""
    found = procfs.read_stat(pid)
    return found is not None and found.lives


def lost() -> dict[str, dict[str, object]]:
    """Return what `ls` lists as lost, by id."""
    done = holdfast("ls", "--json")
    assert done.returncode == 0, done.stderr
    return {one["id"]: one for one in json.loads(done.stdout)["lost"]}


def begun(
    here: Machine, *command: str, name: str = "web", as_: str = "", **env: str
) -> SessionId:
    """Start a session by the command line, as people do."""
    who = ["--as", as_] if as_ else []
    words = [*who, "new", "--detach", "--json", "--name", name, "--", *command]
    done = holdfast(*words, **env)
    assert done.returncode == 0, done.stderr
    session = SessionId(json.loads(done.stdout)["id"])
    path = recovery_places.path_of(session, recovery_places.FACTS)
    eventually("its facts are on disk", lambda: os.path.exists(path))  # noqa: PTH110
    here.wait_whole(session)
    return session


def has_tail(session: SessionId) -> bool:
    """Tell whether output of a session is on disk."""
    return any(
        os.path.exists(recovery_places.path_of(session, kind))  # noqa: PTH110
        for kind in recovery_places.TAILS
    )


def lose(session: SessionId) -> None:
    """Lose everything once the output of a session is on disk, and start anew."""
    eventually("its output is on disk", lambda: has_tail(session))
    lose_everything()
    process_start.ensure_keeper()
