"""Asks a shell what is on its line before a command is typed there.

zsh and fish report what is on a line when it begins. Nothing reports what readline
holds, and a macro, or anything else that types without us, may have put something
there. So bash is asked every time, and the others if something was typed while a
program ran, which has read it or left it to them.

They are asked by a key sequence that the integration has bound to a function, which
answers with a mark. It is sent only for a command, at a prompt where nothing has been
typed, once the line's editor is reading and has read everything: any earlier, and the
terminal would show it.

No answer is no evidence. Where the editor has lost the binding, part of the sequence
may be on the line from then on, and counts as typed by the operator who wanted to run
something.
"""

import time
from collections.abc import Callable

from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux import pty, session_state
from holdfast.model.errors import NotAtPrompt
from holdfast.model.ids import ActorId  # noqa: TC001  # an annotation people read
from holdfast.model.inputs import Input, InputKind

SEQUENCE = b"\x1b[7077~"
"""The key that no keyboard has, and that the shell's integration binds."""

PATIENCE = 1.0
"""Seconds for an answer: readline takes one or two milliseconds, and a prompt that
runs programs some hundred. The gate waits two for everything."""

AGAIN = 0.003
"""Seconds until it is looked again whether readline reads."""

Then = Callable[[NotAtPrompt | None], None]
"""Called with why nothing may be typed; None: the line is empty."""


class LineQuestion:
    """The question to the session's shell what stands on its line."""

    def __init__(
        self, descriptors: SessionDescriptors, shell: ShellCommands, timers: Timers
    ) -> None:
        self._descriptors = descriptors
        self._shell = shell
        self._timer = timers.add(self._tick)
        self.waiting: tuple[ActorId, Then] | None = None
        """Who waits for an answer, and what is done with it."""

        self._is_sent = False
        self._deadline = 0.0

    def ask(self, given: Input, then: Then) -> bool:
        """Ask, and call `then` later; False if this shell need not be asked.

        Who asked before is forgotten: one input is judged at a time.
        """
        if given.kind is not InputKind.COMMAND or not self._shell.tells_line:
            return False
        self._begin(given, then)
        return True

    def _begin(self, given: Input, then: Then) -> None:
        self.waiting, self._is_sent = (given.actor, then), False
        self._deadline = time.monotonic() + PATIENCE
        self._send()
        self._timer.set(0.0)

    def settle(self, given: Input, then: Then) -> bool:
        """Ask whether what was typed before this prompt stands there.

        False if there is no doubt, or nobody who could tell.
        """
        if given.kind is not InputKind.COMMAND or not self._shell.is_doubtful:
            return False
        self._begin(given, then)
        return True

    def heard(self) -> None:
        """Note that the shell has said something: it may be the answer."""
        if self.waiting is not None:
            self._timer.set(0.0)

    def _tick(self, _now: float) -> None:
        """Ask as soon as readline reads, and take its answer."""
        if self.waiting is None:
            return
        shell = self._shell
        if not shell.at_prompt:
            self._conclude("a line was entered just now")
        elif not (shell.line.stands().is_empty or shell.is_doubtful):
            self._conclude("the line has text that no operator typed")
        elif self._is_sent and shell.buffer is not None:
            self._conclude("")
        elif time.monotonic() >= self._deadline:
            self._give_up()
        else:
            if not self._is_sent:
                self._send()
            soon = time.monotonic() + AGAIN
            self._timer.set(self._deadline if self._is_sent else soon)

    def _send(self) -> None:
        if self._shell.is_doubtful and not self._shell.has_arrived:
            return  # What runs next would be given it.
        master, leader = self._descriptors.master, self._descriptors.record.pid
        if pty.is_canonical(master) or pty.foreground(master) != leader:
            return
        if session_state.unread(master) == 0:
            self._shell.buffer = None
            self._is_sent = pty.write_available(master, SEQUENCE) > 0

    def _give_up(self) -> None:
        line = self._shell.line
        if self._is_sent and self.waiting is not None:
            if line.stands().is_empty:
                line.told(b"?", [self.waiting[0]])
            else:  # Nobody who had a hand in it is forgotten.
                line.shaped([self.waiting[0]])
        self._conclude("it does not report its line")

    def _conclude(self, why: str) -> None:
        assert self.waiting is not None  # noqa: S101  # asked by every caller
        (_, then), self.waiting = self.waiting, None
        then(NotAtPrompt(why) if why else None)
