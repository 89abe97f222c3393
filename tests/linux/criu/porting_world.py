"""A session's capsule that the test has, the holder it plays, and what is restored.

Porter and holder talk in packets, so what the holder will say can wait in the socket:
the porter runs in the test's own process, and the test reads then what it said.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tests.core.session.test_recovery import FACTS
from tests.linux.criu.one_dump import PATIENCE, SERVE, SIZE, answer

from holdfast.core.capsule.limit_choice import LimitChoice
from holdfast.core.session.recovery import read_facts
from holdfast.crypto.keys import SigningKey
from holdfast.holder import porter, restored_leader
from holdfast.holder.capsule_start import hold_in_capsule
from holdfast.holder.held_leader import HeldLeader
from holdfast.holder.image_parts import START, claimed, part_of
from holdfast.holder.recovered_session import NextLife
from holdfast.linux import exec_gate, packets, shared_memory, spawn
from holdfast.linux.capsule import stopped_processes
from holdfast.linux.capsule.start import Capsule
from holdfast.linux.exec_gate import ExecGate
from holdfast.linux.stored import checkpoint_note, image_store, unfinished_image
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ClaimedImage, ImageName
from holdfast.model.ids import ActorId, Incarnation, SessionId, session_id
from holdfast.model.session_record import Cells, HeldRecord, SessionRecord
from holdfast.model.session_requests import Creation

SESSION = session_id(bytes(range(10)))
BRANCH = session_id(bytes(range(1, 11)))
ACTOR = ActorId("a_" + "b" * 32)
WINDOW = b"what was printed last"
LIFE = Incarnation(3)


class World:
    """One session, and the place where its images are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = Creation(cwd=str(folder))
        self._alive: list[Capsule] = []

    def start(self, scene: str = "", serve: str = SERVE) -> Capsule:
        """Start a program that sets the scene, and evaluates each line then."""
        made = hold_in_capsule(self.asked, SESSION, self._leader(scene + serve), SIZE)
        self._alive.append(made)
        begin(made.held)
        answer(made.master, "ready")
        return made

    def _leader(self, text: str) -> spawn.Leader:
        variables = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": "/"}
        return spawn.Leader(
            (sys.executable, "-c", text),
            str(self.folder),
            variables,
            is_gated=self.asked.exec_gate,
        )

    def hold(
        self,
        image: ClaimedImage | None,
        session: SessionId = SESSION,
        asked: Creation | None = None,
    ) -> HeldLeader:
        """Restore an image as the next life of the session; it stands still."""
        facts = FACTS
        if image is not None:
            facts = read_facts(part_of(image, START), SESSION)
        life = NextLife(facts, None, LIFE, image)
        wanted, leader = asked or self.asked, self._leader("")
        held = restored_leader.hold(life, wanted, session, leader, LimitChoice())
        assert held.capsule is not None
        self._alive.append(held.capsule)
        return held

    def end(self, capsule: Capsule) -> None:
        """End a capsule, and everything in it."""
        self._alive.remove(capsule)
        signal.pidfd_send_signal(capsule.first, signal.SIGKILL)
        os.waitpid(capsule.record.first, 0)
        held = capsule.held
        ends = (capsule.first, capsule.lifeline, capsule.master, held.word, held.report)
        packets.close(ends if held.listener is None else (*ends, held.listener))

    def end_all(self) -> None:
        """End what is left."""
        for one in tuple(self._alive):
            self.end(one)


def begin(held: spawn.Held) -> None:
    """Say the word, and let through its gate what was judged, if it has one."""
    spawn.say(held.word, spawn.GO)
    with gate_of(held) as gate:
        assert spawn.why_not_begun(held.report, held.program, gate) == ""


@contextlib.contextmanager
def gate_of(held: spawn.Held) -> Iterator[ExecGate | None]:
    """Have the exec gate of a leader, if it is under one."""
    if held.listener is None:
        yield None
        return
    memory = shared_memory.create("exec-gate", exec_gate.SIZE)
    gate = ExecGate(held.listener, memory)
    gate.inherited()
    yield gate
    os.close(memory)


def go_on(held: HeldLeader) -> int:
    """Let what was restored go on; return its terminal."""
    spawn.say(held.held.word, spawn.GO)
    assert spawn.why_not_begun(held.held.report, held.held.program) == ""
    return held.master


def refuse(held: HeldLeader) -> None:
    """Let it not go on, and wait until that is done."""
    spawn.say(held.held.word, spawn.NO)
    assert select.select([held.held.report], [], [], PATIENCE)[0]


def wish(capsule: Capsule | None, **more: bool | str) -> packets.Packet:
    """Return what a holder says first, of a session that may be in no capsule."""
    record = SessionRecord(
        SESSION, "web", incarnation=2, size=Cells(SIZE.columns, SIZE.rows)
    )
    held = HeldRecord(capsule=None if capsule is None else capsule.record)
    facts = {**record.facts(), **held.facts()}
    asked = {"stop": False, "label": "", "branch": False, "gated": False}
    return {"id": SESSION, "facts": facts, **asked, **more}


def tell(link: socket.socket, leader: int) -> None:
    """Say what a holder says once the session stands still."""
    start = replace(FACTS, session=SESSION).to_bytes()
    memories = [shared_memory.holding(one) for one in (WINDOW, start)]
    said: packets.Packet = {
        "index": 41,
        "hash": "ab" * 32,
        "phase": "typing",
        "command": 7,
        "hands": [ACTOR],
        "actors": [ACTOR],
        "starters": [[leader, 0]],
    }
    packets.send(link, said, memories)
    packets.close(memories)


def ported(
    capsule: Capsule,
    holder: Callable[[socket.socket, int], None] = tell,
    master: int | None = None,
    **more: bool | str,
) -> list[packets.Packet]:
    """Have the session put to disk; return what the porter says."""
    given = [capsule.first, capsule.master if master is None else master]
    return served(
        wish(capsule, **more), given, lambda link: holder(link, capsule.held.pid)
    )


def served(
    asked: packets.Packet, fds: list[int], holder: Callable[[socket.socket], None]
) -> list[packets.Packet]:
    """Have a porter do something; return what it says."""
    before = open_files()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if asked:
        packets.send(ours, asked, fds)
    holder(ours)
    with warnings.catch_warnings():
        # It closes nothing: it is a process of its own, which ends then.
        warnings.simplefilter("ignore", ResourceWarning)
        # While we have it too, nothing is lost that it has not read.
        porter.serve([os.dup(theirs.fileno())])
    said = _everything(ours)
    ours.close()
    theirs.close()
    packets.close(open_files() - before)
    return said


def _everything(link: socket.socket) -> list[packets.Packet]:
    said = []
    link.settimeout(0)
    with contextlib.suppress(BlockingIOError):
        while heard := packets.receive(link):
            said.append(heard[0])
    return said


def open_files() -> set[int]:
    """Return which descriptors we have."""
    with os.scandir("/proc/self/fd") as found:
        listed = {int(one.name) for one in found}
    return {one for one in listed if os.path.lexists(f"/proc/self/fd/{one}")}


def image_of(number: int = 1) -> ClaimedImage:
    """Claim an image of the session."""
    return claimed(ImageName(SESSION, number))


def numbers() -> list[int]:
    """Return which images of the session there are."""
    host = SigningKey.from_seed(host_seed()).public
    return [one.name.number for one in image_store.listed(host, SESSION)]


def stands_still(capsule: Capsule) -> bool:
    """Tell whether everything in a capsule does."""
    first = capsule.record.first
    return (
        len(stopped_processes.standing(first))
        == len(stopped_processes.members(first))
        > 0
    )


def let_go_on(capsule: Capsule) -> None:
    """Do what a holder does when the porter is gone."""
    note = checkpoint_note.found(SESSION)
    assert note is not None, "nobody could tell what stood still before"
    with note:
        unfinished_image.let_go_on(note, capsule.record.first)
