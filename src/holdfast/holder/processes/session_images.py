"""Has the session checkpointed on request, and handles the result.

A porter does it (holder/porter.py), in a process of its own. When it is gone, however
it went, one thing is true of the session, and made so here:

    the book says that it was stopped    the image is the session; its tree ends
    anything else                        the tree goes on, and no draft is left

The logbook decides, so a successor comes to the same result: it finds the
note of the porter, and waits until nobody has its lock.
"""

import contextlib
import select
import signal
import time
from collections.abc import Callable  # an annotation people read
from typing import NamedTuple

from holdfast.core.book.logbook import EntryKind
from holdfast.holder.context import Context
from holdfast.holder.input.requests import Requests
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.links.porter_link import (
    Dumped,
    Failed,
    Going,
    Gone,
    PorterLink,
    Sealed,
    image_event,
    move_of,
    reap_event,
    told_again,
)
from holdfast.holder.moment import now
from holdfast.holder.output.display import Display
from holdfast.holder.processes.leader import Leader
from holdfast.holder.session import Session
from holdfast.linux.stored import checkpoint_note
from holdfast.linux.stored.book_end import image_for, last_entries, stopped_in
from holdfast.model import errors
from holdfast.model.envelopes import Right
from holdfast.model.ids import ActorId, host_id
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Goodbye

AGAIN = 0.2
"""Seconds between two looks whether CRIU is done with a session nobody waits for."""

LEAVING = 2.0
"""Seconds for a porter that has told us all to be gone."""

DYING = 5.0
"""Seconds for a tree to be gone that was killed."""

_KIND = FrameKind.CHECKPOINT_REQUEST


class Reaping(NamedTuple):
    """That the session is put to disk because nobody uses it."""

    why: str
    idle_ms: int
    why_used: Callable[[], str]
    """Returns why it is in use after all; empty if it is not."""


class SessionImages:
    """The images of one session, one at a time."""

    def __init__(
        self,
        context: Context,
        session: Session,
        requests: Requests,
        display: Display,
        leader: Leader,
        keeper: KeeperLink,
    ) -> None:
        self._context = context
        self._descriptors = context.descriptors
        self._session = session
        self._requests = requests
        self._display = display
        self._leader = leader
        self._keeper = keeper
        self._porter: PorterLink | None = None
        self._asker: Connection | None = None
        self._asked = CheckpointRequest(stop=False, label="", branch=False, key="")
        self._reaping: Reaping | None = None
        self._by = ActorId(context.descriptors.held.begun_by)
        self._moves: Going = None
        self._timer = context.timers.add(self._look)
        if self._descriptors.capsule and checkpoint_note.is_there(
            self._descriptors.session
        ):
            said = checkpoint_note.peek(self._descriptors.session)
            leader.is_put_away = self._is_stopped(said.image)
            self._timer.set(0.0)

    def ask(self, connection: Connection, asked: CheckpointRequest) -> None:
        """Begin, if the operator has the right."""
        actor = connection.operator.id
        try:
            right = Right.FORK if asked.branch else Right.CHECKPOINT
            if move_of(self._descriptors, asked) is not None:
                right = Right.MOVE
            self._requests.demand(actor, right)
        except errors.HoldfastError as error:
            self._session.input_handler.refusals.declined(actor, _KIND, error)
            connection.send(refusal(error, _KIND))
            return
        if self._is_known(connection, asked):
            return
        self._begin(connection, asked)

    def reap(self, connection: Connection, reaping: Reaping) -> None:
        """Put the session to disk and end it, unless it is used before that is done."""
        asked = CheckpointRequest(stop=True, label="", branch=False, key="")
        self._begin(connection, asked, reaping)

    def _begin(
        self,
        connection: Connection,
        asked: CheckpointRequest,
        reaping: Reaping | None = None,
    ) -> None:
        try:
            self._demand_possible()
            porter = PorterLink(self._descriptors, self._keeper, asked)
        except errors.HoldfastError as error:
            connection.send(refusal(error, _KIND))
            return
        self._porter, self._asker, self._asked = porter, connection, asked
        self._by, self._reaping = connection.operator.id, reaping
        self._moves = None if reaping else move_of(self._descriptors, asked)
        self._context.poll.watch(porter.link, self._heard)
        # A session that has a timer does not doze.
        self._timer.set(time.monotonic() + AGAIN)

    def _is_known(self, connection: Connection, asked: CheckpointRequest) -> bool:
        """See to somebody who asks again, because their link was cut or we are new."""
        if not asked.key:
            return False
        is_asked = (self._by, self._asked) == (connection.operator.id, asked)
        if is_asked and self._asker is not None:
            self._asker = connection  # The link that it had is gone.
            return True
        entries = last_entries(self._descriptors.session)
        number = image_for(entries, connection.operator.id, asked.key)
        if number:
            connection.send(told_again(self._descriptors.session, number, asked))
        return bool(number)

    def _demand_possible(self) -> None:
        descriptors = self._descriptors
        self._await_leaving()
        if self._porter is not None or checkpoint_note.is_there(descriptors.session):
            raise errors.CheckpointUnderWay
        why = ""
        if not descriptors.capsule:
            why = "it is not in a capsule"
        elif descriptors.start or self._leader.exit is not None:
            why = "nothing runs in it"
        elif self._session.driver.intake.is_frozen:
            why = "it is frozen"
        elif self._session.fence is not None and self._session.fence.is_on:
            why = "it is fenced"
        if why:
            raise errors.NotCheckpointable(descriptors.record.name, why)

    def _await_leaving(self) -> None:
        """Let a porter end that has told us all, and only tidies up."""
        until = time.monotonic() + LEAVING
        while self._porter is not None and self._asker is None:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._porter.link], [], [], left)[0]:
                return
            self._heard()

    def _heard(self) -> None:
        assert self._porter is not None  # noqa: S101  # it is what was heard
        match self._porter.hear():
            case Dumped():
                self._tell_porter(self._porter)
            case Sealed(told):
                self._sealed(told)
            case Failed(error):
                self._session.tally.count("holdfast_checkpoint_failures_total")
                self._answer(refusal(error, _KIND))
            case Gone():
                self._lose_porter(self._porter)
            case None:
                pass

    def _tell_porter(self, porter: PorterLink) -> None:
        """Say what belongs into the image; nothing runs, so nothing is printed."""
        if self._reaping is not None and (why := self._reaping.why_used()):
            self._answer(refusal(errors.SessionInUse(why), _KIND))
            self._lose_porter(porter)
            return
        master, driver = self._descriptors.master, self._session.driver
        while self._display.is_open and select.select([master], [], [], 0)[0]:
            self._display.printed()
        if self._asked.stop:
            # What is typed from now on would be in no image.
            self._session.writer.book()
            at = now()
            driver.do(driver.intake.freeze(self._by, at), at)
        self._session.settle()
        try:
            start, window = self._display.recovery.parts()
        except (OSError, errors.HoldfastError) as error:
            self._answer(refusal(errors.CriuFailed(str(error)), _KIND))
            self._lose_porter(porter)
            return
        shell = self._context.shell
        porter.tell(driver.intake.book.head, window, start, shell)

    def _record(self, told: Checkpointed) -> None:
        """Say in the book what became of the session."""
        fields: dict[str, str | int] = {"by": self._by, "image": told.number}
        kind = EntryKind.STOPPED if told.stopped else EntryKind.IMAGED
        kind = EntryKind.FORKED if self._asked.branch else kind
        fields |= {} if self._asked.branch else {"label": self._asked.label}
        fields["key"] = self._asked.key
        if self._moves is not None:
            fields["to"] = host_id(bytes.fromhex(self._moves.public_key))
        if self._reaping is not None:
            fields |= {"why": self._reaping.why, "idle_ms": self._reaping.idle_ms}
        self._session.driver.record(kind, fields)
        self._session.settle()

    def _count(self, told: Checkpointed) -> None:
        """Count what an image has cost; that there is one, the book says."""
        tally = self._session.tally
        counts = tally.counts
        counts.add("holdfast_checkpoint_bytes_total", amount=told.size)
        counts.add("holdfast_connections_cut_total", amount=len(told.cuts))
        tally.took("holdfast_checkpoint_seconds", told.still_ms / 1000)

    def _sealed(self, told: Checkpointed) -> None:
        self._record(told)
        self._count(told)
        if told.stopped:
            if not self._is_stopped(told.number):
                why = "the logbook cannot be written"
                self._answer(refusal(errors.CriuFailed(why), _KIND))
                return
            # The image is durable; after a power cut there is nothing but that.
            with contextlib.suppress(OSError):
                self._session.book.log.sync()
            self._end_tree()
            # Before the answer: who restores it then must not be told that it is here.
            self._keeper.unbegun()
        elif not self._asked.branch:
            self._keeper.change({"imaged_ms": time.time_ns() // 1_000_000})
        event = image_event(self._by, self._asked, told)
        self._context.clients.announce(event)
        answer: Message = told
        if self._reaping is not None:
            why, idle_ms, _ = self._reaping
            answer = reap_event(self._descriptors.session, self._by, why, idle_ms, told)
            self._context.clients.announce(answer)
        self._answer(answer)
        if told.stopped:
            self._dismiss(told.image)

    def _end_tree(self) -> None:
        """End the tree: the image has taken its place, and the book says so."""
        self._leader.is_put_away = True
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptors.capsule[0], signal.SIGKILL)
        # Who restores it at once must not find that it still runs.
        select.select([self._descriptors.pidfd], [], [], DYING)
        self._session.freezer.tidy()
        self._display.recovery.rest()

    def _dismiss(self, image: str) -> None:
        """Tell who is here where the session is."""
        stopped = errors.SessionStopped(image)
        goodbye = Goodbye(stopped.code, str(stopped))
        if self._moves is not None:
            goodbye = Goodbye(errors.SessionMoved.code, self._moves.told)
        for connection in self._context.clients.attached():
            connection.dismiss(goodbye)

    def _answer(self, message: Message) -> None:
        asker, self._asker = self._asker, None
        if asker is not None and not asker.is_closed:
            asker.send(message)
            asker.pump()

    def _lose_porter(self, porter: PorterLink) -> None:
        """Note that the porter has ended; it need not have said why."""
        self._context.poll.unwatch(porter.link)
        porter.link.close()
        self._porter = None
        if self._asker is not None:
            self._session.tally.count("holdfast_checkpoint_failures_total")
            self._answer(refusal(errors.CriuFailed("its process died"), _KIND))
        self._look(time.monotonic())

    def _look(self, at: float) -> None:
        """Put right what a porter has left, once it and its CRIU are gone."""
        session = self._descriptors.session
        self._timer.set(None)
        note = None
        if self._porter is None:
            with contextlib.suppress(OSError, errors.HoldfastError):
                note = checkpoint_note.found(session)
        if note is not None:
            with note:
                self._mend(note)
        elif self._porter is not None or checkpoint_note.is_there(session):
            self._timer.set(at + AGAIN)

    def _mend(self, note: checkpoint_note.LockedNote) -> None:
        # Few sessions are ever put to disk, and every holder would have it in memory.
        from holdfast.linux.stored import unfinished_image  # noqa: PLC0415  # see above

        descriptors, said = self._descriptors, note.read()
        if self._is_stopped(said.image):
            stop = CheckpointRequest(stop=True, label="", branch=False, key="")
            self._moves = move_of(descriptors, stop)
            self._end_tree()
            self._keeper.unbegun()
            self._dismiss(f"{descriptors.session}.{said.image}")
            return
        if descriptors.held.capsule is not None:
            unfinished_image.let_go_on(note, descriptors.held.capsule.first)
        if self._session.driver.intake.is_frozen:
            with contextlib.suppress(errors.HoldfastError):
                self._session.interventions.thaw(self._by)

    def _is_stopped(self, image: int) -> bool:
        """Tell whether the book says that this life is on disk, in that image."""
        entries = last_entries(self._descriptors.session)
        return image == stopped_in(entries, self._descriptors.incarnation) > 0
