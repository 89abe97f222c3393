"""Stores what a session was started with, and recovers a lost session from it.

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

from holdfast.core.session import recovery
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.leader_environment import Given
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.session_memory import open_window
from holdfast.linux import procfs
from holdfast.linux.life_signs import held_sessions, is_running, leader_mark
from holdfast.linux.stored import operators, places, recovery_files, recovery_places
from holdfast.linux.stored.book_end import (
    has_ended,
    last_entries,
    life_of,
    stopped_in,
)
from holdfast.linux.stored.config import is_environment_kept
from holdfast.linux.stored.image_store import ClaimedImage
from holdfast.linux.stored.lost_sessions import on_disk
from holdfast.model import errors
from holdfast.model.ids import (
    FIRST_INCARNATION,
    Incarnation,
    SessionId,
    next_incarnation,
)
from holdfast.model.session_record import CAPSULE, Cells, ParentRecord
from holdfast.model.session_requests import Creation
from holdfast.model.text import printable

PATIENCE = 1.0
"""Seconds for processes that let go of a session to have closed its socket."""

STEP = 0.005
"""Seconds between two looks."""

MAX_ENVIRONMENT = 4 * 1024 * 1024
"""Bytes read of a leader's environment: more than a creation can give."""


class NextLife(NamedTuple):
    """What the next life of a session is begun with."""

    facts: recovery.StartFacts
    tail: recovery.OutputTail | None
    incarnation: Incarnation
    image: ClaimedImage | None = None
    """What its programs go on from; None if its command is started again."""

    branch_of: ParentRecord | None = None
    """Of a new session that goes on from that: where it comes from."""

    is_moved: bool = False
    """Whether it was moved here in good order: nothing was lost, or done twice."""

    forked_at: int | None = None
    """Of one that goes on as a branch of it did: its last entry before the branch."""

    tried_as: Incarnation | None = None
    """What is noted durably, beside an image for one life, before anything runs."""

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
            files=facts.files,
            **facts.limits._asdict(),
            movable=bool(facts.authority),
            ground=asked.env is None,  # If none was kept, it is this host's.
        )

    @property
    def start(self) -> int:
        """The offset of the first byte of its output."""
        return 0 if self.tail is None else self.tail.start

    def begin(self, made: SessionDescriptors, starter: operators.Enrolled) -> None:
        """Let what was made be the session that was lost, and show what was kept."""
        facts, tail = self.facts, self.tail
        if self.branch_of is None:
            made.record = made.record._replace(
                created_ms=facts.created_ms,
                keep=False if tail is None else tail.keep,
                recovered_ms=0 if self.image else time.time_ns() // 1_000_000,
            )
            made.held = made.held._replace(
                creator=facts.creator, starter=starter.actor.id
            )
        if self.is_moved:
            since = facts.since or facts.incarnation
            made.held = made.held._replace(since=since)
        made.record = made.record._replace(
            incarnation=self.incarnation, parent=self.branch_of or facts.parent
        )
        # The rules of its parent hold in a branch, whatever it is called.
        made.held = made.held._replace(
            first_name=facts.first_name, shell_of=self._shell_of()
        )
        made.painting = None if tail is None else tail.painting
        self._show(open_window(made.memory), starter.actor.name)

    def _shell_of(self) -> str:
        """Return whose secrets its shell knows, if those are not its own."""
        if self.image is None:
            return ""
        return self.facts.shell_of or (self.facts.session if self.branch_of else "")

    def _show(self, window: StreamWindow, by: str) -> None:
        """Put into a new window what was printed before, and the banner."""
        tail, now = self.tail, time.time()  # noqa: TID251  # for display
        data = b"" if tail is None else tail.data
        window.append(data)
        if self.image is not None:
            return  # The programs go on, and know what is on the screen.
        until = "" if tail is None else _told(tail.at_ms / 1000)
        text = recovery.banner(self.incarnation, printable(by, 64), _told(now), until)
        window.append(recovery.begin_anew(data, text))


def keep_origin(
    made: SessionDescriptors, asked: Creation, environment: Given, window: int
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


def origin_of(made: SessionDescriptors, window: int) -> recovery.StartFacts:
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
    made: SessionDescriptors,
    given: Given,
    window: int,
    wished: tuple[bool, bool],
) -> recovery.StartFacts:
    record, held = made.record, made.held
    integration, exec_gate = wished
    return recovery.StartFacts(
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
        files="" if held.capsule is None else held.capsule.files,
        shell_of=held.shell_of,
        parent=record.parent,
        limits=record.limits,
        authority=record.authority,
        since=held.since,
    )


def demand_lost(session: SessionId) -> NextLife:
    """Return what to begin a session with that is lost.

    Raises:
        UsageError: It is not lost, or is not known, or cannot be recovered.
        OSError: The kernel refuses.

    """
    if session not in recovery_places.recorded():
        raise errors.SessionNotFound(session)
    try:
        facts = recovery_files.facts_of(session)
    except (errors.HoldfastError, OSError) as error:
        raise errors.NotRecoverable(
            session, f"its records cannot be read: {error}"
        ) from None
    entries = last_entries(session)
    if not entries:
        raise errors.NotRecoverable(session, "its logbook cannot be read")
    if has_ended(entries, facts.incarnation):
        raise errors.NotRecoverable(session, "it has ended; it was not lost")
    image = stopped_in(entries, facts.incarnation)
    if image and recovery_places.has_image(session, image):
        raise errors.NotRecoverable(session, on_disk(session, image))
    demand_dead(session, facts)
    last = max(facts.incarnation, life_of(entries[-1]))
    tail = recovery_files.tail_of(session)
    return NextLife(facts, tail, next_incarnation(last))


def demand_dead(session: SessionId, life: recovery.StartFacts | None) -> None:
    """Do nothing if no process can have the session, in that life or a later one.

    None is a life that was elsewhere.

    Raises:
        UsageError: One may.

    """
    until = time.monotonic() + PATIENCE
    while session in held_sessions():
        if time.monotonic() >= until:
            lived = 0 if life is None else life.incarnation
            raise errors.StillAlive(lived, "held by a holdfast process")
        time.sleep(STEP)
    begun = recovery_files.next_of(session)  # By a process that was killed meanwhile.
    for one in (life, begun):
        if one is not None and is_running(one.leader):
            where = f"running as process {one.leader.pid}, without a holder,"
            raise errors.StillAlive(one.incarnation, where)


def lock(session: SessionId) -> int:
    """Return a lock: nobody else recovers the session while it is open.

    Raises:
        UsageError: It is already being recovered.
        OSError: The disk refuses.

    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    path = recovery_places.path_of(session, recovery_places.LOCK)
    fd = os.open(path, flags, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise errors.StillAlive(0, "being recovered") from None
    return fd


def clear_way(session: SessionId) -> None:
    """Remove what a life has left that was lost: nobody uses it any more.

    Raises:
        OSError: It cannot be removed.

    """
    left = (places.session_socket, places.session_pipe, places.session_frozen)
    for place in left:
        place(session).unlink(missing_ok=True)
    recovery_places.remove_note(session)


def _told(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
