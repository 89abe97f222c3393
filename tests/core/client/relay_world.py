"""A relay and the host behind it, in memory: bytes in, bytes out.

Framing is the library's, messages are the codecs', seals are the host's own: nothing
of what `relay_way` speaks with is its own.
"""

import os
from typing import TYPE_CHECKING

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from holdfast.crypto.handshake import Accepting, Established
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import verify
from holdfast.model.ids import host_id, session_id
from holdfast.wire import opening, relay_messages
from holdfast.wire.channel import MAX_DATA, VERSION, RecordKind
from holdfast.wire.host_requests import Packet, PacketReader, packet_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

US = Identity.from_seed(b"u" * 32)
HOST = Identity.from_seed(b"h" * 32)
NAME = "127.0.0.1:8080"
SESSION = session_id(b"s" * 10)
NONCE = b"n" * 32


class FarWorld:
    """Answers an operator that comes by a relay; tests make it misbehave."""

    def __init__(self, identity: Identity = HOST, name: str = NAME) -> None:
        self.identity = identity
        self.name = name
        self.greeting = relay_messages.encode(
            relay_messages.Greet(relay_messages.VERSION, NONCE)
        )
        self.joined = relay_messages.encode(relay_messages.Joined(host_id(HOST.public)))
        self.opened = opening.encode(opening.Opened(VERSION))
        self.pages: list[Packet] = [
            {"ok": True, "sessions": [{"id": SESSION, "name": "web"}]}
        ]
        self.led: Packet = {"ok": True}
        self.said = bytearray()
        """What the operator said to the session."""

        self.has_left = False
        self.steps: list[str] = []
        """What was heard, in order."""

        self.welcome = b""
        """What the session says at once."""

        self.made: Established | None = None
        self._talk = ServerProtocol(max_size=relay_messages.MAX_MESSAGE)
        self._accepting: Accepting | None = None
        self._hear: Callable[[bytes], None] = self._reached
        self._reader = PacketReader()

    def hear(self, raw: bytes) -> bytes:
        """Take bytes from the operator; return what it is sent."""
        self._talk.receive_data(raw)
        for event in self._talk.events_received():
            if isinstance(event, Request):
                assert event.path == "/v1/operator"
                assert event.headers["Host"] == self.name
                self._talk.send_response(self._talk.accept(event))
                self._talk.send_binary(self.greeting)
            elif isinstance(event, Frame) and event.opcode is Opcode.BINARY:
                self._hear(bytes(event.data))
            elif isinstance(event, Frame):
                self.steps.append(event.opcode.name)
        return b"".join(self._talk.data_to_send())

    def says(self, data: bytes) -> bytes:
        """Return what says this to the operator, as the session."""
        for start in range(0, len(data), MAX_DATA):
            self._seal(data[start : start + MAX_DATA])
        return b"".join(self._talk.data_to_send())

    def ends(self) -> bytes:
        """Return the session's END."""
        assert self.made is not None
        self._talk.send_binary(self.made.outbound.seal(RecordKind.END))
        return b"".join(self._talk.data_to_send())

    def pings(self, payload: bytes = b"") -> bytes:
        """Return a relay's ping."""
        self._talk.send_ping(payload)
        return b"".join(self._talk.data_to_send())

    def leaves(self, why: str) -> bytes:
        """Return what the relay takes leave with."""
        self._talk.send_close(4000, why)
        return b"".join(one for one in self._talk.data_to_send() if one)

    def _seal(self, data: bytes) -> None:
        assert self.made is not None
        self._talk.send_binary(self.made.outbound.seal(RecordKind.DATA, data))

    def _reached(self, message: bytes) -> None:
        said = relay_messages.decode(message)
        assert isinstance(said, relay_messages.Reach)
        assert said.target == host_id(HOST.public)
        signed = relay_messages.stated(said, self.name, NONCE)
        assert verify(said.key, signed, said.signature)
        self.steps.append("reach")
        self._hear = self._shaken
        self._talk.send_binary(self.joined)

    def _shaken(self, message: bytes) -> None:
        self._accepting = Accepting(self.identity, message, os.urandom(32))
        self._talk.send_binary(self._accepting.reply())
        self._hear = self._proven

    def _proven(self, message: bytes) -> None:
        assert self._accepting is not None
        self.made = self._accepting.finish(message)
        assert self.made.peer == US.public
        self.steps.append("proven")
        self._hear = self._asked_to_open

    def _asked_to_open(self, message: bytes) -> None:
        assert opening.decode(self._data(message)) == opening.Open(VERSION, "host")
        self._seal(self.opened)
        self._hear = self._asked

    def _asked(self, message: bytes) -> None:
        self._reader.feed(self._data(message))
        packet = self._reader.take()
        assert packet is not None
        self.steps.append(str(packet["do"]))
        if packet["do"] == "list":
            for page in self.pages:
                self._seal(packet_bytes(page))
            return
        assert packet["session"] == SESSION
        self._seal(packet_bytes(self.led) + self.welcome)
        self.said += self._reader.rest()
        self._hear = self._carried

    def _carried(self, message: bytes) -> None:
        self.said += self._data(message)

    def _data(self, message: bytes) -> bytes:
        assert self.made is not None
        record = self.made.inbound.open(message)
        self.has_left = record.kind is RecordKind.END
        return record.data
