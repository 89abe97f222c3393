"""Mode 1: clients, and every process of holdfast, are killed; then all is upgraded."""

import base64
import time
from typing import TYPE_CHECKING

from holdfast.verify.account import Account, BrokenOff, Facts
from holdfast.verify.processes import Process, parent, process
from holdfast.verify.scene import Scene
from holdfast.verify.terminal import attached
from holdfast.verify.workloads import (
    FLOOD_LINE,
    TICK_BYTES,
    consecutive,
    flooding,
    ticking,
    ticks,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SOON = 10.0
"""Seconds in which a session has to answer after a kill; mostly it is a tenth."""

LINES = 120_000
"""Of the flood: seven megabytes, into a window of one."""


class _Ticking:
    """A session that ticks, and how far its output was read."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.account = scene.account
        self.file = self.account.home / "ticks"
        self.leader = self.account.new("work", *ticking(self.file))
        self.offset = 0
        self.account.wait("it ticks", lambda: ticks(self.file)[0] > 2)  # noqa: PLR2004  # any

    def goes_on(self, what: str, **evidence: object) -> None:
        """Check that the leader is the same, ticks, and that no output is missing."""
        began = time.monotonic()
        before = ticks(self.file)[0]
        advances = self.account.soon(lambda: ticks(self.file)[0] > before + 3, SOON)
        read = self.account.soon(self._read, SOON)
        now = process(self.leader.pid)
        self.scene.check(
            f"{what}: the program is the same, and goes on",
            holds=now == self.leader and bool(advances),
            pid=self.leader.pid,
            started=self.leader.started,
            now="the same" if now == self.leader else str(now),
            tick=ticks(self.file)[0],
            read_again_after=f"{time.monotonic() - began:.2f} s",
            **evidence,
        )
        self._continues(what, read or {}, before)

    def _continues(self, what: str, read: Facts, before: int) -> None:
        """Check that what was read follows what was read before."""
        offset = int(read.get("offset", -1))
        first, last, gapless = consecutive(_text(read))
        expected = (offset + TICK_BYTES - 1) // TICK_BYTES + 1
        self.scene.check(
            f"{what}: its output goes on where it was read last",
            holds=gapless
            and offset == self.offset
            and read["gap"] == 0
            and first == expected
            and last > before,
            offset=offset,
            next=read.get("next"),
            gap=read.get("gap"),
            ticks=f"{first} to {last}",
        )
        # Only whole ticks: the next reading begins where one does.
        self.offset = int(read.get("next", 0)) // TICK_BYTES * TICK_BYTES

    def _read(self) -> Facts | None:
        said = self.account.say("read", "--json", "--from", str(self.offset), "work")
        return said.facts if said.status == 0 else None


def inject(scene: Scene) -> None:
    """Kill a client, everything of holdfast's in turn, and upgrade."""
    work = _Ticking(scene)
    _kill_client(scene, work)
    _overflow(scene)
    _kill_roles(scene, work)
    made = scene.account.facts("upgrade")
    work.goes_on("upgraded", moved=made["sessions"], version=made["after"]["version"])


def _kill_client(scene: Scene, work: _Ticking) -> None:
    client = attached(scene.account, "work")
    try:
        client.see(b"tick ")
        pid = client.program.pid
        work.goes_on("a client is attached", client=pid)
        client.kill()
        alone = ticks(work.file)[0]
        work.goes_on("its client is killed", client=pid, attached=_present(scene))
    finally:
        client.close()
    other = attached(scene.account, "work")
    try:
        later = ticks(work.file)[0]
        seen = other.shows(f"tick {later + 5:08d}".encode(), SOON)
        scene.check(
            "another client attaches, and sees the same program advanced",
            holds=seen and later > alone and process(work.leader.pid) == work.leader,
            pid=work.leader.pid,
            client=other.program.pid,
            killed_at_tick=alone,
            seen_at_tick=later + 5 if seen else None,
        )
    finally:
        other.close()


def _present(scene: Scene) -> int:
    facts = scene.account.session("work")
    return -1 if facts is None else len(facts["attached"])


def _overflow(scene: Scene) -> None:
    """Print more than the window holds: what is gone must be counted to the byte."""
    account = scene.account
    account.new("flood", "--window", "1M", *flooding(LINES))
    total = LINES * FLOOD_LINE
    read = account.wait("it has printed all", lambda: _all_of(account, total))
    kept = base64.b64decode(read["data"])
    gap = int(read["gap"])
    number = -(-gap // FLOOD_LINE)
    first = kept[number * FLOOD_LINE - gap :][: FLOOD_LINE - 2]
    scene.check(
        "a window that overflowed says how much is gone",
        holds=gap > 0 and gap + len(kept) == total and first == b"%061d" % number,
        printed=total,
        gap=gap,
        kept=len(kept),
        first_line_kept=number,
    )


def _all_of(account: Account, total: int) -> Facts | None:
    read = account.facts("read", "--from", "0", "flood")
    return read if read["next"] == total else None


def _kill_roles(scene: Scene, work: _Ticking) -> None:
    account = scene.account
    quiet = account.new("quiet", "--", "sleep", "3600")
    account.facts("screen", "work")
    account.do("up", "--detach")
    account.wait("a session dozes", lambda: (account.session("quiet") or {})["dozing"])
    for role in ("holder", "keeper", "nursery", "trustee", "dozer", "painter", "host"):
        _kill_role(scene, work, role)
    scene.same("the session that dozed is the same", quiet, name="quiet")
    account.do("read", "quiet")


def _kill_role(scene: Scene, work: _Ticking, role: str) -> None:
    account = scene.account
    finds: Callable[[], int] = lambda: _pid_of(account, role, work.leader)  # noqa: E731  # asked twice
    pid = account.wait(f"there is a {role}", finds)
    account.kill(pid)
    work.goes_on(f"the {role} is killed", killed=pid)
    if role in ("keeper", "nursery", "trustee", "host"):
        began = time.monotonic()
        other = account.wait(f"another {role}", lambda: _other(finds(), pid))
        scene.check(
            f"the {role} is replaced",
            holds=True,
            killed=pid,
            successor=other,
            after=f"{time.monotonic() - began:.2f} s",
        )


def _other(found: int, pid: int) -> int | None:
    return found if found != pid else None


def _pid_of(account: Account, role: str, leader: Process) -> int:
    if role == "holder":
        return parent(leader.pid)
    if role == "painter":
        account.say("screen", "work")
    said = account.say("status", "--json")
    keeper = said.facts["keeper"] if said.status == 0 else None
    if keeper is None:
        return 0
    return int(keeper["pid" if role == "keeper" else role])


def _text(read: Facts) -> str:
    try:
        return base64.b64decode(read.get("data", "")).decode()
    except ValueError as error:
        raise BrokenOff("what was read is not what was printed") from error
