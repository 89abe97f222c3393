"""Passes the marks of the session's shell to the machine that follows commands.

Only a shell that was started with our integration is followed. Anything that looks
like a mark has already been taken out of the stream; here it is believed or not.
"""

import select
import time
from collections.abc import Callable, Iterable

from holdfast.core.provenance import commands
from holdfast.core.provenance.originators import Origins
from holdfast.core.provenance.staged import Staged, StagedLine
from holdfast.core.session.stream import StreamWindow
from holdfast.core.shell.shell_state import Item, ItemKind, ShellState
from holdfast.core.shell.state_messages import UNKNOWN
from holdfast.holder.provenance.command_messages import (
    Told,
    changed,
    no_marks,
    report,
    told,
)
from holdfast.holder.provenance.state_channel import StateChannel
from holdfast.holder.record.book_recovery import Past
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import pty, session_state, shells
from holdfast.model.errors import NotAtPrompt, OutcomeForgotten
from holdfast.model.ids import ActorId
from holdfast.model.inputs import TYPED, Input, InputKind
from holdfast.model.moments import Moment
from holdfast.term import marks
from holdfast.term.queries import Query, QueryKind
from holdfast.wire import commands as wire

ON_ITS_WAY = 0.25
"""Seconds after which what was typed is where its reader can find it: many times
what the kernel takes to carry it there."""

_ANSWERING = ("zsh", "fish")
"""Shells that say by themselves what stands on a line as it begins, and are asked only
about what was typed before."""

_EDITORS = (Item(ItemKind.OPTION, "emacs"), Item(ItemKind.OPTION, "vi"))
_IDLE = frozenset({commands.Phase.PROMPT, commands.Phase.BETWEEN})
_WHY = {
    commands.Phase.UNMARKED: "it has not shown one yet",
    commands.Phase.BETWEEN: "a line was entered just now",
    commands.Phase.RUNNING: "a command runs",
}


class ShellCommands:
    """What is known of the commands of one session."""

    def __init__(self, descriptors: SessionDescriptors, window: StreamWindow) -> None:
        self._descriptors = descriptors
        self._window = window
        self._begin = window.end
        self._machine = commands.Commands()
        self.is_marked = bool(descriptors.held.integration)
        """Whether the session's shell tells of its commands."""

        secrets = descriptors.held.shell_of or descriptors.session
        self._nonce = shells.nonce_of(secrets) if self.is_marked else b""
        self.is_resuming = False
        """Whether to call `resume`, until it is False."""

        self._line = StagedLine(is_marked=self.is_marked)
        self.put_off: Callable[[], None] | None = None
        """What has been typed and is yet to be taken note of."""

        self.buffer: marks.Buffer | None = None
        """What the shell has answered last to the question what stands on its line."""

        self._has_said = False
        """Whether the shell has said what stands on its line, since its prompt."""

        self._enters = _now()
        self._hands: tuple[ActorId, ...] = ()
        self.origins = Origins()
        self.shell_state: ShellState | None = None
        """What the shell had at its last prompt; None if that is not known."""

        self.channel: StateChannel | None = None
        if self.is_marked:
            key = shells.key_of(secrets)
            self.channel = StateChannel(
                descriptors.session, descriptors.held.integration, key
            )

    @property
    def offset(self) -> int:
        """How much was printed so far."""
        return self._window.end

    @property
    def line(self) -> StagedLine:
        """The unsubmitted input, as far as the terminal and the shell tell."""
        if self.put_off is not None:
            self.catch_up()
        return self._line

    def catch_up(self) -> None:
        """Take note of what was typed, if that was put off."""
        do, self.put_off = self.put_off, None
        if do is not None:
            do()

    @property
    def at_prompt(self) -> bool:
        """Whether the shell waits for a line, as far as its marks tell."""
        return self._machine.phase is commands.Phase.PROMPT

    @property
    def runs_nothing(self) -> bool:
        """Whether the shell runs no command, as far as its marks tell."""
        return self._machine.phase in _IDLE

    @property
    def running(self) -> commands.Command | None:
        """The command that runs now, as far as the shell's marks tell."""
        is_running = self._machine.phase is commands.Phase.RUNNING
        return self._machine.last if is_running else None

    @property
    def last(self) -> commands.Command | None:
        """The command that began last."""
        return self._machine.last

    def ran(self) -> tuple[commands.Command, ...]:
        """Return the commands that are kept, the last one last."""
        return self._machine.kept

    @property
    def is_silent(self) -> bool:
        """Whether the shell is not at its prompt, as far as it has told."""
        return self._machine.phase is not commands.Phase.PROMPT

    def take_up(self, past: Past) -> None:
        """Find out what a predecessor knew."""
        # The shell of a branch, whose book is new, may stand at its prompt.
        self.is_resuming = self.is_marked and self._descriptors.restored is not None
        if self.is_marked and past.entries:
            known = -1
            if past.checkpoint is not None:
                known = past.checkpoint.through
                self._machine.load(past.checkpoint.commands)
                self.origins = Origins.load(past.checkpoint.origins)
            self._machine.take_up(past.entries, known)
            self.origins.take_up(past.fresh)
            if past.entries[-1].incarnation != self._descriptors.incarnation:
                self._begin_life()
                return
            self._note_hands()
            self.is_resuming = True

    def _begin_life(self) -> None:
        """Take that the shell is another one, or goes on from an image."""
        restored = self._descriptors.restored
        if restored is not None and restored.origin:
            # It was stopped and moved in good order: what ran there still runs.
            self.origins.roll_back(restored.command, int(_now().wall * 1000))
            self._note_hands()
            self.is_resuming = True
            return
        self._machine.begin_life(self.offset)
        if restored is None:
            self.origins = Origins()
            return
        self.origins.roll_back(restored.command, int(_now().wall * 1000))
        self.is_resuming = True  # It may stand at its prompt.

    @property
    def phase(self) -> str:
        """Where the shell is, as far as its marks tell; for an image."""
        return self._machine.phase.value

    def demand_prompt(self, given: Input) -> None:
        """Do nothing if an input that is new may be typed now.

        Without marks a command is a line like any other: a caller that wants to know
        what comes of it asks `report` first, and is told that nobody can say.

        Raises:
            Unavailable: The shell is not at its prompt, or something stands there.
            Unsettled: It was typed once already, so long ago that it was forgotten.

        """
        if given.kind is not InputKind.COMMAND or not self.is_marked:
            return
        if self._machine.knows(given.id.client):
            raise OutcomeForgotten(given.id.client, given.id.sequence)
        if self._machine.phase is not commands.Phase.PROMPT:
            raise NotAtPrompt(_WHY[self._machine.phase])
        if not self.line.stands().is_empty and not self.is_doubtful:
            raise NotAtPrompt("something was typed, and may still be unsubmitted")

    @property
    def tells_line(self) -> bool:
        """Whether a bash reads that edits its line itself: it is asked every time."""
        if self._descriptors.held.integration != "bash":
            return False
        state = self.shell_state
        return state is None or any(one in state.items for one in _EDITORS)

    @property
    def is_doubtful(self) -> bool:
        """Whether the shell can be asked if what was typed earlier stands there.

        That is so of what was typed while a command ran: that has read it, or not. Of
        what was typed since the prompt nobody need be asked.
        """
        is_fresh = self.at_prompt and self.line.is_fresh and not self._has_said
        return is_fresh and not self.line.stands().is_empty and self._answers

    @property
    def _answers(self) -> bool:
        """Whether the shell can be asked what stands on its line."""
        return self.tells_line or self._descriptors.held.integration in _ANSWERING

    @property
    def has_arrived(self) -> bool:
        """Whether what was typed last is where its reader can find it."""
        return _now().now - self._enters.now >= ON_ITS_WAY

    def enters(self) -> None:
        """Take note that an input is about to be written.

        What it makes the shell do may be done before the write is over for us.
        """
        self._enters = _now()

    def entered(self, given: Input, lines: Iterable[Staged]) -> None:
        """Take note that the terminal has taken all of an input, and these lines."""
        if self.is_marked and given.kind in TYPED:
            client = given.id.client if given.kind is InputKind.COMMAND else None
            entered = commands.Entered(
                given.payload, client, self._window.end, given.actor, tuple(lines)
            )
            self._machine.handle(entered, self._enters)
            self._note_hands()

    def heard(self, queries: Iterable[Query]) -> list[Told]:
        """Take what looks like marks; return what came of those that are."""
        if not self.is_marked:
            return []
        told: list[Told] = []
        for query in queries:
            if query.kind is QueryKind.MARK:
                mark = marks.read_mark(query.raw, self._nonce)
                if mark is not None:
                    self._tell_line(mark)
                    event = commands.Marked(mark, self._begin + query.at)
                    told += self._done(self._machine.handle(event, _now()))
                    if isinstance(mark, marks.Prompted):
                        told += self._shown(mark.number)
        return told

    def _tell_line(self, mark: marks.Mark) -> None:
        """Pass on what the shell says of the unsubmitted line."""
        match mark:
            case marks.Began():
                self.line.began(mark.line if mark.is_known else None)
            case marks.Standing(line):
                self._has_said = True
                # What is too long to be told stands there all the same.
                self.line.told(line.encode() or b"?", self._behind_last())
            case marks.Buffer(line):
                self.buffer = mark
                self._has_said = True
                if self.line.is_fresh:  # Or something was typed since it was asked.
                    self.line.told(line.encode(), self._behind_last())
            case marks.Ended():
                self.line.ended(is_drained=self._is_drained())
            case marks.Prompted():
                self._has_said = False
                self.line.prompted(is_drained=self._is_drained())

    def _behind_last(self) -> tuple[ActorId, ...]:
        """Return who may have put on the shell's line what nobody has typed there."""
        last = self._machine.last
        if last is None:
            return (*self.line.stands().by, *self.line.typists)
        trigger = () if last.trigger is None else (last.trigger,)
        last_hands = (*trigger, *last.authors, *last.hands)
        return (*last_hands, *self.line.stands().by, *self.line.typists)

    def _is_drained(self) -> bool:
        """Tell whether the shell has the terminal and finds nothing left to read.

        Only as long as it has not begun to edit a line: then it would have read
        what we look for. What was typed just now may still be on its way.
        """
        master, leader = self._descriptors.master, self._descriptors.record.pid
        if self.line.stands().is_empty or not self.has_arrived:
            return False
        is_read = session_state.unread(master) == 0
        is_early = pty.discipline(master).canonical
        return is_read and is_early and pty.foreground(master) == leader

    def _shown(self, number: int) -> list[Told]:
        """Take what the shell has said of itself before it showed this prompt."""
        assert self.channel is not None  # noqa: S101  # marks are of such a shell
        found = self.channel.take(number)
        if found is None:
            fields = self.origins.unchanged()
        elif found is UNKNOWN:
            self.shell_state, fields = None, self.origins.lost()
        else:
            self.shell_state, fields = found, self.origins.seen(found)
        return [changed(one) for one in fields]

    def resume(self) -> list[Told]:
        """Ask the kernel where the shell is, once everything printed has been read."""
        if not self.is_resuming:
            return []
        master = self._descriptors.master
        if select.select([master], [], [], 0)[0]:
            return []
        self.is_resuming = False
        is_shell = pty.foreground(master) == self._descriptors.record.pid
        at_prompt = is_shell and not pty.is_canonical(master)
        event = commands.Resumed(at_prompt, self._window.end)
        told = self._done(self._machine.handle(event, _now()))
        if at_prompt and self.origins.is_behind:
            told += map(changed, self.origins.lost())
        return told

    def report(self, asked: wire.CommandRequest) -> wire.CommandReport:
        """Say where the shell is, and what came of a command.

        Raises:
            UsageError: Nobody knows: the shell prints no marks.

        """
        if not self.is_marked:
            raise no_marks(self._descriptors.record.command)
        return report(self._machine, asked)

    def _note_hands(self) -> None:
        """Pass on who types into a running command, when another operator does."""
        last = self._machine.last
        if last is not None and last.end is None and last.hands != self._hands:
            self._hands = last.hands
            self.origins.fed(last)

    def _done(self, effects: list[commands.Effect]) -> list[Told]:
        for effect in effects:
            match effect:
                case commands.Begin(command):
                    self._hands = command.hands
                    self.origins.began(command)
                case commands.Finish(command):
                    self.origins.ended(command)
        return [told(effect) for effect in effects]


def _now() -> Moment:
    # Processes are dated by this clock, so commands are too.
    boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    return Moment(boot, time.time_ns() / 1e9, boot)
