"""The keeper's links to trustee and dozer: forks them, sends them changes.

What cannot be sent at once waits as the name of a session, and is sent as it is
by then. One that is gone, or cannot be told, is replaced by another fork, which
begins with everything.
"""

import contextlib
import gc
import itertools
import os
import selectors
import signal
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from holdfast.keeper import dozer, trustee
from holdfast.keeper.backoff import Backoff
from holdfast.keeper.trustee import Entrusted, Trust
from holdfast.keeper.vault import Deposit, Vault
from holdfast.keeper.watched import Means, Watched
from holdfast.linux import packets
from holdfast.linux.replacements import kill

PATIENT = 3
"""Deaths in a row that are answered at once."""

CALM = 1.0
"""Seconds of life after which a death is an accident again."""

MAX_DELAY = 5.0
"""Seconds between attempts at the worst: each costs a fork."""


_STANDARD = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Role:
    """What such a process is, and what it has a copy of."""

    what: str
    become: Callable[[socket.socket, Trust], None]
    keeps: Callable[[Deposit], bool]
    is_always_there: bool


TRUSTEE = Role("trustee", trustee.become, lambda _: True, is_always_there=True)
DOZER = Role("dozer", dozer.become, lambda kept: kept.is_dozing, is_always_there=False)


class TrusteeLink:
    """One of the two, and what it has not been told yet."""

    def __init__(
        self,
        vault: Vault,
        selector: selectors.BaseSelector,
        watched: Watched,
        role: Role = TRUSTEE,
        hear: Callable[[packets.Packet], None] = lambda _: None,
    ) -> None:
        self.pid = 0
        """Its number; 0 while there is none."""

        self._vault = vault
        self._selector = selector
        self._watched = watched
        self._role = role
        self._told_of = hear
        self._known: set[str] = set()
        """Sessions of which it has a copy, or will once it is told what is due."""

        self._link: socket.socket | None = None
        self._due: dict[str, bool] = {}
        """Sessions to speak of, and whether their descriptors are others."""

        self._backoff = Backoff(PATIENT, CALM, MAX_DELAY)

    def start(self) -> None:
        """Fork one that has all there is; try again later if that fails."""
        now = time.monotonic()
        self._due.clear()
        self._known = {
            session
            for session, kept in self._vault.deposits.items()
            if self._role.keeps(kept)
        }
        self._backoff.born(now)
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            self._backoff.died(now)
            return
        try:
            pid = os.fork()
        except OSError:
            ours.close()
            self._backoff.died(now)
            return
        else:
            if pid == 0:
                self._become(theirs)
        finally:
            theirs.close()
        ours.settimeout(0)
        self._link, self.pid = ours, pid
        self._selector.register(ours, selectors.EVENT_READ, self._ready)
        what = self._role.what
        means = Means(what, self._ping, lambda: kill(pid))
        self._watched.watch(what, pid, means)
        self._watched.answered(what)  # It has nothing to load.

    def _become(self, link: socket.socket) -> NoReturn:
        """Be that process, which was forked for it."""
        try:
            # Objects of the keeper's must not be cleared away here: their descriptors
            # are closed below, and their numbers are given to others.
            gc.disable()
            signal.set_wakeup_fd(-1)
            deposits = self._vault.deposits
            trust = Trust({one: entrusted(deposits[one]) for one in self._known})
            close_others(link, trust)
            self._role.become(link, trust)
        except BaseException:  # noqa: BLE001  # the outermost frame of this process
            traceback.print_exc()
        finally:
            os._exit(0)

    def start_if_needed(self) -> None:
        """Fork one, if there is something for it."""
        deposits = self._vault.deposits.values()
        if self._role.is_always_there or any(map(self._role.keeps, deposits)):
            self.start()

    def note(self, session: str, *, is_anew: bool = False) -> None:
        """Tell what has become of a session; `is_anew` if its descriptors are others.

        Once this returns, and unless the trustee is slow, the copies are with it:
        what was sent is taken from the socket also after our death.
        """
        kept = self._vault.deposits.get(session)
        is_kept = kept is not None and self._role.keeps(kept)
        if not is_kept and session not in self._known:
            return
        if self._link is not None:
            is_anew = is_anew or session not in self._known
            self._due[session] = is_anew or self._due.get(session, False)
            self._known.add(session)
            self._flush()
            return
        is_due = self._backoff.restart_at is not None
        if is_kept and not (is_due or self._role.is_always_there):
            self.start()

    def tell_expiries(self, expiries: dict[str, float]) -> None:
        """Tell until when movable sessions may speak, in few words."""
        if self._link is None or not expiries:
            return
        try:
            packets.send(self._link, {"do": "expiries", "at": expiries})
        except BlockingIOError:
            for session in expiries:
                self.note(session)  # With what else is due.
        except OSError:
            pass  # It is gone, and its successor begins with everything.

    def tell_rest(self) -> None:
        """Tell it that we are about to end, and that it is not to look for another."""
        self._say("rest")

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return self._backoff.restart_at

    def tick(self, now: float) -> None:
        """Fork another one, if it is time and there is something for it."""
        if self._backoff.take_due(now):
            self.start_if_needed()

    def end(self) -> None:
        """End it: nobody is to start a keeper after us."""
        kill(self.pid)
        self._hang_up()

    def _ready(self, link: socket.socket, events: int) -> None:
        if events & selectors.EVENT_READ:
            self._hear(link)
        elif self._link is not None:
            self._flush()

    def _hear(self, link: socket.socket) -> None:
        try:
            heard = packets.receive(link)
        except BlockingIOError:
            return
        if heard is None:
            self._lose()  # This is its end.
            return
        self._watched.answered(self._role.what)
        if heard[0].get("do") == "ping":
            self._say("pong")
        else:
            self._told_of(heard[0])

    def _ping(self) -> None:
        self._say("ping")

    def _say(self, word: str) -> None:
        # One whose socket is full has something to take first.
        with contextlib.suppress(OSError):
            if self._link is not None:
                packets.send(self._link, {"do": word})

    def _flush(self) -> None:
        assert self._link is not None  # noqa: S101  # only then is something due
        while self._due:
            session, is_anew = next(iter(self._due.items()))
            try:
                self._send(self._link, session, is_anew=is_anew)
            except BlockingIOError:
                break
            except OSError:
                # One that cannot be told would hand on what is no longer so.
                self.end()
                self._lose()
                return
            del self._due[session]
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._due else 0)
        if self._selector.get_key(self._link).events != wanted:
            self._selector.modify(self._link, wanted, self._ready)

    def _send(self, link: socket.socket, session: str, *, is_anew: bool) -> None:
        kept = self._vault.deposits.get(session)
        if kept is None or not self._role.keeps(kept):
            self._known.discard(session)
            packets.send(link, {"do": "drop", "id": session})
            return
        packet: packets.Packet = {"do": "keep", "id": session, "facts": kept.facts}
        packets.send(link, {**packet, "exit": kept.exit}, kept.fds if is_anew else [])

    def _lose(self) -> None:
        self._hang_up()
        self._backoff.died(time.monotonic())

    def _hang_up(self) -> None:
        self.pid = 0
        self._watched.rest(self._role.what)
        if self._link is not None:
            self._selector.unregister(self._link)
            self._link.close()
            self._link = None


def close_others(link: socket.socket, trust: Trust) -> None:
    """Close all that is no deposit: the keeper's lock would outlive it in us."""
    copies = trust.copies.values()
    kept = {*_STANDARD, link.fileno(), *(fd for copy in copies for fd in copy.fds)}
    for low, high in itertools.pairwise([*sorted(kept), os.sysconf("SC_OPEN_MAX")]):
        os.closerange(low + 1, high)


def entrusted(kept: Deposit) -> Entrusted:
    """Return the copy of a deposit that such a process keeps."""
    return Entrusted(kept.facts, kept.fds, kept.exit)
