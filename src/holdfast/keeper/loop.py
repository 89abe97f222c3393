"""The keeper's process: one selector loop around its state and requests.

It begins by itself, or takes the place of older code with everything that had
(`--resume`), which first has a child try whether that will work (`--check`).
"""

import contextlib
import fcntl
import os
import selectors
import signal
import socket
import sys
import time

from holdfast.keeper import handed_state, session_probe
from holdfast.keeper.code import Code, present
from holdfast.keeper.keeper_answers import Requests
from holdfast.keeper.keeper_state import KeeperState
from holdfast.keeper.service_sockets import JUDGE, PAINTER, Program, ServiceSocket
from holdfast.keeper.upgrade import Event
from holdfast.keeper.upgrade_steps import Upgrading
from holdfast.linux import descriptors, packets, processes
from holdfast.linux.replacements import take_word
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId  # noqa: TC001  # an annotation people read
from holdfast.version import __version__

STALE_PATIENCE = 5.0
"""Seconds a socket nobody listens at is left alone: one that is being made has a
holder behind it within milliseconds."""

CLOSE_PATIENCE = 2.0
"""Seconds for holders that are just being replaced to come and hear `rest`."""

RESUME_PATIENCE = 5.0
"""Seconds for a holder that was on its way while our code was replaced."""


class Keeper:
    """The one process that every session's descriptors are copied to."""

    def __init__(self, lock: int) -> None:
        self._lock = lock
        self._selector = selectors.DefaultSelector()
        self._keeper_state = KeeperState(self._selector, self._hear, self._happened)
        self._upgrading = Upgrading(
            self._keeper_state, self._write_state, self._replace_code
        )
        self._requests = Requests(self._keeper_state, self._upgrading)
        self._listener: socket.socket | None = None
        self._stale: set[SessionId] = set()
        self._stale_at: float | None = None
        self._close_at: float | None = None
        self._wake, waker = socket.socketpair()
        self._wake.settimeout(0)
        waker.settimeout(0)
        self._waker = waker  # Kept: the signal module only knows its number.
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._wake, selectors.EVENT_READ, self._children_ended)

    def begin(self) -> None:
        """Begin with nothing, and find out who is still there."""
        if (former := take_word()) is not None:
            self._keeper_state.was_replaced(former)
        self._keeper_state.trustee.start()
        self._keeper_state.painter = self._door(PAINTER)
        self._keeper_state.judge = self._door(JUDGE)
        # Last: a client that reaches us finds the other sockets, too.
        self._listen(packets.listen(places.keeper_socket()))
        self._keeper_state.start_nursery()
        session_probe.knock_at(places.dozer_socket())
        there, self._stale = session_probe.knock(places.session_dir())
        self._requests.expect(there, time.monotonic())
        self._stale_at = time.monotonic() + STALE_PATIENCE if self._stale else None

    def resume(self, left: handed_state.State) -> None:
        """Take over everything from the code that ran in our place before."""
        now, keeper_state = time.monotonic(), self._keeper_state
        self._requests.started_at = left.started_at
        self._listen(handed_state.socket_at(left.listener))
        self._resume_doors(left)
        self._resume_nursery(left)
        for kept in left.sessions:
            for fd in kept.fds:
                handed_state.withhold(fd)
            keeper_state.vault.deposits[kept.id] = kept.to_deposit(now)
            if not keeper_state.vault.deposits[kept.id].is_dozing:
                keeper_state.vault.hurry(kept.id, now + RESUME_PATIENCE)
        links = {fd: handed_state.socket_at(fd) for fd, _ in left.links}
        for fd, session in left.links:
            keeper_state.links.add(links[fd])
            if session is not None:
                keeper_state.hold(links[fd], session)
                keeper_state.ask_first(links[fd])
        if left.host in links:
            keeper_state.host.hello(links[left.host], left.host_runs)
        keeper_state.host.leases.resume()
        keeper_state.waiting = {
            token: links[fd] for token, fd in left.waiting.items() if fd in links
        }
        keeper_state.trustee.start()
        keeper_state.dozer.start_if_needed()
        if left.asker in links:
            keeper_state.links.send(
                links[left.asker],
                {"ok": True, "more": False, "was": left.version, "now": __version__},
            )
        self._children_ended(self._wake, 0)  # Who ended while we were nobody.

    def _door(
        self, program: Program, listener: socket.socket | None = None
    ) -> ServiceSocket:
        watched = self._keeper_state.watched
        return ServiceSocket(program, self._selector, listener, watched=watched)

    def _resume_doors(self, left: handed_state.State) -> None:
        painter = self._door(PAINTER, handed_state.socket_at(left.painter))
        painter.take_up(left.painter_pid)
        # Older code had no judge: nobody listens for one yet.
        listener = None if left.judge is None else handed_state.socket_at(left.judge)
        judge = self._door(JUDGE, listener)
        judge.take_up(left.judge_pid)
        self._keeper_state.painter, self._keeper_state.judge = painter, judge

    def _resume_nursery(self, left: handed_state.State) -> None:
        nursery = self._keeper_state.new_nursery(present())
        nursery.version, nursery.waits = left.nursery_version, left.nursery_waits
        nursery.pings, nursery.dozes = left.nursery_pings, left.nursery_dozes
        nursery.take_up(handed_state.socket_at(left.nursery), left.nursery_pid)
        self._keeper_state.nursery = nursery
        self._keeper_state.watch_nursery(nursery)
        nursery.ping()

    def run(self) -> None:
        """Serve until told to end."""
        while not self._is_over():
            for key, events in self._selector.select(self._timeout()):
                found = self._selector.get_map().get(key.fd)
                # One that was closed by what another one said is not asked.
                if found is not None and found.fileobj == key.fileobj:
                    key.data(key.fileobj, events)
            now = time.monotonic()
            self._keeper_state.tick(now)
            self._upgrading.tick(now)
            self._requests.tick(now)
            self._clear_stale(now)
        self._end()

    def _listen(self, listener: socket.socket) -> None:
        listener.settimeout(0)
        self._listener = listener
        self._selector.register(
            listener,
            selectors.EVENT_READ,
            lambda found, _: self._keeper_state.links.accept(found),
        )

    def _hear(
        self, link: socket.socket, packet: packets.Packet, fds: list[int]
    ) -> None:
        self._requests.hear(link, packet, fds)

    def _happened(self, event: Event) -> None:
        self._upgrading.happened(event)

    def _timeout(self) -> float | None:
        deadlines = (
            self._keeper_state.next_deadline(),
            self._upgrading.next_deadline(),
            self._requests.next_deadline(),
            self._stale_at,
            self._close_at,
        )
        first = min((at for at in deadlines if at is not None), default=None)
        return None if first is None else max(0.0, first - time.monotonic())

    def _children_ended(self, wake: socket.socket, _events: int) -> None:
        with contextlib.suppress(BlockingIOError):
            wake.recv(4096)
        self._upgrading.children_ended(self._keeper_state.collect_children())

    def _clear_stale(self, now: float) -> None:
        if self._stale_at is None or now < self._stale_at:
            return
        self._stale_at = None
        for session in self._stale:
            if session not in self._keeper_state.vault.deposits:
                session_probe.remove(places.session_dir(), session)

    # ── the end of this keeper ────────────────────────────────────────────

    def _is_over(self) -> bool:
        if not self._requests.is_closing:
            return False
        now = time.monotonic()
        self._close_at = self._close_at or now + CLOSE_PATIENCE
        deposits = self._keeper_state.vault.deposits.values()
        held = all(kept.is_held or kept.is_dozing for kept in deposits)
        return (held and self._keeper_state.links.is_silent) or now >= self._close_at

    def _end(self) -> None:
        self._keeper_state.trustee.end()
        self._keeper_state.dozer.tell_rest()
        if self._keeper_state.nursery is not None:
            self._keeper_state.nursery.end()
        # While the lock is ours, so are the sockets.
        places.keeper_socket().unlink(missing_ok=True)
        for service in self._keeper_state.service_sockets():
            service.remove()
        # The next keeper must not find the lock held for long.
        os._exit(0)

    # ── the code that takes our place ─────────────────────────────────────

    def _write_state(self) -> int:
        return handed_state.write(self._state())

    def _state(self) -> handed_state.State:
        keeper_state, asker = self._keeper_state, self._upgrading.asker
        nursery = keeper_state.next_nursery or keeper_state.nursery
        assert nursery is not None  # noqa: S101  # the machine has seen it ready
        assert nursery.link is not None  # noqa: S101
        assert keeper_state.painter is not None  # noqa: S101
        assert keeper_state.judge is not None  # noqa: S101
        assert self._listener is not None  # noqa: S101
        return handed_state.State(
            version=__version__,
            started_at=self._requests.started_at,
            lock=self._lock,
            listener=self._listener.fileno(),
            painter=keeper_state.painter.listener.fileno(),
            painter_pid=keeper_state.painter.pid,
            judge=keeper_state.judge.listener.fileno(),
            judge_pid=keeper_state.judge.pid,
            nursery=nursery.link.fileno(),
            nursery_pid=nursery.pid,
            nursery_version=nursery.version,
            nursery_waits=nursery.waits,
            nursery_pings=nursery.pings,
            nursery_dozes=nursery.dozes,
            host=None
            if keeper_state.host.link is None
            else keeper_state.host.link.fileno(),
            host_runs=keeper_state.host.runs.value,
            asker=None
            if asker is None or asker not in keeper_state.links
            else asker.fileno(),
            sessions=[
                handed_state.Kept(
                    session, kept.facts, kept.fds, kept.exit, kept.is_held
                )
                for session, kept in keeper_state.vault.deposits.items()
            ],
            links=[
                (link.fileno(), keeper_state.held.get(link))
                for link in keeper_state.links
            ],
            waiting={
                token: link.fileno() for token, link in keeper_state.waiting.items()
            },
        )

    def _replace_code(self, code: Code) -> None:
        """Become the new code; return only if that cannot be done."""
        for service in self._keeper_state.service_sockets():
            service.end()  # The next one is of the new code.
        handed = self._state()
        memory = handed_state.write(handed)
        for fd in (memory, *handed.fds()):
            handed_state.hand_on(fd)
        command = [code.python, "-P", "-m", "holdfast.keeper", "--resume", str(memory)]
        try:
            os.execve(code.python, command, code.environment())  # noqa: S606  # that is the job
        except OSError:
            os.close(memory)
            for fd in handed.fds():
                handed_state.withhold(fd)


def main(arguments: list[str]) -> None:
    """Become the keeper of this user on this machine, unless there is one."""
    match arguments:
        case ["--check", memory]:
            handed_state.read(int(memory))
        case ["--resume", memory]:
            left = handed_state.read(int(memory))
            os.close(int(memory))
            handed_state.withhold(left.lock)
            keeper = _keeper(left.lock)
            keeper.resume(left)
            keeper.run()
        case _:
            keeper = _keeper(_locked())
            keeper.begin()
            keeper.run()


def _keeper(lock: int) -> Keeper:
    processes.become_subreaper()
    processes.hide_memory()
    descriptors.raise_limit()
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return Keeper(lock)


def _locked() -> int:
    lock = os.open(places.runtime_dir() / "keeper.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("another keeper is running here")
    return lock
