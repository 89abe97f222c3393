"""Another user of the machine reaches nothing of ours (T44 to T49)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Machine, machine

from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

NOBODY = 65534

pytestmark = pytest.mark.skipif(
    os.getuid() != 0, reason="only root can become another user"
)

KNOCK = """
import socket, sys
link = socket.socket(socket.AF_UNIX, getattr(socket, sys.argv[2]))
link.settimeout(5)
try:
    link.connect(sys.argv[1])
    link.send(b'{"do": "list"}')
    sys.exit(0 if link.recv(100) == b"" else 3)
except ConnectionError:
    sys.exit(0)
except PermissionError:
    sys.exit(1)
"""
"""Exits with 1: not let in; 0: hung up on without a word; 3: spoken to."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("cat")


def as_nobody(*command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        check=False,
        cwd="/",
        timeout=20,
    )


def knock(path: Path, kind: str) -> int:
    return as_nobody("/usr/bin/python3", "-c", KNOCK, str(path), kind).returncode


def files_of(session: SessionId) -> list[Path]:
    return [
        places.keeper_socket(),
        places.runtime_dir() / "keeper.log",
        places.runtime_dir() / "keeper.lock",
        places.session_dir(),
        places.session_socket(session),
        places.session_log(session),
    ]


def test_t44_another_user_cannot_connect(here: Machine, session: SessionId) -> None:
    assert here.is_whole(session)

    assert knock(places.keeper_socket(), "SOCK_SEQPACKET") == 1
    assert knock(places.session_socket(session), "SOCK_STREAM") == 1


def test_t44_another_user_is_hung_up_on_even_with_the_doors_open(
    here: Machine, session: SessionId
) -> None:
    leader = here.pid("leader", session)
    keeper, holder = places.keeper_socket(), places.session_socket(session)
    folders = (places.session_dir(), places.runtime_dir())

    def with_doors_open(socket: Path, kind: str) -> int:
        for path in folders:
            path.chmod(0o755)
        socket.chmod(0o666)
        return knock(socket, kind)

    # A process that starts meanwhile closes the folders again.
    for path, kind in ((keeper, "SOCK_SEQPACKET"), (holder, "SOCK_STREAM")):
        answers = (with_doors_open(path, kind) for _ in range(5))
        assert next((found for found in answers if found != 1), 1) == 0

    for path in folders:
        path.chmod(0o700)
    assert here.pid("leader", session) == leader


def test_t47_another_user_reads_neither_log_nor_memory(
    here: Machine, session: SessionId
) -> None:
    pids = [here.pid(what, session) for what in ("keeper", "nursery", "holder")]
    inner = [Path(f"/proc/{pid}/{name}") for pid in pids for name in ("mem", "environ")]

    for path in files_of(session) + inner:
        assert as_nobody("cat", str(path)).returncode != 0, path
        assert as_nobody("touch", str(path)).returncode != 0, path


def test_t46_another_user_cannot_open_the_terminal(
    here: Machine, session: SessionId
) -> None:
    leader = here.pid("leader", session)
    terminal = str(Path(f"/proc/{leader}/fd/0").readlink())

    assert terminal.startswith("/dev/pts/")
    assert as_nobody("sh", "-c", f": < {terminal}").returncode != 0
    assert as_nobody("sh", "-c", f": > {terminal}").returncode != 0


def test_t44_no_socket_is_in_the_abstract_namespace(
    here: Machine, session: SessionId
) -> None:
    assert here.is_whole(session)
    listed = Path("/proc/net/unix").read_text()

    assert "@" + str(places.runtime_dir()) not in listed
    assert str(places.keeper_socket()) in listed


def test_t49_a_program_gets_three_descriptors_and_of_ours_only_where_things_are(
    here: Machine,
) -> None:
    program = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1],"
    program += " sorted(v for v in os.environ if 'HOLDFAST' in v), end='.')"

    client = here.join(here.new(sys.executable, "-c", program))

    # The folders as they were chosen, so that `holdfast` in the session finds its host.
    names = "'HOLDFAST_CONFIG_DIR', 'HOLDFAST_RUNTIME_DIR', 'HOLDFAST_SESSION'"
    told = f"[0, 1, 2] [{names}]."
    assert client.wait_output(b".") == told.encode()
