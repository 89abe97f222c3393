"""Moves a session of this machine to another host, or finishes a move that was begun.

core/capsule/move_order.py says what to do next. This process has no state that matters:
if it is killed, the note and the relay say how far it came, and who asks again goes on.
It speaks to the other host as this host, whose key the other one has let in.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from holdfast.client import calls, host, hosts, lost_sessions, move_checks
from holdfast.client.departing_parcel import DepartingParcel, claim, pack
from holdfast.client.departures import await_left, forget, image_in_book
from holdfast.client.host_link import HostLink, reach_host
from holdfast.client.hosts import KnownHost
from holdfast.core.capsule.move_order import (
    Done,
    Ending,
    Event,
    MoveOrder,
    Refused,
    Stage,
    Step,
    Unanswered,
)
from holdfast.crypto.identity import Identity
from holdfast.linux.stored import move_notes
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.errors import (
    HoldfastError,
    ImageBusy,
    LeaseHeld,
    LeaseNeeded,
    MoveBlocked,
    MoveFailed,
    MoveUnfinished,
    NotEntrusted,
    SessionStopped,
    Unavailable,
    Unsettled,
)
from holdfast.model.ids import SessionId, host_id
from holdfast.model.session_requests import CommitMove, DropMove, PassLease, Request
from holdfast.wire.host_requests import error_from

PAUSE = 0.3
"""Seconds before a step is tried again that nobody answered."""

TIMEOUT = 60.0
"""Seconds for the whole of it, unless somebody says otherwise."""

COMMITTING = 60.0
"""Seconds for the other host to go on with a session."""


class Moved(NamedTuple):
    """What became of a move."""

    session: str
    name: str
    host: str
    incarnation: int
    size: int
    """Bytes that were sent."""

    silent_ms: int
    """How long nobody could use it."""


Progress = Callable[[Step, int, int], None]
"""Told of each step, and of the bytes that were sent, and of how many there are."""


class Departure:
    """One move, carried out."""

    def __init__(self, note: MoveNote, progress: Progress, timeout: float) -> None:
        self._note = note
        self._session = SessionId(note.session)
        self._progress = progress
        self._until = time.monotonic() + timeout
        stage = Stage(note.stage) if note.stage else None
        self._order = MoveOrder(stage)
        self._us = Identity.from_seed(host_seed())
        self._runner = asyncio.Runner()
        self._link: HostLink | None = None
        self._error: HoldfastError | None = None
        self._sent = 0
        self._stopped_at = time.monotonic()
        self._does: dict[Step, Callable[[], None]] = {
            Step.CHECK: self._check,
            Step.NOTE: self._leave,
            Step.ENTRUST: self._entrust,
            Step.STOP: self._stop,
            Step.SEND: self._send,
            Step.RELEASE: self._release,
            Step.COMMIT: self._commit,
            Step.RECLAIM: self._reclaim,
            Step.FORGET: self._forget,
            Step.DROP: self._drop,
            Step.REST: self._leave,
        }

    def run(self) -> Moved:
        """Do one step after the other, to the end.

        Raises:
            MoveBlocked: Something stands in the way; nothing was stopped.
            MoveFailed: It goes on here.
            MoveUnfinished: It is on disk here; asking again goes on.
            HoldfastError: It cannot be moved, and why.

        """
        with self._runner:
            try:
                while self._order.ending is None:
                    self._do_next()
            finally:
                self._runner.run(self._hang_up())
        return self._told()

    def _do_next(self) -> None:
        step = self._order.step
        self._progress(step, self._sent, self._sent)
        event = self._tried(step)
        noted = self._order.take(event, is_late=time.monotonic() >= self._until)
        if noted is not None:
            self._write(noted)
        if isinstance(event, Unanswered) and self._order.step is step:
            time.sleep(PAUSE)

    def _tried(self, step: Step) -> Event:
        """Do a step, and say what came of it."""
        try:
            self._does[step]()
        except (ImageBusy, LeaseHeld, LeaseNeeded, Unsettled) as error:
            self._error = error
            return Unanswered()
        except HoldfastError as error:
            self._error = error
            is_cut = isinstance(error, Unavailable) and error.code in _CUTS
            return Unanswered() if is_cut else Refused()
        except (OSError, TimeoutError) as error:
            self._error = LeaseNeeded(self._session, str(error) or "no answer in time")
            return Unanswered()
        return Done()

    def _told(self) -> Moved:
        note, why = self._note, str(self._error or "")
        match self._order.ending:
            case Ending.MOVED:
                silent = round((time.monotonic() - self._stopped_at) * 1000)
                return Moved(
                    note.session,
                    note.name,
                    note.host,
                    note.successor,
                    self._sent,
                    silent,
                )
            case Ending.STAYED if note.image:
                raise MoveFailed(note.name, note.host, why)
            case Ending.STAYED:
                raise self._error or MoveBlocked(note.name, note.host, why)
            case _:
                raise MoveUnfinished(note.name, note.host, why)

    def _write(self, stage: Stage) -> None:
        self._note = self._note._replace(stage=stage.value)
        move_notes.write(self._note)

    # ── before it is stopped ──────────────────────────────────────────────

    def _check(self) -> None:
        offer = move_checks.checked(self._session, self._note)
        answer = self._asked(offer)
        found = answer.get("blockers")
        listed = found if isinstance(found, list) else []
        if listed:
            told = "; ".join(f"{what} ({way})" for what, way in listed[:8])
            raise MoveBlocked(self._note.name, self._note.host, told)

    def _leave(self) -> None:
        """Do nothing: what is to be noted is, once the step is done."""

    def _entrust(self) -> None:
        self._here(self._pass(release=False))

    def _stop(self) -> None:
        self._stopped_at = time.monotonic()
        image = image_in_book(self._note)
        if not image:
            label = f"moving to {self._note.host}"
            try:
                image = calls.checkpoint(self._session, stop=True, label=label).number
            except SessionStopped:
                image = image_in_book(self._note)
            except Unavailable:
                image = image_in_book(self._note)
                if not image:
                    raise
        self._note = self._note._replace(image=image)

    # ── from here to there ────────────────────────────────────────────────

    def _send(self) -> None:
        await_left(self._note)
        # The other host hashes all of it, and refuses what is not as it was made.
        with claim(self._image) as image:
            parcel = pack(image, self._note.name)
            self._runner.run(self._carried(parcel))

    async def _carried(self, parcel: DepartingParcel) -> None:
        link = await self._linked()
        try:
            await link.ask(parcel.request)
            await link.send(parcel.papers + parcel.manifest)
            answer = await link.hear()
            begin = _number(answer, "from")
            self._sent = begin
            for piece in parcel.pieces(begin):
                await link.send(piece)
                self._sent += len(piece)
                self._progress(Step.SEND, self._sent, parcel.size)
            await link.hear(COMMITTING)
        except BaseException:
            await self._hang_up()
            raise

    def _release(self) -> None:
        try:
            self._here(self._pass(release=True))
        except (LeaseHeld, NotEntrusted):
            return  # The other host has claimed it, and says more.

    def _commit(self) -> None:
        asked = CommitMove(self._session, self._note.image)
        answer = self._asked(asked, COMMITTING)
        life = _number(answer, "incarnation")
        self._note = self._note._replace(successor=life)

    def _reclaim(self) -> None:
        """Claim it for here, and let it go on here, if that is granted."""
        note = self._note
        made = lost_sessions.reclaim(note, self._image, note.name, "as-is")
        self._note = note._replace(successor=made.incarnation)
        # It is of no use there any more; if it stays, the next one replaces it.
        with contextlib.suppress(HoldfastError, OSError, TimeoutError):
            self._asked(DropMove(note.session, note.image))

    def _forget(self) -> None:
        forget(self._note)

    def _drop(self) -> None:
        note = self._note
        if note.stage:  # Nobody else is to come after us any more.
            life = note.successor or note.life
            asked = PassLease(note.session, note.relay, life)
            with contextlib.suppress(HoldfastError, OSError):
                self._here(asked)
        move_notes.remove(self._session)

    # ── who is asked ──────────────────────────────────────────────────────

    @property
    def _image(self) -> ImageName:
        return ImageName(self._session, self._note.image)

    def _pass(self, *, release: bool) -> PassLease:
        note = self._note
        heirs = (host_id(bytes.fromhex(note.public_key)),)
        return PassLease(note.session, note.relay, note.life, heirs, release)

    def _here(self, asked: Request) -> dict[str, object]:
        """Ask the host of this machine."""
        answer = host.request(asked, patience=15.0)
        if answer is None:
            raise LeaseNeeded(
                self._session, "no host runs here; `holdfast up` starts it"
            )
        if answer.get("ok") is not True:
            raise error_from(answer)
        return answer

    def _asked(
        self, asked: Request, patience: float | None = None
    ) -> dict[str, object]:
        return self._runner.run(self._ask(asked, patience))

    async def _ask(self, asked: Request, patience: float | None) -> dict[str, object]:
        link = await self._linked()
        try:
            return await link.ask(asked, patience)
        except BaseException:
            await self._hang_up()
            raise

    async def _linked(self) -> HostLink:
        if self._link is None:
            self._link = await reach_host(target(self._note), self._us)
        return self._link

    async def _hang_up(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()


_CUTS = {"link-ended", "host-unreachable", "relay-unreachable", "session-unreachable"}
"""Codes of errors after which it is not known whether something was done."""


def _number(answer: Mapping[str, object], name: str) -> int:
    """Return a number of an answer; 0 if it is none."""
    found = answer.get(name)
    return found if isinstance(found, int) else 0


def depart(note: MoveNote, progress: Progress, timeout: float = TIMEOUT) -> Moved:
    """Move a session, or finish a move that was begun.

    Raises:
        HoldfastError: See `Departure.run`.

    """
    lock = move_notes.lock(SessionId(note.session))
    try:
        return Departure(note, progress, timeout).run()
    finally:
        os.close(lock)


def target(note: MoveNote) -> KnownHost:
    """Return the host that a session goes to, and the way there."""
    keys = bytes.fromhex(note.public_key), bytes.fromhex(note.static_key)
    for one in hosts.known():
        if one.public_key == keys[0]:
            return one
    return KnownHost(note.host, *keys, note.relays)
