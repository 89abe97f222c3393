"""The session's leader: how it is ended, and what is done when it has.

A leader's end is the session's. What it has left at the terminal is ended with it;
daemons are, if an operator ended the session (processes/daemon_sweep.py).
"""

import contextlib
import signal
import time
from collections.abc import Callable

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session import session as life
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.links.connection import Connection
from holdfast.holder.processes import leader_exit
from holdfast.holder.processes.daemon_sweep import DaemonSweep, Swept
from holdfast.holder.processes.freezer import Freezer
from holdfast.linux import processes
from holdfast.model.events import EventName
from holdfast.wire import messages as wire


class Leader:
    """The leader of one session."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        freezer: Freezer,
        exit_status: int | None,
    ) -> None:
        self._context = context
        self._driver = driver
        self._freezer = freezer
        self._pid, self._pidfd = (
            context.descriptors.record.pid,
            context.descriptors.pidfd,
        )
        self.exit = exit_status
        """How it ended; None if it has not, or nobody can say."""

        self.is_put_away = False
        """Whether an image has taken the session's place: then its end is none."""

        descriptors = context.descriptors
        self._daemon_sweep = DaemonSweep(
            descriptors.session, freezer.cgroup, descriptors.held.capsule
        )
        self._enders: list[Connection] = []
        """Who ended a session whose shell was gone, and waits to be told."""

        self._life = life.SessionLife()
        self._life_timer = context.timers.add(self._live)
        self._sweep_timer = context.timers.add(self._sweep)

    def watch(self, drain: Callable[[], None], ended: Callable[[], None]) -> None:
        """When it ends, call `drain` for what it has printed, and then `ended`."""
        self._drain, self._ended = drain, ended
        self._context.poll.watch(self._pidfd, self._has_ended)
        for first in self._context.descriptors.capsule[:1]:
            self._context.poll.watch(first, self._capsule_has_ended)

    def end(self, connection: Connection, number: int, *, leave: bool) -> None:
        """Perform a request of an operator who may end the session."""
        actor = connection.operator.id
        self._daemon_sweep.ask(actor, number, leave=leave)
        if self.exit is None:
            ending, now = life.EndAsked(number), time.monotonic()
            self._do(self._life.handle(ending, now))
            return
        # The shell is gone already; what it left is not.
        self._enders.append(connection)
        self._begin_sweep()
        if not self._daemon_sweep.is_on:
            self._end_capsule()
            self._tell_enders()

    def fenced(self, is_on: bool) -> None:  # noqa: FBT001  # as it is told
        """Take whether the session has lost its lease: then its end is a kill."""
        event = life.Fenced() if is_on else life.Unfenced()
        self._do(self._life.handle(event, time.monotonic()))

    def _has_ended(self) -> None:
        self._context.poll.unwatch(self._pidfd)
        if self.is_put_away:
            self._drain()
            return
        if self.exit is None:
            self.exit = leader_exit.wait(self._pid, self._pidfd)
        self._drain()
        self._do(self._life.handle(life.LeaderExited(), time.monotonic()))
        self._ended()
        self._begin_sweep()
        if not self._daemon_sweep.is_on:
            self._end_capsule()
            self._tell_exit()

    def _begin_sweep(self) -> None:
        self._say_swept(self._daemon_sweep.begin(time.monotonic()))
        self._sweep_timer.set(self._daemon_sweep.next_deadline())

    def _sweep(self, now: float) -> None:
        self._say_swept(self._daemon_sweep.tick(now))
        self._sweep_timer.set(self._daemon_sweep.next_deadline())
        if not self._daemon_sweep.is_on:
            self._end_capsule()
            self._freezer.tidy()
            self._tell_exit()
            self._tell_enders()

    def _capsule_has_ended(self) -> None:
        descriptors = self._context.descriptors
        self._context.poll.unwatch(descriptors.capsule[0])
        if descriptors.held.capsule is not None:
            processes.exit_of_child(descriptors.held.capsule.first)
        self._freezer.tidy()

    def _end_capsule(self) -> None:
        """End the capsule with its session, unless something was left in it to run.

        That runs until the session is forgotten.
        """
        capsule = self._context.descriptors.capsule
        sweep = self._daemon_sweep
        if capsule and (sweep.leaves_nothing or not sweep.find()):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(capsule[0], signal.SIGKILL)

    def _say_swept(self, swept: Swept | None) -> None:
        """Put on record what was ended with the session, and tell who is here."""
        if swept is None or not (swept.ended or swept.left):
            return
        told: dict[str, str | int] = {"names": swept.names, "left": swept.left}
        fields = {"by": swept.by, "count": swept.ended, **told}
        self._driver.record(EntryKind.SWEPT, fields)
        session = self._context.descriptors.session
        told = {"leftovers": swept.ended, **told}
        event = wire.Event(EventName.SESSION_SWEPT, session, told)
        self._context.clients.announce(event)
        for connection in self._enders:
            connection.send(event)

    def _tell_enders(self) -> None:
        """Tell who ended a session whose shell was gone that all of it is."""
        enders, self._enders = self._enders, []
        for connection in enders:
            connection.send(wire.Exited(self.exit or 0))

    def _tell_exit(self) -> None:
        # A client that has not attached yet is told when it does.
        for connection in self._context.clients.attached():
            connection.end_with(wire.Exited(self.exit or 0))
            connection.pump()

    def _live(self, now: float) -> None:
        self._do(self._life.tick(now))

    def _do(self, effects: list[life.Effect]) -> None:
        for effect in effects:
            match effect:
                case life.Signal(number):
                    processes.signal_group(self._pidfd, self._pid, number)
                    processes.signal_group(self._pidfd, self._pid, signal.SIGCONT)
                case life.KillAll():
                    processes.kill_session(self._pid)
                case life.Sweep():
                    processes.kill_session(self._pid)
                    self._freezer.tidy()
                    self._life.handle(life.LeftoversSwept(), time.monotonic())
        self._life_timer.set(self._life.next_deadline())
