"""A keeper that is started from inside a session does not share its fate."""

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.leftovers import end_everything
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.linux import packets
from holdfast.linux.cgroups import ground
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

pytestmark = pytest.mark.skipif(
    ground().folder is None, reason=f"no cgroup: {ground().why_not}"
)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def inner() -> Iterator[Path]:
    """Return the runtime folder of another keeper."""
    folder = tempfile.mkdtemp(prefix="hf")
    yield Path(folder)
    end_everything(folder)


def shell(here: Machine) -> tuple[SessionId, Client]:
    session = here.new("bash", "--norc", "--noprofile")
    client = here.join(session)
    client.wait_output(b"$ ")
    return session, client


def pid_of_keeper(folder: Path) -> int:
    with packets.connect(folder / "keeper.sock", 2.0) as link:
        packets.send(link, {"do": "status"})
        heard = packets.receive(link)
    assert heard is not None
    return int(str(heard[0]["pid"]))


def starts_another(client: Client, folder: Path) -> int:
    """Have somebody start a session with another keeper; return that one's pid."""
    where = f"HOLDFAST_RUNTIME_DIR={folder} HOLDFAST_CONFIG_DIR={folder}/config"
    words = shlex.join([sys.executable, "-m", "holdfast", "new", "--detach"])
    client.enter(f"{where} {words} -- sleep 300; echo left $?\r".encode())
    client.wait_output(b"left 0")
    return eventually("a keeper", lambda: pid_of_keeper(folder))


def cgroup_of(pid: int) -> str:
    told = Path(f"/proc/{pid}/cgroup").read_text()
    return next(line for line in told.splitlines() if line.startswith("0::"))


def test_it_goes_on_while_its_session_is_frozen_and_when_that_has_ended(
    here: Machine, inner: Path
) -> None:
    session, client = shell(here)
    leader = here.pid("leader", session)
    keeper = starts_another(client, inner)
    assert f"holdfast-{session}" in cgroup_of(leader)
    assert "holdfast-s_" not in cgroup_of(keeper)

    assert client.request(wire.Freeze()) is None
    assert pid_of_keeper(inner) == keeper
    assert client.request(wire.Thaw()) is None
    client.send(wire.End(9, leave=False))
    client.wait(wire.Exited)

    assert pid_of_keeper(inner) == keeper


HIDES = """
import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
with open({path!r}, "w") as file: file.write(str(os.getpid()))
os.execve(sys.executable, {words!r}, {env!r})
"""


@pytest.mark.parametrize(
    ("name", "env"),
    [
        ("holdfast.keeper", {}),
        ("python", {"HOLDFAST_SESSION": "s_aaaaaaaaaaaaaaaa"}),
    ],
)
def test_a_daemon_that_calls_itself_a_keeper_ends_with_its_session(
    here: Machine, tmp_path: Path, name: str, env: dict[str, str]
) -> None:
    _, client = shell(here)
    place, program = tmp_path / "pid", tmp_path / "hides.py"
    words = [name, "-c", "import time; time.sleep(300)"]
    program.write_text(HIDES.format(path=str(place), words=words, env=env))
    client.enter(f"{sys.executable} {program}\r".encode())
    pid = int(eventually("a daemon", place.read_text))

    client.send(wire.End(1, leave=False))
    client.wait(wire.Exited)

    eventually("it is gone", lambda: not _is_alive(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
