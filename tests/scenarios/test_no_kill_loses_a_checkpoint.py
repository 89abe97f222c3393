"""Whatever is killed while an image is made or restored, the session is there once.

Its tree runs and knows what it knew, or its image is whole and goes on; never both.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.capsules import HOLDFAST, Account, account, space_of

from holdfast.linux import packets, procfs
from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)

ME = os.getuid()
PATIENCE = 30.0
Victims = Callable[[Account, str], list[int]]


def having(part: str) -> list[int]:
    """Return who has a file open in whose path this is."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and any(
                part in str(one.readlink()) for one in (folder / "fd").iterdir()
            ):
                found.append(int(folder.name))
    return found


def porters(here: Account, session: str) -> list[int]:
    """Return the porter alone: what waits for CRIU takes that with it."""
    noted = [one for one in having(f"{session}.porting") if one in here.ours()]
    return [one for one in noted if parent_of(one) not in noted]


def parent_of(pid: int) -> int:
    found = procfs.read_stat(pid)
    return 0 if found is None else found.parent


def holders(here: Account, session: str) -> list[int]:
    with packets.connect(here.place / "run" / "keeper.sock", PATIENCE) as link:
        packets.send(link, {"do": "list"})
        heard = packets.receive(link)
    listed = heard[0]["sessions"] if heard else []
    assert isinstance(listed, list)
    return [int(one["holder"]) for one in listed if one["id"] == session]


def holder_and_porter(here: Account, session: str) -> list[int]:
    return [*holders(here, session), *porters(here, session)]


def everyone(here: Account, session: str) -> list[int]:
    return here.ours() if session else []


def is_noted(image: Path) -> bool:
    return image.exists()


def is_dumping(image: Path) -> bool:
    return any((image / "criu").glob("*"))


def is_dumped(image: Path) -> bool:
    """Tell whether CRIU has written all that it writes."""
    return (image / "window.bin").exists()


def is_sealed(image: Path) -> bool:
    return (image / "manifest").exists()


MOMENTS = [is_noted, is_dumping, is_dumped, is_sealed]
Moment = Callable[[Path], bool]


@contextlib.contextmanager
def asked(here: Account, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the command line beside us."""
    done = subprocess.Popen(
        [HOLDFAST, *words],
        env=here.variables,
        cwd=here.place / "home",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield done
    finally:
        done.kill()
        done.wait()


def await_moment(here: Account, session: str, number: int, moment: Moment) -> None:
    until = time.monotonic() + PATIENCE
    state = here.place / "run" / "state"
    while not moment(state / "images" / session / str(number)):
        assert time.monotonic() < until, "the moment never came"


def kill(pids: list[int]) -> None:
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def is_listed(here: Account) -> bool:
    told = json.loads(here.ask("ls", "--json"))
    return any(one["name"] == "box" for one in told["sessions"])


def trees(session: str) -> set[int]:
    """Return the capsules in which something of a session runs."""
    mark, found = f"HOLDFAST_SESSION={session}".encode(), set()
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.add(space_of(int(folder.name)))
    return found


def eventually(is_so: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def demand_one(here: Account, session: str) -> None:
    """Fail unless there is one session that answers, or an image that goes on."""
    until = time.monotonic() + PATIENCE
    said = ""
    while time.monotonic() < until:
        if is_listed(here):
            said = here.ask("run", "box", "--", "echo $x", status=None)
        elif not trees(session):
            said = here.ask("restore", "-d", "box", status=None)
        if said == "41\n":
            break
        time.sleep(0.2)
    assert said == "41\n"
    assert len(trees(session)) == 1
    assert eventually(lambda: not here.found("*/*.porting"))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("victims", [porters, holders, holder_and_porter, everyone])
@pytest.mark.parametrize("how", [[], ["--stop"]], ids=["keep", "stop"])
def test_a_kill_amid_a_checkpoint(
    how: list[str], victims: Victims, moment: Moment
) -> None:
    with account(ME) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=41; sleep 600 &")
        if victims is everyone:
            here.ask("checkpoint", "box")
        with asked(here, "checkpoint", "box", *how):
            await_moment(here, session, 2 if victims is everyone else 1, moment)
            kill(victims(here, session))

        demand_one(here, session)


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4])
def test_a_kill_of_everything_amid_a_restore(after: float) -> None:
    with account(ME) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=41; sleep 600 &")
        here.ask("checkpoint", "box", "--stop")
        with asked(here, "restore", "-d", "box"):
            time.sleep(after)
            kill(here.ours())

        assert eventually(lambda: is_listed(here) or not trees(session))
        if not is_listed(here):
            said = here.ask("restore", "-d", "box", status=None)
            # Once it has lived, its image is spent: it was lost, and is no second time.
            assert "was restored from" in said or "was already restored" in said
        assert len(trees(session)) <= 1


def test_of_two_restores_at_once_one_is_refused() -> None:
    with account(ME) as here:
        here.new("box", "--capsule")
        here.run("box", "x=41")
        here.ask("checkpoint", "box", "--stop")
        words = [str(HOLDFAST), "restore", "-d", "box"]
        both = [
            subprocess.Popen(words, env=here.variables, stdin=subprocess.DEVNULL)
            for _ in range(2)
        ]

        assert sorted(one.wait(PATIENCE) for one in both) == [0, 64]
        assert here.run("box", "echo $x") == "41\n"
