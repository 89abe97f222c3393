import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.copies import (
    PRESENT,
    copy,
    finish,
    folders,
    machine_running,
    plant,
    previous_commit,
    start_upgrade,
)
from tests.scenarios.support import OURS, Machine, eventually

from holdfast.model.ids import SessionId
from holdfast.version import __version__
from holdfast.wire import messages as wire

PRINTING = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line-$i; done; echo end."


@pytest.fixture
def copies() -> Iterator[tuple[Path, Path]]:
    with folders() as made:
        yield made


@pytest.fixture
def old(copies: tuple[Path, Path]) -> Iterator[Machine]:
    with machine_running(copy(copies[0], "0.0.1")) as made:
        yield made


def shells(here: Machine, count: int) -> list[SessionId]:
    made = [here.new("bash", "--norc", "--noprofile") for _ in range(count)]
    for number, session in enumerate(made):
        client = here.join(session)
        client.enter(b"X=%d\r" % number)
        client.close()
    return made


def assert_alive(here: Machine, made: list[SessionId], leaders: list[int]) -> None:
    for number, session in enumerate(made):
        here.wait_whole(session)
        client = here.join(session)
        client.enter(b"echo it-is-$X.\r")
        client.wait_output(b"it-is-%d." % number)
        client.close()
    assert [here.pid("leader", session) for session in made] == leaders


def versions(here: Machine, made: list[SessionId]) -> set[object]:
    return {(here.facts(session) or {}).get("version") for session in made}


def upgrade_under_load(here: Machine, root: Path) -> dict[str, object]:
    printing = here.new("sh", "-c", f"sleep 0.2; {PRINTING}; sleep 60")
    typed = here.new("sh", "-c", "cat; echo all-is-read.; sleep 60")
    ending = here.new("sh", "-c", "read line; exit 7")
    reader, writer, last = here.join(printing), here.join(typed), here.join(ending)
    leaders = [here.pid("leader", one) for one in (printing, typed, ending)]

    upgrade, count = start_upgrade(root), 0
    while upgrade.poll() is None:
        answer = writer.enter(b"word-%04d\r" % count)
        assert isinstance(answer, wire.Acknowledge), answer
        count += 1
    said = finish(upgrade)

    writer.enter(b"\x04")
    writer.wait_output(b"all-is-read.")
    for number in range(count):
        assert writer.output.count(b"word-%04d" % number) == 2  # Echoed, and read.
    reader.wait_output(b"end.")
    expected = [f"line-{n}".encode() for n in range(1, 3001)] + [b"end."]
    assert (reader.gone, reader.output.split()) == (0, expected)
    made = [printing, typed, ending]
    assert [here.pid("leader", one) for one in made] == leaders
    assert versions(here, made) == {__version__}
    last.enter(b"\r")
    assert last.through_cuts(lambda: None, lambda: last.wait(wire.Exited)).status == 7
    return said


def test_sessions_go_on_under_new_code_and_lose_nothing(old: Machine) -> None:
    keeper = old.pid("keeper")

    said = upgrade_under_load(old, PRESENT)

    assert said["before"] == {"version": "0.0.1", "root": said["before"]["root"]}  # type: ignore[index]
    assert said["after"] == {"version": __version__, "root": str(PRESENT)}
    assert said["sessions"] == 3
    status = old.ask(do="status")
    assert (status["pid"], status["version"]) == (keeper, __version__)
    assert status["nursery_version"] == __version__


def test_the_code_before_the_last_commit_can_be_upgraded(
    copies: tuple[Path, Path],
) -> None:
    root = previous_commit(copies[0])
    if root is None:
        pytest.skip("there is no history here")
    with machine_running(root) as here:
        if here.ask(do="upgrade").get("code") == "unexpected-message":
            pytest.skip("the code before the last commit cannot be upgraded yet")

        upgrade_under_load(here, PRESENT)


BROKEN = {
    "whose nursery cannot be loaded": ("holder/birth.py", "raise ImportError"),
    "whose holders die at birth": (
        "holder/birth.py",
        "def hold(packet, fds):\n    raise RuntimeError",
    ),
    "whose third holder dies at birth": (
        "holder/birth.py",
        (
            "_hold = hold\n\n\ndef hold(packet, fds):\n"
            "    assert packet['facts']['command'][-1] != 'third'\n"
            "    _hold(packet, fds)"
        ),
    ),
    "whose holders do not answer": (
        "holder/links/keeper_link.py",
        "KeeperLink._prove = lambda self: None",
    ),
    "whose keeper cannot read the state": ("keeper/handed_state.py", "FORMAT = 99"),
    "whose keeper cannot be loaded": ("keeper/loop.py", "raise ImportError"),
}


@pytest.mark.parametrize("which", BROKEN)
def test_code_is_taken_back_and_every_session_lives(
    old: Machine, copies: tuple[Path, Path], which: str
) -> None:
    made = shells(old, 2)
    third = old.new("bash", "--norc", "--noprofile", "-s", "third")
    leaders = [old.pid("leader", session) for session in made]
    new = copy(copies[1], "0.0.2")
    plant(new, *BROKEN[which])

    said = finish(start_upgrade(new))

    assert said["error"]["code"] == "upgrade-failed", said  # type: ignore[index]
    assert_alive(old, made, leaders)
    old.wait_whole(third)
    assert versions(old, [*made, third]) == {"0.0.1"}
    status = old.ask(do="status")
    assert (status["version"], status["nursery_version"]) == ("0.0.1", "0.0.1")
    assert status["upgrading"] is False


@pytest.mark.parametrize(
    "victim", ["keeper", "nursery", "new nursery", "holder", "trustee"]
)
def test_no_session_is_lost_whoever_is_killed_during_an_upgrade(
    old: Machine, victim: str
) -> None:
    made = shells(old, 6)
    leaders = [old.pid("leader", session) for session in made]

    upgrade = start_upgrade(PRESENT)
    eventually("one is moved", lambda: __version__ in versions(old, made))
    os.kill(victim_of(old, victim, made[-1]), signal.SIGKILL)
    finish(upgrade)

    assert_alive(old, made, leaders)


def victim_of(here: Machine, victim: str, session: SessionId) -> int:
    if victim != "new nursery":
        return here.pid(victim, session)
    return new_nursery(here) or here.pid("nursery")


def new_nursery(here: Machine) -> int:
    keeper, nursery = here.pid("keeper"), here.pid("nursery")
    others = [
        pid
        for pid in witness.children(keeper)
        if pid != nursery
        and Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"\0ready\0")
    ]
    return others[0] if others else 0


ALSO_KILLED = ("nobody", "trustee", "nursery", "new nursery", "successor")


def stopped_amid_leaving(
    here: Machine, session: SessionId
) -> tuple[subprocess.Popen[bytes], dict[str, int]]:
    """Begin an upgrade that waits for a holder; return it, and who is involved."""
    pids = {one: here.pid(one, session) for one in (*OURS, "holder")}
    os.kill(pids["holder"], signal.SIGSTOP)
    upgrade = start_upgrade(PRESENT)
    pids["new nursery"] = eventually("a new nursery", lambda: new_nursery(here))
    forked = eventually(
        "the successor waits", lambda: witness.children(pids["new nursery"])
    )
    here.ask(do="status")  # It has told the holder to leave, else it would not answer.
    pids["successor"] = forked.pop()
    assert witness.grip(session, pids["successor"]) == pids["holder"]
    return upgrade, pids


@pytest.mark.parametrize("also", ALSO_KILLED)
def test_a_keeper_killed_when_a_holder_has_just_left_costs_nothing(
    old: Machine, also: str
) -> None:
    made = shells(old, 1)
    leaders = [old.pid("leader", session) for session in made]
    upgrade, pids = stopped_amid_leaving(old, made[0])

    os.kill(pids["keeper"], signal.SIGSTOP)
    os.kill(pids["holder"], signal.SIGCONT)
    eventually("the holder has left", lambda: witness.is_dead(pids["holder"]))
    if also != "nobody":
        os.kill(pids[also], signal.SIGKILL)
    os.kill(pids["keeper"], signal.SIGKILL)
    finish(upgrade)

    assert_alive(old, made, leaders)


def test_what_happens_while_a_successor_waits_is_known_to_it(old: Machine) -> None:
    session = old.new("sh", "-c", "read line; exit 7")
    upgrade, pids = stopped_amid_leaving(old, session)

    leader = old.pid("leader", session)
    with ThreadPoolExecutor() as pool:
        # Only a holder can say that it may be, and the next one that can is asked.
        renamed = pool.submit(old.ask, do="rename", id=session, name="called-later")
        os.kill(leader, signal.SIGTERM)
        os.kill(pids["holder"], signal.SIGCONT)
        assert renamed.result()["ok"]
    finish(upgrade)

    client = old.join(session)
    assert client.attach().name == "called-later"
    assert client.wait(wire.Exited).status == -signal.SIGTERM
    facts = old.facts(session)
    assert facts is not None
    assert (facts["name"], facts["state"]) == ("called-later", "exited")
    assert (facts["exit"], facts["version"]) == (-signal.SIGTERM, __version__)


def test_a_session_made_and_one_ended_during_an_upgrade_are_both_right(
    old: Machine,
) -> None:
    made = shells(old, 4)
    leaders = [old.pid("leader", session) for session in made]

    upgrade = start_upgrade(PRESENT)
    eventually("one is moved", lambda: __version__ in versions(old, made))
    late = old.new("sh", "-c", "exit 9")
    finish(upgrade)

    assert_alive(old, made, leaders)
    facts = eventually("it has ended", lambda: (old.facts(late) or {}).get("exit"))
    assert facts == 9


def test_a_keeper_that_dies_in_its_new_code_costs_no_session(
    old: Machine, copies: tuple[Path, Path]
) -> None:
    made = shells(old, 2)
    leaders = [old.pid("leader", session) for session in made]
    new = copy(copies[1], "0.0.2")
    plant(new, "keeper/loop.py", "def _die(self, left):\n    raise RuntimeError")
    plant(new, "keeper/loop.py", "Keeper.resume = _die")

    said = finish(start_upgrade(new))

    assert said["error"]["code"] == "no-keeper", said  # type: ignore[index]
    eventually("another keeper", lambda: old.ask(do="status"))
    assert_alive(old, made, leaders)


def test_upgrades_leave_no_descriptor_and_no_process_behind(old: Machine) -> None:
    shells(old, 2)
    keeper = old.pid("keeper")
    before = len(list(Path(f"/proc/{keeper}/fd").iterdir()))

    for _ in range(3):
        said = finish(start_upgrade(PRESENT))
        assert said["sessions"] == 2, said

    children = Path(f"/proc/{keeper}/task/{keeper}/children")
    ours = [old.pid("nursery"), old.pid("trustee")]
    ours += [*(old.pid("holder", one) for one in sessions(old))]
    ours += [old.pid("leader", one) for one in sessions(old)]
    eventually(
        "only those that are needed",
        lambda: {int(pid) for pid in children.read_text().split()} <= {*ours},
    )
    # A link that was just hung up on is closed a moment later.
    eventually(
        "no descriptor is left",
        lambda: len(list(Path(f"/proc/{keeper}/fd").iterdir())) <= before,
    )


def sessions(here: Machine) -> list[SessionId]:
    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    return [SessionId(one["id"]) for one in listed]


def test_a_program_that_does_not_read_does_not_hold_the_upgrade_up(
    old: Machine,
) -> None:
    session = old.new("sh", "-c", "stty raw -echo; echo ready; sleep 60")
    client = old.join(session)
    client.wait_output(b"ready")
    for _ in range(8):
        client.post(b"x" * 2000)
    assert isinstance(client.settle(), wire.Acknowledge)

    said = finish(start_upgrade(PRESENT))

    assert said["sessions"] == 1, said
    assert versions(old, [session]) == {__version__}


def test_an_upgrade_to_no_code_at_all_is_refused(old: Machine, tmp_path: Path) -> None:
    for python, root in (("no-such-python", str(PRESENT)), (__file__, str(tmp_path))):
        answer = old.ask(do="upgrade", python=python, root=root, version="1")

        assert (answer["ok"], answer["code"]) == (False, "upgrade-failed")
