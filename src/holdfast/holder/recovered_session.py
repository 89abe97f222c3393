"""What a session is begun with: kept at its start, and used again once it is lost.

A session never has two lives at once. So before anything is made, under a lock:

    its facts can be read, and its logbook tells of no end in that life
    no process listens at its socket: holder, keeper, trustee and dozer each have it
    the leader of its last life does not run: by pid, start and boot

A process that the leader has left behind is no second life.
"""

import fcntl
import os
import time
from typing import NamedTuple

from holdfast.core.session.recovery import (
    OutputTail,
    StartFacts,
    banner,
    begin_anew,
)
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.leader_environment import Given
from holdfast.holder.session_descriptors import Vaulted
from holdfast.holder.session_memory import open_window
from holdfast.linux import procfs
from holdfast.linux.life_signs import held_sessions, is_running, leader_mark
from holdfast.linux.stored import operators, places, recovery_files, recovery_places
from holdfast.linux.stored.book_end import has_ended, last_entries, life_of
from holdfast.linux.stored.config import is_environment_kept
from holdfast.model.errors import (
    HoldfastError,
    NotRecoverable,
    SessionNotFound,
    StillAlive,
)
from holdfast.model.ids import (
    FIRST_INCARNATION,
    Incarnation,
    SessionId,
    next_incarnation,
)
from holdfast.model.session_record import CAPSULE, Cells
from holdfast.model.session_requests import Creation
from holdfast.model.text import printable

PATIENCE = 1.0
"""Seconds for processes that let go of a session to have closed its socket."""

MAX_ENVIRONMENT = 4 * 1024 * 1024
"""Bytes read of a leader's environment: more than a creation can give."""


class NextLife(NamedTuple):
    """What the next life of a session is begun with."""

    facts: StartFacts
    tail: OutputTail | None
    incarnation: Incarnation

    def creation(self, asked: Creation) -> Creation:
        """Return the request for it: what was recorded, and who asks now."""
        facts, tail = self.facts, self.tail
        return asked._replace(
            command=facts.command,
            cwd=facts.cwd,
            size=Cells(*(facts.size if tail is None else tail.size)),
            integration=facts.integration,
            exec_gate=facts.exec_gate,
            window=facts.window,
            # Its walls are begun again with it, or it is not begun.
            runtime=CAPSULE if facts.net else "",
            net=facts.net,
            ground=asked.env is None,  # If none was kept, it is this host's.
        )

    @property
    def start(self) -> int:
        """The offset of the first byte of its output."""
        return 0 if self.tail is None else self.tail.start

    def begin(self, made: Vaulted, starter: operators.Enrolled) -> None:
        """Let what was made be the session that was lost, and show what was kept."""
        facts, tail = self.facts, self.tail
        made.record = made.record._replace(
            created_ms=facts.created_ms,
            keep=False if tail is None else tail.keep,
            incarnation=self.incarnation,
            recovered_ms=time.time_ns() // 1_000_000,
        )
        made.held = made.held._replace(
            first_name=facts.first_name,
            creator=facts.creator,
            starter=starter.actor.id,
        )
        made.painting = None if tail is None else tail.painting
        self._show(open_window(made.memory), starter.actor.name)

    def _show(self, window: StreamWindow, by: str) -> None:
        """Put into a new window what was printed before, and the banner."""
        tail, now = self.tail, time.time()  # noqa: TID251  # for display
        data = b"" if tail is None else tail.data
        window.append(data)
        until = "" if tail is None else _told(tail.at_ms / 1000)
        text = banner(self.incarnation, printable(by, 64), _told(now), until)
        window.append(begin_anew(data, text))


def keep_origin(
    made: Vaulted, asked: Creation, environment: Given, window: int
) -> None:
    """Note what it takes to begin this life again.

    That of a first life is written once its command runs. That of a later one must be
    on disk before: else the leader of the life before would pass for its own, and a
    third could begin beside it.

    Raises:
        OSError: It is not the first life, and the disk refuses.

    """
    wished = asked.integration, asked.exec_gate
    made.origin = _facts(made, environment, window, wished)
    if made.incarnation > FIRST_INCARNATION:
        recovery_files.write_next(made.origin)


def origin_of(made: Vaulted, window: int) -> StartFacts:
    """Return what a life was begun with by a holder that died before it was written.

    The kernel has the environment that the leader was given.
    """
    given = Given(_given_to(made.record.pid), is_grounded=False)
    wished = bool(made.held.integration), made.held.exec_gate
    return _facts(made, given, window, wished)


def _given_to(pid: int) -> dict[str, str]:
    raw = procfs.read_table(f"/proc/{pid}/environ", MAX_ENVIRONMENT)
    pairs = (one.partition(b"=") for one in raw.split(b"\0"))
    return {
        os.fsdecode(name): os.fsdecode(value) for name, mark, value in pairs if mark
    }


def _facts(
    made: Vaulted,
    given: Given,
    window: int,
    wished: tuple[bool, bool],
) -> StartFacts:
    record, held = made.record, made.held
    integration, exec_gate = wished
    return StartFacts(
        session=record.id,
        incarnation=made.incarnation,
        name=record.name,
        first_name=held.first_name,
        command=record.command,
        cwd=record.cwd,
        environment=given.variables if is_environment_kept() else None,
        is_grounded=given.is_grounded,
        size=(record.size.columns, record.size.rows),
        window=window,
        integration=integration,
        exec_gate=exec_gate,
        creator=held.creator,
        created_ms=record.created_ms,
        leader=leader_mark(record.pid),
        net="" if held.capsule is None else held.capsule.net,
    )


def demand_lost(session: SessionId) -> NextLife:
    """Return what to begin a session with that is lost.

    Raises:
        UsageError: It is not lost, or is not known, or cannot be recovered.
        OSError: The kernel refuses.

    """
    if session not in recovery_places.recorded():
        raise SessionNotFound(session)
    try:
        facts = recovery_files.facts_of(session)
    except (HoldfastError, OSError) as error:
        raise NotRecoverable(session, f"its records cannot be read: {error}") from None
    entries = last_entries(session)
    if not entries:
        raise NotRecoverable(session, "its logbook cannot be read")
    if has_ended(entries, facts.incarnation):
        raise NotRecoverable(session, "it has ended; it was not lost")
    demand_dead(session, facts)
    last = max(facts.incarnation, life_of(entries[-1]))
    tail = recovery_files.tail_of(session)
    return NextLife(facts, tail, next_incarnation(last))


def demand_dead(session: SessionId, facts: StartFacts) -> None:
    """Do nothing if no process can have the session.

    Raises:
        UsageError: One may.

    """
    until = time.monotonic() + PATIENCE
    while session in held_sessions():
        if time.monotonic() >= until:
            raise StillAlive(facts.incarnation, "held by a process of ours")
        time.sleep(PATIENCE / 20)
    begun = recovery_files.next_of(session)  # By somebody who was killed then.
    for one in (facts,) if begun is None else (facts, begun):
        if is_running(one.leader):
            where = f"running as process {one.leader.pid}, which nobody holds,"
            raise StillAlive(one.incarnation, where)


def lock(session: SessionId) -> int:
    """Return a lock: nobody else recovers the session while it is open.

    Raises:
        UsageError: Somebody does already.
        OSError: The disk refuses.

    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    path = recovery_places.path_of(session, recovery_places.LOCK)
    fd = os.open(path, flags, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise StillAlive(0, "being recovered") from None
    return fd


def clear_way(session: SessionId) -> None:
    """Remove what a life has left that was lost: nobody uses it any more.

    Raises:
        OSError: It cannot be removed.

    """
    left = (places.session_socket, places.session_pipe, places.session_frozen)
    for place in left:
        place(session).unlink(missing_ok=True)


def _told(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
