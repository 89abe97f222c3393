"""The trustee: a second copy of every deposit, for when the keeper is gone.

It is a fork of the keeper, and so begins with everything that the keeper has. It
closes what is not a deposit, takes from a socket what changes, and watches the
keeper, which it kills if that hangs. When the keeper is gone it finds the next one,
or starts it, hands it every deposit, and ends. So a session lives on when its holder
and the keeper die in the same moment: of holder, keeper and trustee, any one is
enough.

A keeper that replaces its own code closes the socket, too: then the same is done,
and whether the new code answers is found out by a process that can start the old.
"""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.keeper.last_fence import LastFence
from holdfast.keeper.vault import Facts
from holdfast.linux import packets, process_activity, process_start
from holdfast.linux.replacements import kill_keeper
from holdfast.linux.stored import folders
from holdfast.linux.watchdog import SOON, Act, Watchdog
from holdfast.model.errors import HoldfastError

RETRY = 0.05
"""Seconds between attempts to find a keeper."""

START_EVERY = 20
"""Attempts between two starts of a keeper: about a second, which it needs at worst."""

CLAIM_PATIENCE = 40
"""Attempts after which a keeper is started even if another process claimed to."""

TIMEOUT = 10.0
"""Seconds for an answer: a keeper that replaces its code gives none meanwhile."""

KEEPER = "keeper"


@dataclass(slots=True)
class Entrusted:
    """The copy of one deposit."""

    facts: Facts
    fds: list[int]
    exit: object


@dataclass(slots=True)
class Trust:
    """Everything entrusted, by session id."""

    copies: dict[str, Entrusted] = field(default_factory=dict)
    fence: LastFence = field(init=False)

    def __post_init__(self) -> None:
        """Know until when movable sessions may speak."""
        self.fence = LastFence(self._living)
        for session, copy in self.copies.items():
            self.fence.told(session, copy.facts.get("expires"))

    def _living(self, session: str) -> Facts | None:
        copy = self.copies.get(session)
        return None if copy is None or copy.exit is not None else copy.facts

    def take_expiries(self, told: object) -> None:
        """Take until when movable sessions may speak."""
        for session, expires in told.items() if isinstance(told, dict) else ():
            copy = self.copies.get(session)
            if copy is not None:
                copy.facts = {**copy.facts, "expires": expires, "leased": True}
                self.fence.told(session, expires)

    def take(self, packet: packets.Packet, fds: list[int]) -> None:
        """Take what has changed; descriptors come only where they are others."""
        session = str(packet.get("id"))
        facts = packet.get("facts")
        if not isinstance(facts, dict):
            self.drop(session)
            packets.close(fds)
            return
        copy = self.copies.setdefault(session, Entrusted(facts, [], None))
        copy.facts, copy.exit = facts, packet.get("exit")
        self.fence.told(session, facts.get("expires"))
        if fds:
            packets.close(copy.fds)
            copy.fds = fds

    def drop(self, session: str) -> None:
        """Let go of a session."""
        copy = self.copies.pop(session, None)
        if copy is not None:
            packets.close(copy.fds)

    def hand_over(self, link: socket.socket) -> None:
        """Give a keeper everything, and let go of what it has.

        Raises:
            OSError: It is gone; the rest is for the next one.

        """
        for session, copy in list(self.copies.items()):
            packet: packets.Packet = {
                "do": "inherit",
                "id": session,
                "facts": copy.facts,
                "exit": copy.exit,
            }
            packets.send(link, packet, copy.fds)
            if packets.receive(link) is None:
                raise ConnectionResetError("the keeper is gone")
            # Refused means forgotten, or not known how: no second try helps.
            self.drop(session)


def become(link: socket.socket, trust: Trust) -> None:
    """Be the trustee, in a process that was forked for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _keep_until_it_is_gone(link, trust, os.getppid())
    link.close()
    _find_heir(trust)


def _keep_until_it_is_gone(link: socket.socket, trust: Trust, keeper: int) -> None:
    """Take what the keeper says until it is gone; one that hangs is helped to go.

    It is our parent, so its number is its own for as long as we are its child.
    """
    watchdog = Watchdog()
    watchdog.watch(KEEPER, keeper, time.monotonic(), every=SOON)
    watchdog.answered(KEEPER, time.monotonic())  # It has forked us.
    while True:
        due_at = watchdog.next_deadline() or 0.0
        if trust.fence.wait(link, max(due_at - time.monotonic(), 0.001)):
            heard = packets.receive(link)
            if heard is None:
                return
            watchdog.answered(KEEPER, time.monotonic())
            _take(link, trust, *heard)
            continue  # All that it said comes before what the clock says.
        trust.fence.tick()
        now = time.monotonic()
        if watchdog.due(now) and os.getppid() == keeper:
            _look(link, watchdog, keeper, now)


def _take(
    link: socket.socket, trust: Trust, packet: packets.Packet, fds: list[int]
) -> None:
    match packet.get("do"):
        case "ping":
            _say(link, "pong")
        case "pong":
            pass
        case "expiries":
            trust.take_expiries(packet.get("at"))
        case _:
            trust.take(packet, fds)


def _look(link: socket.socket, watchdog: Watchdog, keeper: int, now: float) -> None:
    found = process_activity.take_closely(keeper)
    match watchdog.looked(KEEPER, found, now):
        case Act.ASK:
            _say(link, "ping")
        case Act.REPLACE:
            kill_keeper(keeper, watchdog.stalled(KEEPER))
        case _:
            pass


def _say(link: socket.socket, word: str) -> None:
    link.settimeout(0)
    # One whose socket is full has had enough to do.
    with contextlib.suppress(OSError):
        packets.send(link, {"do": word})


class HeirSearch:
    """Looks for the next keeper, and starts it if there is none."""

    def __init__(self, give: Callable[[socket.socket], None]) -> None:
        self._give = give
        self._attempts = 0
        self._claim: int | None = None

    def attempt(self) -> None:
        """Try once; the next attempt makes sense after RETRY seconds."""
        with contextlib.suppress(OSError, HoldfastError):
            with packets.connect(folders.keeper_address(), TIMEOUT) as link:
                self._give(link)
            return
        if self._attempts % START_EVERY == 0:
            if self._claim is None:
                self._claim = process_start.claim_start()
            # The claimant may be frozen; a surplus keeper ends by itself.
            if self._claim is not None or self._attempts > CLAIM_PATIENCE:
                with contextlib.suppress(OSError, HoldfastError):
                    process_start.start_keeper()
        self._attempts += 1


def _find_heir(trust: Trust) -> None:
    search = HeirSearch(trust.hand_over)
    while trust.copies:
        search.attempt()
        if trust.copies:
            time.sleep(RETRY)
