"""What leaves a session's shell still belongs to it, and ends when it is ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

DAEMON = """
import os, signal, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
{before}
with open({path!r}, "w") as file: file.write(str(os.getpid()))
while True: time.sleep(9)
"""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def shell(here: Machine) -> tuple[SessionId, Client]:
    session = here.new("bash", "--norc", "--noprofile")
    client = here.join(session)
    client.wait_output(b"$ ")
    return session, client


def daemon(client: Client, folder: Path, before: str = "", start: str = "") -> int:
    """Have the session start a daemon, and return its number."""
    pid = folder / f"pid{os.urandom(3).hex()}"
    program = folder / "daemon.py"
    program.write_text(DAEMON.format(path=str(pid), before=before))
    client.enter(f"{start} {sys.executable} {program}\r".encode())
    return int(eventually("a daemon", pid.read_text))


def is_alive(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except OSError:
        return False


def holdfast(*words: str) -> str:
    command = [sys.executable, "-m", "holdfast", *words]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def swept(session: SessionId) -> list[Entry]:
    found = recover(places.session_log(session).read_bytes(), session).entries
    return [entry for entry in found if entry.kind is EntryKind.SWEPT]


IGNORES = "for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)"


@pytest.mark.parametrize("before", ["", IGNORES])
def test_a_daemon_is_shown_and_ends_with_the_session(
    here: Machine, tmp_path: Path, before: str
) -> None:
    session, client = shell(here)
    pid = daemon(client, tmp_path, before)
    assert str(pid) in holdfast("graph", session)

    said = holdfast("end", session)

    assert not is_alive(pid)
    assert "1 daemon ended: python (" in said.replace("python3", "python")
    (entry,) = swept(session)
    assert entry.fields["count"] == 1
    assert entry.fields["left"] == 0
    assert f"({pid})" in str(entry.fields["names"])
    assert entry.fields["by"] == client.operator.actor.id


def test_whoever_is_attached_is_told_what_was_swept_before_the_end(
    here: Machine, tmp_path: Path
) -> None:
    _, client = shell(here)
    pid = daemon(client, tmp_path)

    client.send(wire.End(signal.SIGHUP, leave=False))
    event = client.wait(wire.Event)

    assert event.name == "session.swept"
    assert event.fields["leftovers"] == 1
    client.wait(wire.Exited)
    assert not is_alive(pid)


def test_a_daemon_that_is_to_be_left_goes_on_and_is_named(
    here: Machine, tmp_path: Path
) -> None:
    session, client = shell(here)
    pid = daemon(client, tmp_path)

    said = holdfast("end", session, "--leave-daemons")

    assert is_alive(pid)
    assert "1 daemon left running" in said
    assert f"({pid})" in said
    os.kill(pid, signal.SIGKILL)


def test_a_shell_that_ends_by_itself_leaves_its_daemons_and_a_later_end_does_not(
    here: Machine, tmp_path: Path
) -> None:
    session, client = shell(here)
    pid = daemon(client, tmp_path)
    client.enter(b"exit\r")
    client.wait(wire.Exited)
    assert is_alive(pid)
    assert str(pid) in holdfast("graph", session)
    assert swept(session) == []

    said = holdfast("end", session)

    assert "1 daemon ended" in said
    assert not is_alive(pid)


def test_a_successor_of_a_killed_holder_finds_the_daemons(
    here: Machine, tmp_path: Path
) -> None:
    session, client = shell(here)
    pid = daemon(client, tmp_path)
    here.replace_holder(session)

    holdfast("end", session)

    assert not is_alive(pid)


def test_a_session_that_was_started_from_inside_is_not_swept(
    here: Machine, tmp_path: Path
) -> None:
    session, client = shell(here)
    name = f"inner{os.urandom(3).hex()}"
    settings = " ".join(
        f"{key}={os.environ[key]}"
        for key in ("HOLDFAST_RUNTIME_DIR", "HOLDFAST_CONFIG_DIR")
    )
    line = f"{settings} {sys.executable} -m holdfast new --detach --name {name}"
    client.enter(f"{line} -- sleep 300\r".encode())
    eventually("one inside", lambda: name in holdfast("ls"))
    pid = daemon(client, tmp_path)

    holdfast("end", session)

    assert not is_alive(pid)
    assert "sleep 300" in holdfast("graph", name)


def test_a_daemon_that_forks_all_the_time_is_swept_as_well(
    here: Machine, tmp_path: Path
) -> None:
    session, client = shell(here)
    storm = (
        f"{IGNORES}\n"
        "until = time.monotonic() + 20\n"  # A test that is cut short leaves none.
        "def storm():\n"
        "    while time.monotonic() < until:\n"
        "        if os.fork():\n"
        "            time.sleep(0.02); os._exit(0)\n"
        "        os.setsid()\n"
        "    os._exit(0)\n"
        "for n in range(5):\n"
        "    if os.fork() == 0: storm()\n"
    )
    pid = daemon(client, tmp_path, storm)

    said = holdfast("end", session)

    assert "left running" not in said
    assert not is_alive(pid)
    mark = f"HOLDFAST_SESSION={session}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            raw = environ.read_bytes()
        except OSError:
            continue
        assert mark not in raw.split(b"\0") or not is_alive(int(environ.parent.name))
