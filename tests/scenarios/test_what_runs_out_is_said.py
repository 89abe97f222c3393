"""Disk, terminals, descriptors: when one runs out, it is said, and the rest lives."""

import contextlib
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")


def keeper_by(*prefix: str) -> Callable[[], None]:
    """Return what starts a keeper by way of another program."""

    def begin() -> None:
        subprocess.Popen(
            [*prefix, sys.executable, "-m", "holdfast.keeper"],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ).returncode = 0
        eventually("a keeper listens", is_there)

    return begin


def is_there() -> bool:
    packets.connect(places.keeper_socket(), 5.0).close()
    return True


def create(here: Machine, *command: str) -> dict[str, object]:
    env = {"PATH": os.environ["PATH"], witness.MARK: witness.mark()}
    return here.ask(do="create", command=list(command), cwd="/", env=env)


def enough(here: Machine, *command: str) -> tuple[list[SessionId], dict[str, object]]:
    """Create sessions until one is refused; return them, and the refusal."""
    made: list[SessionId] = []
    while len(made) < 200:
        answer = create(here, *command)
        if not answer["ok"]:
            return made, answer
        made.append(SessionId(str(answer["id"])))
    raise AssertionError("there is no end to it")


def is_alive(here: Machine, session: SessionId) -> bool:
    client = here.join(session)
    client.enter(b"hello\r")
    client.wait_output(b"hello")
    client.close()
    return True


# ── the disk ──────────────────────────────────────────────────────────────


@pytest.fixture
def small() -> Iterator[str]:
    """Return a folder on a disk of 64 KB, which ends with its only process."""
    folder = tempfile.mkdtemp(prefix="hf")  # A socket's path must be short.
    program = (
        'mount -t tmpfs -o size=256k,mode=700 none "$0" && echo ready && exec sleep 600'
    )
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", program]
    with subprocess.Popen([*command, folder], stdout=subprocess.PIPE) as holding:
        assert holding.stdout is not None
        if holding.stdout.readline() != b"ready\n":
            pytest.skip("nothing can be mounted here")
        yield f"/proc/{holding.pid}/root{folder}"
        holding.kill()
    shutil.rmtree(folder, ignore_errors=True)


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 512)
    return filler


@as_root
def test_a_full_disk_refuses_inputs_and_they_go_in_when_there_is_room(
    small: str,
) -> None:
    with machine(small) as here:
        session = here.new("cat")
        client = here.join(session)
        client.enter(b"before\r")
        filler = fill(places.runtime_dir())

        answers = [client.enter(b"word-%02d\r" % number) for number in range(40)]
        refused = [one for one in answers if isinstance(one, wire.Refuse)]
        assert refused
        assert {one.code for one in refused} == {"logbook-failed"}
        filler.unlink()
        eventually(
            "inputs go in again",
            lambda: isinstance(client.enter(b"after\r"), wire.Acknowledge),
        )

        client.wait_output(b"after\r\nafter")
        for number, answer in enumerate(answers):
            count = client.output.count(b"word-%02d" % number)
            assert count == (2 if isinstance(answer, wire.Acknowledge) else 0)


@as_root
def test_a_session_on_a_full_disk_is_refused_or_works_and_nothing_is_half_made(
    small: str,
) -> None:
    with machine(small) as here:
        first = here.new("cat")
        filler = fill(places.runtime_dir())

        answer = create(here, "cat")
        witness.all_is_tidy(here)
        assert is_watched(here, first)
        filler.unlink()
        if answer["ok"]:
            session = SessionId(str(answer["id"]))
            client = here.join(session)
            eventually(
                "it takes inputs once there is room",
                lambda: isinstance(client.enter(b"x\r"), wire.Acknowledge),
            )
        assert create(here, "cat")["ok"]
        witness.end_marked()


def is_watched(here: Machine, session: SessionId) -> bool:
    client = here.join(session)
    client.close()
    return True


@as_root
def test_a_session_outlives_its_holder_on_a_full_disk(small: str) -> None:
    with machine(small) as here:
        session = here.new("cat")
        leader = here.pid("leader", session)
        filler = fill(places.runtime_dir())

        here.replace_holder(session)
        here.kill("keeper", session)
        filler.unlink()
        eventually("there is a keeper", lambda: here.ask(do="status"))
        here.wait_whole(session)

        assert here.pid("leader", session) == leader
        client = here.join(session)
        eventually(
            "inputs go in again",
            lambda: isinstance(client.enter(b"after\r"), wire.Acknowledge),
        )


# ── terminals ─────────────────────────────────────────────────────────────


@as_root
def test_without_a_terminal_left_a_creation_is_refused_and_others_live() -> None:
    own = (
        "mount -t devpts -o newinstance,ptmxmode=0666,max=3 none /dev/pts"
        ' && mount --bind /dev/pts/ptmx /dev/ptmx && exec "$@"'
    )
    private = ("unshare", "--mount", "--propagation", "private")
    with machine(begin=keeper_by(*private, "sh", "-c", own, "sh")) as here:
        made, refused = enough(here, "cat")

        assert refused["code"] == "no-terminal-left"
        assert len(made) == 3
        assert all(is_alive(here, session) for session in made)
        witness.all_is_tidy(here)
        witness.end(here, made.pop())
        eventually("there is one again", lambda: create(here, "cat")["ok"])
        witness.end_marked()


# ── descriptors ───────────────────────────────────────────────────────────


def test_a_keeper_at_its_limit_refuses_and_keeps_what_it_has() -> None:
    limit = ("prlimit", "--nofile=100:100")
    with machine(begin=keeper_by(*limit)) as here:
        keeper = here.pid("keeper")
        made, refused = enough(here, "cat")

        assert refused["code"] == "no-descriptor-left"
        assert len(made) >= 3
        here.replace_holder(made[0])
        assert all(is_alive(here, session) for session in made)
        witness.all_is_tidy(here)
        witness.end(here, made.pop())
        eventually("there is room again", lambda: create(here, "cat")["ok"])
        assert here.pid("keeper") == keeper
        witness.end_marked()


def test_a_crowd_at_the_keepers_door_is_hung_up_on_and_goes_by() -> None:
    limit = ("prlimit", "--nofile=100:100")
    with machine(begin=keeper_by(*limit)) as here:
        session = here.new("cat")
        keeper = here.pid("keeper")
        path = places.keeper_socket()
        crowd = [connected(path, socket.SOCK_SEQPACKET) for _ in range(200)]

        assert is_at_rest(keeper)
        for link in crowd:
            link.close()

        eventually("it answers again", lambda: here.ask(do="status")["ok"])
        assert here.pid("keeper") == keeper
        assert is_alive(here, session)


def test_a_crowd_at_a_holders_door_is_hung_up_on_and_goes_by() -> None:
    with machine() as here:
        session = here.new("cat")
        early = here.join(session)
        holder = here.pid("holder", session)
        resource.prlimit(holder, resource.RLIMIT_NOFILE, (40, 40))
        path = places.session_socket(session)
        crowd = [connected(path, socket.SOCK_STREAM) for _ in range(120)]

        assert is_at_rest(holder)
        early.enter(b"still here\r")
        early.wait_output(b"still here")
        for link in crowd:
            link.close()

        assert is_alive(here, session)
        assert here.pid("holder", session) == holder


def connected(path: Path, kind: int) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, kind)
    link.settimeout(5.0)
    link.connect(str(path))
    return link


def is_at_rest(pid: int) -> bool:
    """Tell whether a process that has nothing to do comes to rest."""

    def rests() -> bool:
        before = witness.cpu_seconds(pid)
        time.sleep(0.3)  # What is measured is what it does in this time.
        return witness.cpu_seconds(pid) - before < 0.1

    return eventually("it rests", rests)


def test_a_program_gets_the_limit_its_user_has_and_not_the_keepers() -> None:
    usual = ("prlimit", "--nofile=512:4096")
    with machine(begin=keeper_by(*usual)) as here:
        session = here.new("sh", "-c", "echo $(ulimit -Sn) $(ulimit -Hn).; cat")

        client = here.join(session)
        assert client.wait_output(b".").startswith(b"512 4096")


def test_a_client_that_asks_and_never_reads_is_hung_up_on() -> None:
    with machine() as here:
        session = here.new("cat")
        lazy = here.join(session)

        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            flood(lazy)
        assert is_alive(here, session)


def flood(lazy: Client) -> None:
    for number in range(1_000_000):
        lazy.send(wire.Ping(number))
