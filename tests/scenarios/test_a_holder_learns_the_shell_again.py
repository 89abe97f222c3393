import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.lone_shell import demand
from tests.scenarios.shells import run, shell, wait_phase
from tests.scenarios.support import Machine, eventually, machine

from holdfast.core.book.logbook import EntryKind, read_entries
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId


@pytest.fixture(scope="module")
def ours() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture(params=["bash", "zsh", "fish"])
def session(request: pytest.FixtureRequest, ours: Machine, tmp_path: Path) -> SessionId:
    (tmp_path / ".zshrc").touch()
    return shell(ours, tmp_path, demand(str(request.param)))


def recorded(session: SessionId, sign: str, name: str) -> bool:
    lines = places.session_log(session).read_bytes().splitlines()
    told = [
        str(entry.fields["changes"]).splitlines()
        for entry in read_entries(lines, session)
        if entry.kind is EntryKind.CHANGED
    ]
    found = [one for entry in told for one in entry]
    return any(one[:1] == sign and one.endswith(f" {name}") for one in found)


def test_what_a_command_sets_is_recorded(session: SessionId) -> None:
    eventually("the first state", lambda: recorded(session, "=", "PATH"))
    run(session, "alias dep='rm -rf build'")

    eventually("the alias", lambda: recorded(session, "+", "dep"))


MUCH = "x" * 30_000
"""More than the pipe of bash and zsh holds."""


@pytest.mark.parametrize("program", ["bash", "zsh", "fish"])
def test_a_shell_in_which_much_is_set_tells_it_all(
    program: str, ours: Machine, tmp_path: Path
) -> None:
    (tmp_path / ".zshrc").touch()
    session = shell(ours, tmp_path, demand(program), MUCH=MUCH)

    eventually("the first state", lambda: recorded(session, "=", "MUCH"))
    run(session, "alias dep='rm -rf build'")

    eventually("the alias", lambda: recorded(session, "+", "dep"))


def test_a_successor_learns_what_was_set(ours: Machine, session: SessionId) -> None:
    run(session, "true")
    ours.replace_holder(session)
    wait_phase(session, "prompt")
    run(session, "true")
    run(session, "alias dep='rm -rf build'")

    eventually("the alias", lambda: recorded(session, "+", "dep"))


def test_the_shell_goes_on_while_its_holder_stands_still(
    ours: Machine, session: SessionId, tmp_path: Path
) -> None:
    client = ours.join(session)
    holder = ours.pid("holder", session)
    line = f"sleep 0.2; touch {tmp_path}/one\rtouch {tmp_path}/two\r"
    client.enter(line.encode())
    os.kill(holder, signal.SIGSTOP)

    eventually("the second", (tmp_path / "two").exists)
    os.kill(holder, signal.SIGCONT)
    wait_phase(session, "prompt")


def test_nothing_of_the_pipe_is_left_of_a_session_that_is_over(
    ours: Machine, session: SessionId
) -> None:
    assert places.session_pipe(session).is_fifo()
    client = ours.join(session)
    client.enter(b"exit\r")

    eventually("the end", lambda: (ours.facts(session) or {}).get("state") == "exited")
    ours.ask(do="forget", id=session)
    eventually("it is gone", lambda: not places.session_pipe(session).exists())
