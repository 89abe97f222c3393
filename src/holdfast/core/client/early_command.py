"""One command in a session's shell, run before the rest of the client is loaded.

Theory of operation
-------------------
Most commands that are run one by one are over in milliseconds, and print a few lines of
plain text. For these the whole of `command_run` need not be loaded:

    where is the shell? ──▶ attach ──▶ type ──▶ typed ──▶ ended, and signed ──▶ over

Each thing that is said is what `CommandRun` says at this point. Whatever is unusual
is `NotOneOfThese`: `CommandRun` hears the same from the beginning, as the same client,
so that the line is typed once (`early_link`).

Invariants, checked by tests/core/client/test_early_command.py:

I1  What is said is what a CommandRun says that is told the same.
I2  What is printed is what `cli.streamed_output` makes of the same output.
"""

from holdfast.core.client.early_picture import UNUSUAL
from holdfast.wire import first_messages as first
from holdfast.wire.first_messages import Fields, NotOneOfThese

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable

_REPORT, _PENDING, _SETTLED = 0x23, 0x40, 0x43
_ODD = UNUSUAL | {_REPORT, _PENDING, _SETTLED, first.GAP, first.KEYFRAME}

MAX_OUTPUT = 64 * 1024
"""Bytes that are printed at once; of more, people want to see the beginning."""

COMMAND = "command"
"""The kind of what is typed at a prompt: InputKind.COMMAND, which is slow to load."""

_PROMPT, _EXITED = "prompt", "exited"
_PLAIN = bytes({*b"\t\n\r", *range(0x20, 0x7F)})
_REPORTS = 2


class EarlyCommand:
    """A line, from the prompt on until the command is over."""

    def __init__(
        self,
        us: tuple[str, str],
        line: bytes,
        attach: "Callable[[int | None], bytes]",
        sign: "Callable[[Fields], bytes]",
    ) -> None:
        """Type a line as `us`, a client and its operator.

        `attach` makes the request to attach after a byte, `sign` signs the input.
        """
        self._client, self._actor = us
        self._line = line
        self._attach, self._sign = attach, sign
        self._reports = 0
        self._after: int | None = None
        self._made: Fields = {}
        self._holder = ""
        self._was_free = self._is_typed = self._is_signed = False
        self._command: Fields | None = None
        self._start = 0
        self._output = bytearray()

    def asks_first(self) -> bytes:
        """Return what to ask before attaching: of our command, and of the last."""
        return self._request(self._client) + self._request("")

    @property
    def is_over(self) -> bool:
        """Whether the command has ended, and all of it is known and signed."""
        end = None if self._command is None else self._command["end"]
        has_all = isinstance(end, int) and self._start + len(self._output) >= end
        return has_all and self._is_typed and self._is_signed

    @property
    def has_begun(self) -> bool:
        """Whether something was typed."""
        return bool(self._made)

    def leaves(self) -> bytes:
        """Return how to drop the turn that typing took, if it did."""
        if not (self._was_free and self._holder == self._actor):
            return b""
        return first.frame(first.DROP) + first.frame(first.WHO)

    def hear(self, kind: int, payload: bytes) -> bytes:
        """Take a frame; return what to say.

        Raises:
            NotOneOfThese: There is something unusual about it.

        """
        if kind in _ODD:
            raise NotOneOfThese
        if kind == first.SIGNED:
            self._is_signed = True
        if kind not in _HEARD:
            return b""
        return _HEARD[kind](self, first.read(kind, payload))

    def result(self) -> tuple[str, int]:
        """Return what to print, and the exit status.

        Raises:
            NotOneOfThese: It is not known, or no plain text.

        """
        match self._command:
            case {"start": int(start), "end": int(end), "status": int(status)}:
                pass
            case _:
                raise NotOneOfThese
        output = bytes(self._output[start - self._start : end - self._start])
        text = output.replace(b"\r\n", b"\n")
        if start < self._start or output.translate(None, _PLAIN) or b"\r" in text:
            raise NotOneOfThese
        return text.decode(), status

    # ── what is heard ─────────────────────────────────────────────────────

    def _reported(self, told: Fields) -> bytes:
        command = told["command"]
        if self._is_typed:
            if command is None and told["phase"] == _PROMPT:
                raise NotOneOfThese
            return self._told({"command": command})
        self._reports += 1
        if told["phase"] != _PROMPT or self._reports > _REPORTS:
            raise NotOneOfThese
        if self._reports < _REPORTS:
            if command is not None:
                raise NotOneOfThese
            return b""
        match command:
            case None:
                pass
            case {"end": int(end)}:
                self._after = end
            case _:
                raise NotOneOfThese
        return self._attach(self._after)

    def _attached(self, told: Fields) -> bytes:
        match told:
            case {"state": str(state), "holder": str(holder), "end": int(end)} if (
                state != _EXITED and not self._made
            ):
                pass
            case _:
                raise NotOneOfThese
        self._holder, self._was_free = holder, not holder
        self._start = end if self._after is None else self._after
        self._made = {
            "client": self._client,
            "sequence": 1,
            "kind": COMMAND,
            "incarnation": told["incarnation"],
            "epoch": told["epoch"],
            "payload": self._line + b"\r",
            "seen": self._after,
            "waits": True,
        }
        return first.frame(first.SUBMIT, self._made)

    def _acknowledged(self, told: Fields) -> bytes:
        if (told["client"], told["sequence"]) != (self._client, 1) or self._is_typed:
            raise NotOneOfThese
        self._is_typed = True
        return self._request(self._client) + self._sign(self._made)

    def _passed(self, told: Fields) -> bytes:
        self._holder = str(told["holder"])
        return b""

    def _printed(self, told: Fields) -> bytes:
        match told:
            case {"offset": int(offset), "data": bytes(data)}:
                pass
            case _:
                raise NotOneOfThese
        if not self._output:
            self._start = offset
        elif offset != self._start + len(self._output):
            raise NotOneOfThese
        self._output += data
        if len(self._output) > MAX_OUTPUT:
            raise NotOneOfThese
        return b""

    def _told(self, told: Fields) -> bytes:
        match told["command"]:
            case dict(command) if command.get("client") == self._client:
                self._command = command
            case _:
                pass
        return b""

    def _request(self, client: str) -> bytes:
        return first.frame(first.COMMAND_REQUEST, {"client": client})


_HEARD = {
    first.COMMAND_REPORT: EarlyCommand._reported,  # noqa: SLF001  # its own
    first.ATTACHED: EarlyCommand._attached,  # noqa: SLF001
    first.ACKNOWLEDGE: EarlyCommand._acknowledged,  # noqa: SLF001
    first.TURN_PASSED: EarlyCommand._passed,  # noqa: SLF001
    first.OUTPUT: EarlyCommand._printed,  # noqa: SLF001
    first.COMMAND_STARTED: EarlyCommand._told,  # noqa: SLF001
    first.COMMAND_ENDED: EarlyCommand._told,  # noqa: SLF001
}
