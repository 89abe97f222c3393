"""Keeps the unsubmitted input, byte by byte, as the terminal takes it."""

import base64
import re
from collections.abc import Iterable
from functools import partial

from holdfast.core.book.checkpoint import Checkpoint
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.core.provenance.staged import LINE_EDITOR, Staged, StagedLine
from holdfast.core.shell.heredocs import typed_part
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.model.ids import ActorId
from holdfast.model.inputs import TYPED, Input, InputKind

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")

REPLAYED = 4096
"""Entries looked at to find unsubmitted input: a line has few, each at most one
for every byte a terminal takes in a line."""


class TypedLine:
    """The line that operators type in one session."""

    def __init__(self, shell: ShellCommands) -> None:
        self._shell = shell
        self._lines: list[Staged] = []
        """What the input that is being written has entered so far."""

        self.long = b""
        """What was judged last, if it is a line with long heredocs."""

        self.echo_off = False
        """Whether what was judged last was typed, or allowed, without echo."""

    def took(self, given: Input, part: slice, terminal: LineDiscipline) -> None:
        """Take note of what the terminal has taken, also if the rest is cut."""
        if given.kind not in TYPED:
            return
        is_secret = self.echo_off or given.kind is InputKind.ANSWER
        is_long = bool(self.long) and given.payload == self.long
        data = typed_part(given.payload, part) if is_long else given.payload[part]
        shell = self._shell
        lines = shell.line.typed(given.actor, data, terminal, echo_off=is_secret)
        if shell.is_marked:
            self._lines = [*self._lines, *lines] if part.start else lines
            if part.stop == len(given.payload):
                shell.entered(given, self._lines)

    def put_off(self, given: Input, terminal: LineDiscipline) -> bool:
        """Take note of a key later; tell whether that will do.

        Its echo goes first. A later key, or a question about the line, brings the line
        up to date first; letters enter nothing, so nothing else differs until then.
        """
        is_plain = given.kind is InputKind.KEYS and not _CONTROL.search(given.payload)
        # A letter may be configured to end lines.
        may_enter = terminal.canonical and any(terminal.ends)
        if not is_plain or may_enter or self.echo_off or self.long:
            return False
        whole = slice(0, len(given.payload))
        self._shell.put_off = partial(self.took, given, whole, terminal)
        return True

    def replay(
        self,
        entries: Iterable[Entry],
        now: LineDiscipline,
        known: Checkpoint | None = None,
    ) -> None:
        """Find out, after a predecessor's death, what was typed and not submitted.

        How the terminal was set is in no book: it is taken for what it is now. What was
        typed before these entries is `known` by who typed it.
        """
        through = -1 if known is None else known.through
        hands = () if known is None else known.line
        line = self._shell.line
        if known is not None:
            had = [actor for actor, _ in known.hands.had]
            line.typists |= dict.fromkeys([*known.typists, *had])
        terminal = now if now.edits else LINE_EDITOR
        for entry in entries:
            if entry.index > through:
                line.shaped(hands)
                hands = ()
            match entry.kind:
                case EntryKind.INPUT if entry.fields["input"] in TYPED:
                    actor = ActorId(str(entry.fields["actor"]))
                    data, size = entry.fields.get("data"), entry.fields["size"]
                    is_known = isinstance(data, str)
                    count = size if isinstance(size, int) else 0
                    raw = base64.b64decode(str(data)) if is_known else b"?" * count
                    line.typed(actor, raw, terminal, echo_off=not is_known)
                case EntryKind.BEGAN:
                    line.began(str(entry.fields["line"]) or None)
                case EntryKind.FINISHED:
                    line.prompted()
                case EntryKind.RECOVERED:
                    stand_again(line, _hands(entry))
                case _:
                    pass
        line.shaped(hands)


def stand_again(line: StagedLine, hands: tuple[ActorId, ...]) -> None:
    """Take that a life begins in which something of these stands typed, or nothing."""
    line.told(b"?" if hands else b"", hands)


def _hands(recovered: Entry) -> tuple[ActorId, ...]:
    told = str(recovered.fields.get("hands") or "")
    return tuple(ActorId(one) for one in told.split(",") if one)
