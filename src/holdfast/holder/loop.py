"""The holder's process: one session, one selector loop, and no other state.

What comes in (the program's output, clients' messages, the leader's exit, the
keeper's end, time) is passed to the machines; what they answer is done, in order.
"""

import math
import selectors
import signal
import socket
import time
from collections.abc import Callable

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session import session as life
from holdfast.core.session.listener_watch import Listener
from holdfast.core.session.stream import StreamWindow, plan_resume
from holdfast.holder.input.desk import Desk
from holdfast.holder.input.payloads import signal_of
from holdfast.holder.input.requests import Requests
from holdfast.holder.links import door
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.output.attach_view import Showing
from holdfast.holder.output.painter_link import PainterLink
from holdfast.holder.output.query_answers import Answers
from holdfast.holder.output.terminal_output import CHUNK, Output
from holdfast.holder.policy.exec_requests import Executing
from holdfast.holder.policy.judge_link import JudgeLink
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.processes import leader_exit
from holdfast.holder.processes.daemon_sweep import Sweeping, Swept
from holdfast.holder.processes.freezer import Halting
from holdfast.holder.processes.listeners import Listeners
from holdfast.holder.processes.session_report import Looking
from holdfast.holder.provenance import blame
from holdfast.holder.provenance.process_starters import Starting
from holdfast.holder.provenance.shell_commands import Following, Told
from holdfast.holder.record.note_memory import AREA, NoteMemory
from holdfast.holder.session_descriptors import Vaulted
from holdfast.holder.timers import Part, Timers
from holdfast.linux import descriptors, packets, processes, shared_memory
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError, UnexpectedMessage
from holdfast.model.events import EventName
from holdfast.model.geometry import Size, clamped
from holdfast.model.ids import FIRST_INCARNATION
from holdfast.term.queries import Query
from holdfast.wire import messages as wire
from holdfast.wire.blame import BlameRequest
from holdfast.wire.codec import Message, refusal
from holdfast.wire.commands import CommandRequest
from holdfast.wire.evidence import StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import GraphRequest
from holdfast.wire.screens import ScreenRequest
from holdfast.wire.signatures import Sign

MAX_LEFT = 4 * 1024 * 1024
"""Bytes read after a leader's end: more than the kernel holds, so that only a
child that prints for ever is cut short."""

_OBSERVING: dict[type[Message], FrameKind] = {
    ScreenRequest: FrameKind.SCREEN_REQUEST,
    StateRequest: FrameKind.STATE_REQUEST,
    GraphRequest: FrameKind.GRAPH_REQUEST,
    CommandRequest: FrameKind.COMMAND_REQUEST,
    BlameRequest: FrameKind.BLAME_REQUEST,
}
"""What may be asked by whoever may observe, attached or not."""


class Holder:
    """The process that holds one session."""

    _is_open = True
    """Whether the terminal is still there."""

    def __init__(
        self,
        vaulted: Vaulted,
        *,
        token: str = "",
        exit_status: int | None = None,
    ) -> None:
        self._vaulted = vaulted
        self._selector = selectors.DefaultSelector()
        self._connections: list[Connection] = []
        memory = shared_memory.view(vaulted.memory)
        self._window = StreamWindow.open(memory[AREA:])
        self._output = Output(vaulted.master, self._window)
        self._life = life.SessionLife()
        self._life.handle(life.Started(self._pid), time.monotonic())
        self._company = Company(self._connections)
        self._keeper = KeeperLink(vaulted, self._selector, self._company)
        # An heir deposits before it reads the book, which may be long.
        self._exit = exit_status if token else self._keeper.begin("", exit_status)
        judge = JudgeLink(self._selector)
        self._following = follow = Following(vaulted, self._window)
        note = memory[:AREA]
        self._desk = Desk(
            vaulted, NoteMemory(note), self._company, self._resized, judge, follow
        )
        starting = Starting(vaulted, follow)
        self._halting = Halting(vaulted.session, self._pid, vaulted.held.cgroup)
        self._halting.take_up(is_frozen=self._desk.is_frozen)
        self._sweeping = Sweeping(vaulted.session, self._halting.cgroup)
        self._executing = self._gate_execs(judge)
        self._begin(is_new=bool(token))
        self._requests = Requests(
            vaulted, self._desk, self._company, self._halting, self._executing
        )
        self._exit = self._keeper.begin(token, exit_status) if token else self._exit
        self._painter = PainterLink(
            vaulted.session, self._window, self._selector, self._size()
        )
        self._showing = Showing(self._window, self._painter, self._pump)
        self._answers = Answers(
            vaulted.master,
            self._window.end,
            self._painter,
            lambda: self._desk.is_writing,
        )
        self._asked(self._output.take_up())
        self._looking = Looking(
            vaulted.session,
            self._pid,
            vaulted.master,
            has_exited=self._exit is not None,
            starters=starting.actors,
        )
        self._listeners = self._watch_listeners()
        self._watch_all()

    def _begin(self, *, is_new: bool) -> None:
        """Have the command judged; at its birth, do not hold a session without one.

        Raises:
            HoldfastError: It was refused or cannot be executed, and why.

        """
        beginning = self._desk.beginning
        if self._executing is not None:
            beginning.gate = self._executing.kernel
        self._desk.begin()
        if is_new:
            record = self._vaulted.record._replace(state=self._state())
            self._vaulted.record = record
            if beginning.refusal is not None:
                self._desk.settle()
                raise beginning.refusal
            beginning.demand_room()

    def _watch_all(self) -> None:
        self._timers = Timers(self._parts())
        self._spare = descriptors.Spare()
        self._watch(self._vaulted.master, self._printed)
        self._watch(self._vaulted.listener, self._accept)
        self._watch(self._vaulted.pidfd, self._leader_ended)
        channel = self._following.channel
        if channel is not None and channel.fd is not None:
            self._watch(channel.fd, channel.drain)
        self._vaulted.listener.settimeout(0)

    def _watch_listeners(self) -> Listeners:
        session = self._vaulted.session
        made = Listeners(session, self._pid, self._selector, self._unbound)
        if self._exit is None:
            made.printed(time.monotonic())  # What was seen before is not known.
        return made

    def _gate_execs(self, judge: JudgeLink) -> Executing | None:
        desk = self._desk
        if desk.attributing is None:
            return None
        return Executing(self._vaulted, self._selector, desk, desk.attributing, judge)

    def run(self) -> None:  # noqa: C901  # every call here is one for every key
        """Hold the session until it is forgotten."""
        keeper, desk, master = self._keeper, self._desk, self._vaulted.master
        keeper.demand_change = self._requests.demand_change
        while keeper.is_wanted and (keeper.leave_by is None or not self._leaves()):
            first = min(desk.next_deadline(), self._timers.first)
            wait = None if first == math.inf else max(0.0, first - time.monotonic())
            ready = self._selector.select(wait)
            for key, events in ready:
                if isinstance(key.data, Connection):
                    self._serve(key.data, events)
                elif key.fd == master:
                    self._printed()
                else:
                    self._timers.stir()
                    key.data()
            now = time.monotonic()
            if desk.tick(now):
                self._timers.stir()
            if now >= self._timers.first:
                self._timers.tick(now)
            # The disk comes last: what was typed is shown before it is durable,
            # and acknowledged after.
            if desk.disk.is_wanted and desk.must_sync(is_idle=not ready):
                desk.sync()
            if desk.checkpoints.is_full:
                desk.checkpoint(is_idle=not ready)
            for connection in self._connections:
                if connection.is_closed or connection.unsent:
                    self._drop_closed()
                    break

    def _leaves(self) -> bool:
        """Tell whether to make room for a successor; the session goes on."""
        if self._executing is not None:
            self._executing.settle()
        self._desk.settle()
        return self._keeper.may_leave(is_busy=self._desk.is_busy)

    # ── the program ───────────────────────────────────────────────────────

    @property
    def _pid(self) -> int:
        return self._vaulted.record.pid

    def _printed(self) -> None:
        queries = self._output.take()
        if queries is None:
            self._close_terminal()
            return
        now = time.monotonic()
        self._desk.printed()
        timers = self._timers
        timers.first = min(timers.first, self._listeners.printed(now))
        if queries or self._window.end > self._painter.fed_at:
            self._timers.stir()
            self._asked(queries)
        for connection in self._connections:
            connection.pump(self._window, now)
            self._rewatch(connection)

    def _unbound(self, gone: Listener) -> None:
        """Put on record, and tell everybody, that something listens no longer."""
        fields: dict[str, str | int] = {
            "protocol": gone.protocol,
            "address": wire.fitting(gone.address, wire.MAX_TEXT),
            "port": gone.port,
            "pid": gone.pid,
            "command": wire.fitting(gone.command, wire.MAX_TEXT),
        }
        self._desk.record(EntryKind.UNBOUND, fields)
        event = wire.Event(EventName.LISTENER_GONE, self._vaulted.session, fields)
        self._company.announce(event)

    def _asked(self, queries: tuple[Query, ...]) -> None:
        self._answers.asked(queries, self._size)
        self._follow(self._following.heard(queries))

    def _follow(self, told: list[Told]) -> None:
        for kind, fields, message in told:
            self._desk.record(kind, fields)
            if message is not None:
                self._company.announce(message)

    def _close_terminal(self) -> None:
        if self._is_open:
            self._is_open = False
            self._selector.unregister(self._vaulted.master)

    def _leader_ended(self) -> None:
        self._selector.unregister(self._vaulted.pidfd)
        if self._exit is None:
            self._exit = leader_exit.wait(self._pid, self._vaulted.pidfd)
        self._listeners.close()  # What ends with the session is no news.
        self._drain()
        status = self._exit
        ended = life.LeaderExited(FIRST_INCARNATION, leader_exit.told(status))
        self._live(self._life.handle(ended, time.monotonic()))
        self._keeper.change({"state": "exited", "exit": status})
        if self._executing is not None:
            self._executing.settle()
        word = "unknown" if status is None else f"{status}"
        self._desk.exited(word)
        self._painter.ended()
        self._say_swept(self._sweeping.begin(time.monotonic()))
        if not self._sweeping.is_on:
            self._tell_exit()

    def _say_swept(self, swept: Swept | None) -> None:
        if swept is not None and (swept.ended or swept.left):
            event = self._desk.record_swept(swept)
            for connection in self._sweeping.enders:
                connection.send(event)

    def _tell_enders(self) -> None:
        """Tell who ended a session whose shell was gone that all of it is."""
        enders, self._sweeping.enders = self._sweeping.enders, []
        for connection in enders:
            connection.send(wire.Exited(self._exit or 0))
            self._rewatch(connection)

    def _tell_exit(self) -> None:
        status = self._exit
        now = time.monotonic()
        for connection in self._connections:
            # Whoever has not attached yet is told when it does.
            if connection.client is not None:
                connection.end_with(wire.Exited(status or 0))
                connection.pump(self._window, now)
                self._rewatch(connection)

    def _drain(self) -> None:
        """Take what the terminal still holds of a program that has ended."""
        for _ in range(MAX_LEFT // CHUNK):
            before = self._window.end
            if self._is_open:
                self._printed()
            if self._window.end == before:
                return

    def _size(self) -> Size:
        return clamped(*self._vaulted.record.size)

    def _resized(self, size: Size) -> None:
        cells = wire.Cells(size.columns, size.rows)
        self._painter.resized(size)
        self._timers.stir()
        self._company.announce(wire.Resized(self._window.end, cells))
        self._keeper.change({"size": [size.columns, size.rows]})

    # ── clients ───────────────────────────────────────────────────────────

    def _accept(self) -> None:
        try:
            link, _ = self._vaulted.listener.accept()
        except BlockingIOError:
            return
        except OSError:
            self._spare.hang_up(self._vaulted.listener)  # No descriptor is left.
            return
        if not packets.is_ours(link):
            link.close()
            return
        self._keeper.knocked()
        connection = Connection(link)
        self._connections.append(connection)
        self._company.make_room()
        self._selector.register(link, selectors.EVENT_READ, connection)

    def _serve(self, connection: Connection, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            connection.flush()
            connection.pump(self._window, time.monotonic())
        if events & selectors.EVENT_READ:
            connection.receive(self._heard)
        self._rewatch(connection)

    def _pump(self, connection: Connection) -> None:
        connection.pump(self._window, time.monotonic())
        self._rewatch(connection)

    def _rewatch(self, connection: Connection) -> None:
        if connection.is_closed:
            return
        wanted = selectors.EVENT_READ
        if connection.unsent:
            wanted |= selectors.EVENT_WRITE
        if connection.watched != wanted:
            connection.watched = wanted
            self._selector.modify(connection.link, wanted, connection)

    def _drop_closed(self) -> None:
        for connection in [one for one in self._connections if one.is_closed]:
            self._connections.remove(connection)
            self._selector.unregister(connection.link)
            connection.close()
            if connection.client is not None:
                self._desk.left(connection)
            self._timers.stir()
        # Who was told something by another's doing may not have taken it yet.
        for connection in self._connections:
            self._rewatch(connection)

    # ── messages ──────────────────────────────────────────────────────────

    def _heard(  # noqa: C901  # one case for each message
        self, connection: Connection, message: Message
    ) -> None:
        door.demand_manners(connection, message)
        if isinstance(message, wire.Submit) and connection.client is not None:
            self._desk.submit(connection, message)
            return
        self._timers.stir()
        match message:
            case wire.Hello():
                door.greet(connection, message)
            case wire.Identify():
                self._identify(connection, message)
            case wire.Ping(number):
                connection.send(wire.Pong(number))
            case wire.Attach():
                self._attach(connection, message)
            case wire.Detach():
                connection.is_closed = True
            case Sign() if connection.client is not None:
                self._desk.sign(connection, message)
            case wire.End():
                self._end(connection, message)
            case ScreenRequest() | StateRequest() | GraphRequest() | CommandRequest():
                self._observe(connection, message)
            case BlameRequest():
                self._observe(connection, message)
            case _ if self._requests.take(connection, message):
                pass
            case _:
                error = UnexpectedMessage(type(message).__name__, "it is not served")
                connection.send(refusal(error, FrameKind.GOODBYE))

    def _identify(self, connection: Connection, claim: wire.Identify) -> None:
        try:
            known = door.identify(connection, self._vaulted.session, claim)
        except HoldfastError as error:
            connection.dismiss(refusal(error, FrameKind.IDENTIFY))
        else:
            connection.actor = known.actor
            self._desk.meet(known.actor, known.promised)

    def _observe(
        self,
        connection: Connection,
        asked: ScreenRequest
        | StateRequest
        | GraphRequest
        | CommandRequest
        | BlameRequest,
    ) -> None:
        kind = _OBSERVING[type(asked)]
        try:
            self._requests.demand(connection.operator.id, Right.OBSERVE)
        except HoldfastError as error:
            connection.send(refusal(error, kind))
            self._desk.declined(connection.operator.id, kind, error)
            return
        match asked:
            case ScreenRequest():
                self._showing.screen(connection, asked)
            case CommandRequest() | BlameRequest():
                try:
                    connection.send(self._reported(asked))
                except HoldfastError as error:
                    connection.send(refusal(error, kind))
            case GraphRequest():
                self._looking.ask_graph(connection, asked)
            case StateRequest():
                self._looking.tell_state(
                    connection,
                    is_frozen=self._desk.is_frozen,
                    has_exited=self._exit is not None,
                )

    def _reported(self, asked: CommandRequest | BlameRequest) -> Message:
        if isinstance(asked, CommandRequest):
            return self._following.report(asked)
        if asked.what == blame.LINE:
            return blame.line_report(*self._desk.staged)
        return blame.report(asked, self._following)

    def _attach(self, connection: Connection, asked: wire.Attach) -> None:
        same = asked.incarnation == FIRST_INCARNATION
        try:
            self._requests.demand(connection.operator.id, Right.OBSERVE)
            if connection.client is None:
                self._company.demand_room(connection.operator)
            plan = plan_resume(self._window, asked.after if same else None, None)
        except HoldfastError as error:
            connection.send(refusal(error, FrameKind.ATTACH))
            self._desk.declined(connection.operator.id, FrameKind.ATTACH, error)
            return
        connection.client, connection.mode = asked.client, asked.mode
        connection.attached_at = time.monotonic()
        self._desk.came(connection)
        size = self._size()
        connection.send(
            wire.Attached(
                session=self._vaulted.session,
                name=self._vaulted.record.name,
                incarnation=FIRST_INCARNATION,
                epoch=self._desk.epoch,
                holder=self._desk.holder,
                start=self._window.start,
                end=self._window.end,
                state=self._state(),
                size=wire.Cells(size.columns, size.rows),
                operators=self._company.operators(),
            )
        )
        self._desk.brief(connection)
        if self._exit is not None:
            connection.end_with(wire.Exited(self._exit))
        self._showing.begin(connection, plan, asked)

    def _tell_state(self) -> None:
        """Let the keeper know whether the session stands still; it lists that."""
        state, told = self._state(), self._vaulted.record.state
        if told not in (state, "exited"):
            self._keeper.change({"state": state})

    def _state(self) -> str:
        if self._exit is not None:
            return "exited"
        if self._vaulted.start:
            return STARTING
        return "frozen" if self._desk.is_frozen else "running"

    def _end(self, connection: Connection, asked: wire.End) -> None:
        number = asked.signal
        try:
            signal_of(str(number).encode())
        except HoldfastError as error:
            connection.send(refusal(error, FrameKind.END))
            return
        if not self._requests.end(connection, number):
            return
        actor = connection.operator.id
        self._sweeping.ask(actor, number, leave=asked.leave)
        if self._exit is None:
            ending = life.EndAsked(actor, number)
            self._live(self._life.handle(ending, time.monotonic()))
            return
        # The shell is gone already; what it left is not.
        self._sweeping.enders.append(connection)
        self._say_swept(self._sweeping.begin(time.monotonic()))
        if not self._sweeping.is_on:
            self._tell_enders()

    # ── time ──────────────────────────────────────────────────────────────

    def _parts(self) -> list[Part]:
        """Return all that waits for a moment, in the order in which it is due."""
        parts: list[Part] = [
            (self._following.next_deadline, self._go_on_following),
            (self._keeper.next_deadline, self._keeper.tick),
            (self._showing.next_deadline, self._showing.tick),
            (self._painter.next_deadline, self._painter.tick),
            (self._answers.next_deadline, self._answers.tick),
            (self._looking.next_deadline, self._go_on_looking),
            (self._listeners.next_deadline, self._listeners.tick),
            (self._life.next_deadline, self._go_on_living),
            (self._sweeping.next_deadline, self._go_on_sweeping),
        ]
        if self._executing is not None:
            parts.append((self._executing.next_deadline, self._executing.tick))
        return parts

    def _go_on_following(self, _now: float) -> None:
        self._follow(self._following.tick())

    def _go_on_looking(self, _now: float) -> None:
        self._looking.tick(self._pump)

    def _go_on_living(self, now: float) -> None:
        self._tell_state()
        self._live(self._life.tick(now))

    def _go_on_sweeping(self, now: float) -> None:
        if self._sweeping.is_on:
            self._say_swept(self._sweeping.tick(now))
            if not self._sweeping.is_on:
                self._halting.tidy()
                self._tell_exit()
                self._tell_enders()

    def _live(self, effects: list[life.Effect]) -> None:
        for effect in effects:
            match effect:
                case life.Signal(number):
                    processes.signal_group(self._vaulted.pidfd, self._pid, number)
                    processes.signal_group(
                        self._vaulted.pidfd, self._pid, signal.SIGCONT
                    )
                case life.KillAll():
                    processes.kill_session(self._pid)
                case life.Sweep(incarnation):
                    # The leader's end is the session's: what it left is ended too.
                    count = processes.kill_session(self._pid)
                    self._halting.tidy()
                    swept = life.LeftoversSwept(incarnation, count)
                    self._life.handle(swept, time.monotonic())
                case _:
                    pass

    def _watch(self, what: int | socket.socket, do: Callable[[], None]) -> None:
        self._selector.register(what, selectors.EVENT_READ, do)
