"""Time to put a session to disk, and to bring it back, until it answers.

Through the SDK, so the policy, the manifest with its hashes, the logbook and the keeper
are part of it. CRIU by itself (bench.dumping) is measured in turns with it; it syncs
nothing, so what that takes besides is the floor of a session that is stopped.
"""

import os
import statistics
import sys
import threading
import time

from bench.dumping import (
    FACTOR,
    LARGE,
    MARGIN_MS,
    MEGABYTES,
    PROGRAM,
    Alone,
    alone_round,
)
from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import machine

from holdfast import sync
from holdfast.linux.capsule import trial
from holdfast.linux.criu.program import find
from holdfast.linux.stored import image_store
from holdfast.model.ids import SessionId

PATIENCE = 60.0


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about checkpoints and restores of sessions."""
    program = find().program
    if program is None or trial.why_not():
        table.note("nothing is put to disk: no CRIU, or no capsules")
        return
    with machine(), sync.connect() as host:
        for megabytes in MEGABYTES[: scale.pick(4, 2)]:
            rounds = 2 if megabytes >= LARGE else scale.pick(5, 2)
            ours, alone = [], []
            for number in range(rounds):
                progress(f"checkpoints of {megabytes} MB, {number + 1} of {rounds}")
                ours.append(_ours(host, megabytes))
                if os.geteuid() == 0:
                    alone.append(alone_round(program, megabytes))
            _tell(table, megabytes, ours, alone)


def _tell(
    table: Table,
    megabytes: int,
    ours: list[tuple[float, float, float]],
    alone: list[Alone],
) -> None:
    whats = "checkpoint, until it answers", "restore, until it answers"
    for at, what in enumerate((*whats, "checkpoint --stop, until it is durable")):
        own = statistics.median(one[at] for one in ours) * 1000
        most = floor = None
        if alone:
            floor = bare = statistics.median(one[at % 2] for one in alone) * 1000
            most = FACTOR * bare + MARGIN_MS
            if at == len(whats):
                floor = statistics.median(one.durable for one in alone) * 1000
        name = f"{what}, {megabytes} MB"
        table.add(Row(name, own, "ms", at_most=most, floor=floor))


def _ours(host: sync.Host, megabytes: int) -> tuple[float, float, float]:
    command = [sys.executable, "-c", PROGRAM.format(megabytes=megabytes)]
    with host.create(command, runtime="capsule") as session:
        session.wait_for("up", timeout=PATIENCE)
        answered = _in_place(session)
        began_at = time.perf_counter()
        made = session.checkpoint(stop=True)
        dumped = time.perf_counter() - began_at
    began_at = time.perf_counter()
    with host.restore(made.image) as again:
        again.send("\n")
        again.wait_for("still", timeout=PATIENCE)
        restored = time.perf_counter() - began_at
        again.end()
    return answered, restored, dumped


def _in_place(session: sync.Session) -> float:
    """Have it put to disk; return after how long it answers again.

    The line is typed when the dump has begun: it is answered when the session goes on.
    """
    seen: list[float] = []
    began_at = time.perf_counter()

    def ask() -> None:
        while image_store.draft_size(SessionId(session.id)) in (None, 0):
            time.sleep(0.001)
        session.send("\n")
        session.wait_for("still", timeout=PATIENCE)
        seen.append(time.perf_counter() - began_at)

    asker = threading.Thread(target=ask)
    asker.start()
    session.checkpoint()
    asker.join()
    return seen[0]
