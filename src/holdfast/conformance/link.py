"""One link to the subject, and what is noted about everything that comes on it."""

import select
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from holdfast.conformance.kinds import KINDS, MAX_PAYLOAD, NAMES
from holdfast.conformance.packed_form import Malformed, Value, packed, unpacked
from holdfast.conformance.verdict import Broken

PATIENCE = 15.0
"""Seconds for something that has to come; a busy machine needs some of them."""

HEADER = struct.Struct(">BI")
OFFSET = struct.Struct(">Q")
SORTED = ("facts", "fields")
"""Fields whose maps are in the order of their names."""

Fields = dict[str, Any]


class Closed(Exception):
    """The subject has hung up."""


class Carrier(Protocol):
    """What carries bytes, in order."""

    def send(self, raw: bytes) -> None:
        """Send some."""

    def receive(self, timeout: float) -> bytes | None:
        """Return the next, none at the end, None if there are none in time."""

    def close(self) -> None:
        """Hang up."""


class UnixCarrier:
    """A Unix socket."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise

    def send(self, raw: bytes) -> None:
        """Send some; a subject that has hung up is noticed when it is read from."""
        try:
            self._socket.sendall(raw)
        except (BrokenPipeError, ConnectionResetError):
            return

    def receive(self, timeout: float) -> bytes | None:
        """Return the next."""
        if not select.select([self._socket], [], [], max(0.0, timeout))[0]:
            return None
        try:
            return self._socket.recv(65536)
        except ConnectionResetError:
            return b""

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


@dataclass(slots=True)
class Notes:
    """What was wrong with frames, whichever clause was being tried."""

    frames: int = 0
    form: list[str] = field(default_factory=list)
    """Payloads that were not written as section 3 says."""

    side: list[str] = field(default_factory=list)
    """Kinds that the session's side does not send."""

    order: list[str] = field(default_factory=list)
    """Output that does not go on where the last one ended."""

    epochs: list[str] = field(default_factory=list)
    """Turns that passed without a higher epoch."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message that came."""

    name: str
    fields: Fields

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401  # whatever the wire has
        return self.fields[key]


def frame(name: str, **fields: Value) -> bytes:
    """Return a message of ours as a frame, its fields in their order."""
    kind = KINDS[name]
    payload = packed({key: fields[key] for key in kind.fields})
    return raw_frame(kind.number, payload)


def raw_frame(number: int, payload: bytes) -> bytes:
    """Return a frame, whatever is in it."""
    return HEADER.pack(number, len(payload)) + payload


class Link:
    """A link, read frame by frame."""

    def __init__(self, carrier: Carrier, notes: Notes) -> None:
        self._carrier = carrier
        self._notes = notes
        self._bytes = b""
        self._next: int | None = None
        self._painting = False
        self.heard: list[Message] = []
        """Everything that came, in order."""

        self.output = b""
        """What the terminal printed since the link was attached."""

        self.epoch = 0
        """The epoch of the turn, as far as this link was told."""

        self.holder = ""

    def send(self, name: str, **fields: Value) -> None:
        """Send one message."""
        self._carrier.send(frame(name, **fields))

    def send_raw(self, raw: bytes) -> None:
        """Send bytes as they are."""
        self._carrier.send(raw)

    def close(self) -> None:
        """Hang up."""
        self._carrier.close()

    def receive(self, timeout: float = PATIENCE) -> Message | None:
        """Return the next message, or None if none comes in time.

        Raises:
            Closed: There will be none.

        """
        deadline = time.monotonic() + timeout
        while True:
            message = self._parsed()
            if message is not None:
                self.heard.append(message)
                return message
            raw = self._carrier.receive(deadline - time.monotonic())
            if raw is None:
                return None
            if not raw:
                raise Closed
            self._bytes += raw

    def wait(
        self, *names: str, where: Callable[[Message], bool] | None = None
    ) -> Message:
        """Return the next message of these names, and pass over others.

        Raises:
            Broken: None came.

        """
        deadline = time.monotonic() + PATIENCE
        wanted = " or ".join(names)
        while True:
            try:
                found = self.receive(deadline - time.monotonic())
            except Closed as error:
                raise Broken(f"it hung up instead of sending {wanted}") from error
            if found is None:
                raise Broken(f"no {wanted} came within {PATIENCE:.0f} s")
            if found.name in names and (where is None or where(found)):
                return found

    def wait_for_text(self, text: bytes, times: int = 1) -> None:
        """Read until the terminal has printed a text so many times.

        Raises:
            Broken: It did not.

        """
        deadline = time.monotonic() + PATIENCE
        while self.output.count(text) < times:
            try:
                found = self.receive(deadline - time.monotonic())
            except Closed as error:
                raise Broken("it hung up amid the output") from error
            if found is None:
                count = self.output.count(text)
                raise Broken(f"a line was printed {count} times and not {times}")

    def closes(self, what: str, *, unless: tuple[str, ...] = ()) -> str:
        """Return the code of the GOODBYE that came before the subject hung up.

        Raises:
            Broken: It did not hang up after `what`, or served one of `unless`.

        """
        deadline = time.monotonic() + PATIENCE
        code = ""
        while True:
            try:
                found = self.receive(deadline - time.monotonic())
            except Closed:
                return code
            if found is None:
                raise Broken(f"it did not hang up on {what}")
            if found.name in unless:
                raise Broken(f"it answered {what} with {found.name}")
            if found.name in ("GOODBYE", "REFUSE"):
                code = str(found["code"])

    # ── reading ───────────────────────────────────────────────────────────

    def _parsed(self) -> Message | None:
        if len(self._bytes) < HEADER.size:
            return None
        number, size = HEADER.unpack_from(self._bytes)
        if size > MAX_PAYLOAD:
            raise Broken(f"a frame of {size} bytes came")
        end = HEADER.size + size
        if len(self._bytes) < end:
            return None
        payload, self._bytes = self._bytes[HEADER.size : end], self._bytes[end:]
        message = self._message(number, payload)
        self._note(message)
        return message

    def _message(self, number: int, payload: bytes) -> Message:
        self._notes.frames += 1
        name = NAMES.get(number)
        if name is None:
            self._notes.side.append(f"0x{number:02x}, which is no kind")
            return Message("", {})
        if "s" not in KINDS[name].sides:
            self._notes.side.append(name)
        if name == "OUTPUT":
            if len(payload) <= OFFSET.size:
                self._notes.form.append("OUTPUT without a byte")
                return Message("", {})
            (offset,) = OFFSET.unpack_from(payload)
            return Message(name, {"offset": offset, "data": payload[OFFSET.size :]})
        return self._mapped(name, payload)

    def _mapped(self, name: str, payload: bytes) -> Message:
        try:
            fields = unpacked(payload)
        except Malformed as error:
            self._notes.form.append(f"{name}: {error}")
            return Message("", {})
        if not isinstance(fields, dict) or tuple(fields) != KINDS[name].fields:
            self._notes.form.append(f"{name}: its fields are not those of section 4")
            return Message("", {})
        if packed(fields) != payload:
            self._notes.form.append(f"{name}: not in its shortest form")
        for key in SORTED:
            facts = fields.get(key)
            if isinstance(facts, dict) and list(facts) != sorted(facts):
                self._notes.form.append(f"{name}: {key} are not in order")
        return Message(name, fields)

    def _note(self, message: Message) -> None:
        """Keep up with stream and turn, and note what does not fit."""
        match message.name:
            case "ATTACHED":
                self.epoch, self.holder = message["epoch"], message["holder"]
            case "OUTPUT":
                at = message["offset"]
                if self._next is not None and at != self._next:
                    told = f"OUTPUT at {at}, and the stream was at {self._next}"
                    self._notes.order.append(told)
                self._next = at + len(message["data"])
                self.output += message["data"]
            case "GAP":
                self._note_gap(message)
            case "KEYFRAME":
                self._next = message["offset"]
            case "TURN_PASSED":
                if message["epoch"] <= self.epoch:
                    told = f"{message['epoch']} after {self.epoch}"
                    self._notes.epochs.append(told)
                self.epoch, self.holder = message["epoch"], message["holder"]
            case _:
                pass

    def _note_gap(self, message: Message) -> None:
        start, end = message["start"], message["end"]
        if start >= end or (self._next is not None and start != self._next):
            told = f"GAP from {start} to {end}, and the stream was at {self._next}"
            self._notes.order.append(told)
        self._next = end

    def expect_stream_at(self, offset: int) -> None:
        """Say where the stream has to go on, as the viewer asked."""
        self._next = offset
