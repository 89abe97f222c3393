"""The keeper's process: listens, keeps, reaps, and asks the nursery for holders.

Packets it takes (JSON, linux/packets.py), each answered with `ok`:

    list                        what is kept, as facts
    create  spec                have a session made; answered when it lives
    deposit id facts + 4 fds    from a holder, which keeps the link open
    failed  token code facts    from a holder that could not start its command
    rename, keep, forget, status
"""

import contextlib
import fcntl
import os
import selectors
import signal
import socket
import subprocess
import sys
import time

from holdfast.keeper.vault import Facts, Vault
from holdfast.linux import packets, places, processes
from holdfast.version import __version__

FDS = 4
"""Descriptors of a session: terminal, memory, listening socket, pidfd."""

PAGE = 50
"""Sessions listed in one packet: with long commands, what a packet holds."""


class Keeper:
    """The one process that every session's descriptors are copied to."""

    def __init__(self) -> None:
        self._vault = Vault()
        self._selector = selectors.DefaultSelector()
        self._listener = packets.listen(places.keeper_socket())
        self._listener.settimeout(0)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._links: dict[socket.socket, str] = {}
        self._waiting: dict[str, socket.socket] = {}
        self._nursery: socket.socket | None = None
        self._nursery_pid = 0
        self._wake, waker = socket.socketpair()
        self._wake.settimeout(0)
        waker.settimeout(0)
        self._waker = waker  # Kept: the signal module only knows its number.
        signal.set_wakeup_fd(waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._wake, selectors.EVENT_READ, self._children_ended)
        self._start_nursery()

    def run(self) -> None:
        """Serve for ever."""
        while True:
            for key, _ in self._selector.select(self._timeout()):
                key.data(key.fileobj)
            self._replace_the_dead()

    def _timeout(self) -> float | None:
        deadline = self._vault.next_deadline()
        return None if deadline is None else max(0.0, deadline - time.monotonic())

    # ── links ─────────────────────────────────────────────────────────────

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            link, _ = listener.accept()
            if packets.is_ours(link):
                self._selector.register(link, selectors.EVENT_READ, self._hear)
            else:
                link.close()

    def _hear(self, link: socket.socket) -> None:
        heard = packets.receive(link)
        if heard is None:
            self._ended(link)
            return
        packet, fds = heard
        answer = self._answer(link, packet, fds)
        if answer is not None:
            self._reply(link, answer)

    def _ended(self, link: socket.socket) -> None:
        self._selector.unregister(link)
        link.close()
        session = self._links.pop(link, None)
        if session is not None:
            self._vault.holder_died(session, time.monotonic())

    def _reply(self, link: socket.socket, answer: Facts) -> None:
        with contextlib.suppress(OSError):
            packets.send(link, answer)

    # ── requests ──────────────────────────────────────────────────────────

    def _answer(  # noqa: PLR0911  # one case for each request
        self, link: socket.socket, packet: packets.Packet, fds: list[int]
    ) -> Facts | None:
        match packet.get("do"):
            case "deposit":
                return self._deposit(link, packet, fds)
            case "failed":
                return self._failed(packet)
            case "list":
                return self._list(link)
            case "create":
                return self._create(link, packet)
            case "rename" | "keep" | "facts":
                return self._change(packet)
            case "forget":
                return self._forget(str(packet.get("id")))
            case "status":
                return self._status()
            case word:
                return _refusal("unexpected-message", f"there is no {word!r}")

    def _deposit(
        self, link: socket.socket, packet: packets.Packet, fds: list[int]
    ) -> Facts:
        session, facts = str(packet.get("id")), packet.get("facts")
        if len(fds) != FDS or not isinstance(facts, dict):
            _close(fds)
            return _refusal("unexpected-message", "a deposit has four descriptors")
        _close(self._vault.deposit(session, facts, fds, time.monotonic()))
        self._links[link] = session
        waiting = self._waiting.pop(str(packet.get("token")), None)
        if waiting is not None:
            self._reply(waiting, {"ok": True, "id": session, **facts})
        self._note_exit(session, packet.get("exit"))
        return {"ok": True, "exit": self._vault.deposits[session].exit}

    def _failed(self, packet: packets.Packet) -> Facts:
        waiting = self._waiting.pop(str(packet.get("token")), None)
        if waiting is not None:
            self._reply(waiting, {**packet, "ok": False})
        return {"ok": True}

    def _list(self, link: socket.socket) -> Facts:
        found = self._sessions()
        while len(found) > PAGE:
            self._reply(link, {"ok": True, "sessions": found[:PAGE], "more": True})
            found = found[PAGE:]
        return {"ok": True, "sessions": found, "more": False}

    def _sessions(self) -> list[Facts]:
        return [
            {**kept.facts, "id": session, "exit": kept.exit, "held": kept.is_held}
            for session, kept in self._vault.deposits.items()
        ]

    def _create(self, link: socket.socket, packet: packets.Packet) -> Facts | None:
        name = packet.get("name")
        for session, kept in self._vault.deposits.items():
            if name and str(kept.facts.get("name")).lower() == str(name).lower():
                return _refusal(
                    "name-taken", f"{name!r} is taken by {session}", name=name
                )
        token = os.urandom(8).hex()
        self._waiting[token] = link
        if self._ask_nursery({**packet, "do": "create", "token": token}, []):
            return None  # Answered when the holder reports.
        del self._waiting[token]
        return _refusal("no-keeper", "the nursery cannot be started", why="no nursery")

    def _change(self, packet: packets.Packet) -> Facts:
        kept = self._vault.deposits.get(str(packet.get("id")))
        if kept is None:
            return _refusal("session-not-found", "no such session", session="")
        for name in ("name", "keep", "state", "size"):
            if name in packet:
                kept.facts[name] = packet[name]
        self._note_exit(str(packet.get("id")), packet.get("exit"))
        if packet.get("do") != "facts":  # Else the holder has said it itself.
            told = {name: kept.facts[name] for name in ("name", "keep")}
            self._tell_holder(str(packet["id"]), {"do": "changed", **told})
        return {"ok": True}

    def _note_exit(self, session: str, status: object) -> None:
        kept = self._vault.deposits[session]
        if isinstance(status, int) and kept.exit is None:
            kept.exit = status

    def _forget(self, session: str) -> Facts:
        self._tell_holder(session, {"do": "forget"})
        for link in [one for one, held in self._links.items() if held == session]:
            del self._links[link]
        _close(self._vault.forget(session))
        (places.session_dir() / f"{session}.sock").unlink(missing_ok=True)
        return {"ok": True}

    def _tell_holder(self, session: str, packet: packets.Packet) -> None:
        for link, held in self._links.items():
            if held == session:
                self._reply(link, packet)

    def _status(self) -> Facts:
        return {
            "ok": True,
            "version": __version__,
            "pid": os.getpid(),
            "nursery": self._nursery_pid,
            "sessions": len(self._vault.deposits),
        }

    # ── children ──────────────────────────────────────────────────────────

    def _children_ended(self, wake: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            wake.recv(4096)
        for pid, status in processes.reap().items():
            for kept in self._vault.deposits.values():
                if kept.facts.get("pid") == pid and kept.exit is None:
                    kept.exit = status

    def _start_nursery(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        started = subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-m", "holdfast.holder.nursery", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        # Its end is told by the socket, and SIGCHLD collects it.
        started.returncode = 0
        self._nursery, self._nursery_pid = ours, started.pid
        self._selector.register(ours, selectors.EVENT_READ, self._nursery_ended)

    def _nursery_ended(self, link: socket.socket) -> None:
        self._selector.unregister(link)
        link.close()
        self._nursery = None
        self._start_nursery()
        # Whatever it was asked for and had not done yet is asked for again.
        for session in self._vault.deposits:
            self._vault.replacement_failed(session, time.monotonic())
        for waiting in self._waiting.values():
            self._reply(waiting, _refusal("no-keeper", "try again", why="it restarted"))
        self._waiting.clear()

    def _ask_nursery(self, packet: packets.Packet, fds: list[int]) -> bool:
        try:
            assert self._nursery is not None  # noqa: S101  # it is always started anew
            packets.send(self._nursery, packet, fds)
        except OSError:
            return False
        return True

    def _replace_the_dead(self) -> None:
        now = time.monotonic()
        for session in self._vault.due(now):
            kept = self._vault.deposits[session]
            packet = {"do": "adopt", "id": session, "facts": kept.facts}
            if not self._ask_nursery({**packet, "exit": kept.exit}, kept.fds):
                self._vault.replacement_failed(session, now)


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


def _refusal(code: str, text: str, **facts: object) -> Facts:
    return {"ok": False, "code": code, "text": text, "facts": facts}


def main() -> None:
    """Become the keeper of this user on this machine, unless there is one."""
    lock = os.open(places.runtime_dir() / "keeper.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("another keeper is at work here")
    processes.become_subreaper()
    processes.hide_memory()
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    Keeper().run()
