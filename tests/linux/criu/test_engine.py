"""Real dumps and restores, as root and as an ordinary user, beside what is foretold."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.linux.capsule.test_start import USERS

from holdfast.linux.criu import program

DRIVER = Path(__file__).parent / "one_dump.py"
NOBODY = 65534

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="no CRIU that can be used"
)
as_each = pytest.mark.parametrize("user", USERS)
as_nobody = pytest.mark.skipif(os.getuid() != 0, reason="needs another user")

KEPT = {
    "memory": ("import os; x = os.urandom(1 << 20); y = hash(x)", "hash(x) == y"),
    "a child": (
        "import subprocess; p = subprocess.Popen(['sleep', '99'])",
        "p.poll() is None",
    ),
    "a stopped child": (
        (
            "import os, signal, subprocess; p = subprocess.Popen(['sleep', '99']);"
            "p.send_signal(signal.SIGSTOP); os.waitpid(p.pid, os.WUNTRACED)"
        ),
        "open(f'/proc/{p.pid}/stat').read().split()[2] == 'T'",
    ),
    "a pipe with something in it": (
        "import os; r, w = os.pipe(); os.write(w, b'some')",
        "os.read(r, 9) == b'some'",
    ),
    "a Unix socket to itself": (
        "import socket; a, b = socket.socketpair(); a.send(b'some')",
        "b.recv(9) == b'some'",
    ),
    "an unlinked file": (
        "import tempfile; f = tempfile.TemporaryFile(); f.write(b'some'); f.flush()",
        "(f.seek(0), f.read()) == (0, b'some')",
    ),
    "an event, a timer and a poll": (
        "import os, select; e = os.eventfd(7); p = select.epoll(); p.register(e)",
        "os.eventfd_read(e) == 7",
    ),
    "a session of its own whose leader has ended": (
        (
            "import os, time\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    if os.fork() == 0: time.sleep(99)\n"
            "    os._exit(0)\n"
            "os.wait()"
        ),
        "1 == 1",
    ),
    "a listener": (
        "import socket; s = socket.create_server(('127.0.0.1', 0))",
        "socket.create_connection(s.getsockname()) and True",
    ),
}
RING = "import ctypes; ctypes.CDLL(None).syscall(425, 4, (ctypes.c_char * 120)())"
TRACE = (
    "import ctypes, os, time\n"
    "p = os.fork()\n"
    "if p == 0: time.sleep(99)\n"
    "ctypes.CDLL(None).ptrace(0x4206, p, 0, 0)"
)
SHARED = (
    "import ctypes; c = ctypes.CDLL(None); c.shmat.restype = ctypes.c_void_p;"
    "c.shmat(c.shmget(0, 4096, 0o1600), None, 0)"
)
REFUSED = {
    "terminal": "t = open('/dev/tty')",
    "event-kind": RING,
    "traced": TRACE,
    "shared-memory": SHARED,
    "outside-process": "import os; p = os.pidfd_open(1)",
    "socket-kind": "import socket; s = socket.socket(2, 1, 262)",
    "outside-socket": (
        "import socket; s = socket.socket(1); s.connect('/proc/1/root{place}')"
    ),
}
ONLY_RESTORED_WRONG = {
    "volatile-file": "f = open('/dev/shm/kept', 'w')",
    "outside-process": "import os; p = os.open('/proc/1', 0)",
}
WITHOUT_ROOT = {
    "filtered": (
        "import ctypes; c = ctypes.CDLL(None); c.prctl(38, 1, 0, 0, 0);"
        "f = (ctypes.c_ubyte * 8)(6, 0, 0, 0, 0, 0, 255, 127);"
        "b = (ctypes.c_ulong * 2)(1, ctypes.addressof(f)); c.prctl(22, 2, b, 0, 0)"
    ),
    "mapped-file": (
        "import mmap, tempfile; f = tempfile.TemporaryFile(); f.truncate(4096);"
        "m = mmap.mmap(f.fileno(), 4096)"
    ),
    "watched-file": (
        "import ctypes; c = ctypes.CDLL(None); c.inotify_add_watch(c.inotify_init(),"
        " b'/tmp', 2)"
    ),
    "namespace": (
        "import subprocess, time; p = subprocess.Popen(['unshare', '-Ur', 'sleep',"
        " '99']); time.sleep(0.5)"
    ),
}


def dumped(
    user: int, scene: str, asked: str = "1 == 1", net: str = "host"
) -> dict[str, Any]:
    """Dump and restore a scene; return what came of it."""
    words = [sys.executable, str(DRIVER), scene, asked, net]
    who: dict[str, Any] = {} if user == os.getuid() else {"user": user, "group": user}
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=False, cwd="/", **who
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@as_each
@pytest.mark.parametrize("name", KEPT)
def test_what_a_program_has_is_there_after_a_restore(user: int, name: str) -> None:
    scene, asked = KEPT[name]
    found = dumped(user, scene, asked)

    assert found["blockers"] == []
    assert found.get("not_restored", found.get("refused")) is None
    assert found["answer"] == "True"
    assert found["first_ended"] == 0, "it did not end with its lifeline"


@as_each
def test_a_restored_program_has_the_descriptors_it_had(user: int) -> None:
    assert dumped(user, "")["descriptors"] == [0, 1, 2]


@as_each
def test_a_restored_program_has_no_right_that_it_had_not(user: int) -> None:
    asked = "[l for l in open('/proc/self/status') if l.startswith('Cap')]"
    before = f"{asked!r}; before = eval({asked!r})"
    assert dumped(user, before, f"before == {asked}")["answer"] == "True"


@as_each
def test_a_connection_within_a_network_of_its_own_is_kept(user: int) -> None:
    scene = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        "a = socket.create_connection(s.getsockname()); b, _ = s.accept()"
    )
    found = dumped(user, scene, "(a.send(b'some'), b.recv(9)) == (4, b'some')", "own")
    assert (found["blockers"], found["cuts"]) == ([], [])
    assert found["answer"] == "True"


@as_each
@pytest.mark.parametrize("kind", REFUSED)
def test_what_criu_refuses_is_foretold_and_the_session_goes_on(
    user: int, kind: str, tmp_path: Path
) -> None:
    import socket  # noqa: PLC0415  # for one of them

    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(f"\0{tmp_path}")
        outside.listen()
        scene = REFUSED[kind].replace("/proc/1/root{place}", f"\\0{tmp_path}")
        found = dumped(user, scene)

    assert kind in [one[0] for one in found["blockers"]]
    assert "refused" in found or "not_restored" in found
    assert found.get("answer", "True") == "True"


@as_each
@pytest.mark.parametrize("kind", ONLY_RESTORED_WRONG)
def test_what_fails_only_at_the_restore_is_foretold(user: int, kind: str) -> None:
    found = dumped(user, ONLY_RESTORED_WRONG[kind])
    assert [one[0] for one in found["blockers"]] == [kind]
    assert "not_restored" in found


@as_nobody
@pytest.mark.parametrize("kind", WITHOUT_ROOT)
def test_what_only_root_could_dump_is_foretold(kind: str) -> None:
    found = dumped(NOBODY, WITHOUT_ROOT[kind])
    assert kind in [one[0] for one in found["blockers"]]
    assert "refused" in found
    assert found["answer"] == "True"


@as_each
def test_a_connection_to_outside_is_told_as_cut(user: int) -> None:
    import socket  # noqa: PLC0415  # for this one

    with socket.create_server(("127.0.0.1", 0)) as outside:
        host, port = outside.getsockname()
        scene = f"import socket; s = socket.create_connection(({host!r}, {port}))"
        found = dumped(user, scene, "s.fileno() > 0")
    assert found["cuts"] == [f"{host}:{port}"]
    assert found["answer"] == "True"
