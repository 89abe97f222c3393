import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.agents import SOURCE, shell
from tests.scenarios.shells import run, wait_phase
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.wire.messages import Drop, End, Take

NOTES = (
    "import json, os, sys; told = {k: v for k, v in os.environ.items() if"
    " k.startswith('HOLDFAST_')}; out = open(sys.argv[1], 'a');"
    " print(json.dumps(told), file=out)"
)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


class Watching:
    """A real `holdfast watch`, and the lines it has printed."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._output = folder / "watched"
        command = [sys.executable, "-m", "holdfast", "watch", "--json", *words]
        with self._output.open("wb") as output:
            self.program = subprocess.Popen(
                command, stdout=output, env={**os.environ, "PYTHONPATH": SOURCE}
            )

    def told(self, event: str, **fields: object) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            for one in self.lines():
                if one["event"] == event and fields.items() <= one.items():
                    return one
            return None

        return eventually(f"{event} {fields}", found)

    def lines(self) -> list[dict[str, Any]]:
        whole = self._output.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]


def test_turns_commands_and_the_end_are_told_as_they_come(
    here: Machine, tmp_path: Path
) -> None:
    session = shell(here)
    wait_phase(session, "prompt")
    watching = Watching(tmp_path, "build")
    watching.told("session.seen", session=session, name="build")

    anna = here.join(session, "anna")
    us = {"event": "turn.passed", "holder": anna.operator.actor.id, "how": "taken"}

    def passed() -> bool:
        # It is seen a moment before anything that happens in it is.
        assert anna.request(Take()) is None
        assert anna.request(Drop()) is None
        return any(us.items() <= one.items() for one in watching.lines())

    assert eventually("a turn that is told of", passed)
    here.join(session).send(End(9, leave=False))

    watching.told("session.exited")
    assert watching.program.wait(20) == 0


def test_a_program_is_run_for_chosen_events_of_sessions_that_start_later(
    here: Machine, tmp_path: Path
) -> None:
    notes, marker = tmp_path / "notes", tmp_path / "pwned"
    program = f'{sys.executable} -c "{NOTES}" {notes}'
    watching = Watching(tmp_path, "--on", "command.ended", "--exec", program)
    session = shell(here)
    wait_phase(session, "prompt")
    line = f"echo '$(touch {marker})' >/dev/null"

    try:
        # It may begin to look only after the first command.
        eventually("a note", lambda: (run(session, line), notes.exists())[1])
        told = json.loads(eventually("a line", notes.read_text).splitlines()[0])
    finally:
        watching.program.terminate()
        watching.program.wait(20)

    assert told["HOLDFAST_EVENT"] == "command.ended"
    assert told["HOLDFAST_LINE"] == line
    assert told["HOLDFAST_NAME"] == "build"
    assert told["HOLDFAST_STATUS"] == "0"
    assert not marker.exists()
    assert {one["event"] for one in watching.lines()} == {"command.ended"}


def test_the_program_is_run_for_the_end_of_a_session_before_the_watch_ends(
    here: Machine, tmp_path: Path
) -> None:
    session = shell(here)
    notes = tmp_path / "notes"
    program = f'{sys.executable} -c "{NOTES}" {notes}'
    watching = Watching(tmp_path, "build", "--on", "session.*", "--exec", program)
    watching.told("session.seen")
    eventually("the first note", notes.exists)

    def ended() -> bool:
        # It is seen a moment before it is watched.
        here.join(session).send(End(9, leave=False))
        return watching.program.poll() is not None

    eventually("the end", ended)

    told = [json.loads(line) for line in notes.read_text().splitlines()]
    assert watching.program.wait() == 0
    # Programs run side by side, so the last to write need not be the last started.
    (last,) = [one for one in told if one["HOLDFAST_EVENT"] == "session.exited"]
    assert last["HOLDFAST_EVENT_SESSION"] == session


def test_programs_that_hang_do_not_hold_up_what_is_told(
    here: Machine, tmp_path: Path
) -> None:
    session = shell(here)
    wait_phase(session, "prompt")
    watching = Watching(tmp_path, "--exec", "sleep 600")

    def told() -> bool:
        run(session, "true")
        ends = [one for one in watching.lines() if one["event"] == "command.ended"]
        return len(ends) > 8  # More than programs run at a time.

    try:
        assert eventually("lines", told)
    finally:
        watching.program.terminate()
        watching.program.wait(20)


def wait_watched(client: Client) -> None:
    eventually("it is watched", lambda: len(client.who().present) > 1)


def test_a_process_that_was_replaced_is_told_of_once(
    here: Machine, tmp_path: Path
) -> None:
    sessions = [here.new("cat"), here.new("cat")]
    watching = Watching(tmp_path, "--on", "process.replaced", "--on", "session.seen")
    for one in sessions:
        watching.told("session.seen", session=one)
        wait_watched(here.join(one))
    nursery, holder = here.pid("nursery"), here.pid("holder", sessions[0])

    os.kill(nursery, signal.SIGSTOP)
    watching.told("process.replaced", what="nursery", pid=nursery)
    os.kill(holder, signal.SIGSTOP)
    watching.told("process.replaced", what="holder", pid=holder, session=sessions[0])

    watching.program.kill()
    watching.program.wait()
    assert sum(one["event"] == "process.replaced" for one in watching.lines()) == 2


def test_a_session_that_is_not_there_is_said_and_nothing_is_watched(
    here: Machine, tmp_path: Path
) -> None:
    shell(here)
    watching = Watching(tmp_path, "nobody")

    assert watching.program.wait(20) == 64
    assert watching.lines() == []
