"""The layers between a socket and a remote session: relay, handshake, channel.

Theory of operation
-------------------
Everything between a socket and the protocol of a session, for a program that has no
time to load what does the same on an event loop (aio.relay_client, aio.channel,
client.host_link). Bytes from the relay go in; bytes for it, and those of the session,
come out:

    ASKING ──101──▶ GREETED ──REACH──▶ REACHED ──JOINED──▶ SHAKEN ──the host's reply──▶
    OPENED ──yes, list──▶ LISTED ──lead──▶ LED ──END──▶ over

Handshake, seals and records are those of `crypto`; messages are those of `wire`. What
is unusual is not dealt with here: `NotOneOfThese`, or the error of a broken seal, means
that this link is to be closed, and another to be opened by the ordinary way.

Once it is led, the same machine carries on for as long as the link lasts, and the
ordinary machines speak through it.

Invariants, checked by tests/core/client/test_relay_way.py:

I1  Nothing but the request for a WebSocket is said to what has not answered it, and
    nothing but a handshake to what has not proven the host's key.
I2  However the bytes are cut, the same is said, and the same comes of the session.
I3  What comes of a session was sealed by the host, in that order, without gaps.
"""

from holdfast.wire import first_relay_messages, websocket
from holdfast.wire.first_messages import NotOneOfThese

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.crypto.handshake import Established, Opening
    from holdfast.crypto.identity import Identity
    from holdfast.model.ids import HostId, SessionId
    from holdfast.wire.channel import RecordKind
    from holdfast.wire.first_messages import Fields

PATH = f"/v1/{first_relay_messages.OPERATOR}"
"""Where an operator dials."""

EPHEMERAL = 32
"""Random bytes of a key for one handshake; as in crypto.noise."""

MAX_PAGES = 256
"""Parts taken of one list; as in client.host_link."""


class Wanted:
    """Which host, by its keys, and at which relay."""

    def __init__(
        self, host: "HostId", public_key: bytes, static_key: bytes, relay: str
    ) -> None:
        self.host = host
        self.public_key = public_key
        self.static_key = static_key
        self.relay = relay
        """What the relay is called where it is dialled."""


class RelayWay:
    """One link to a relay, and what it leads to."""

    def __init__(
        self,
        wanted: Wanted,
        identity: "Callable[[], Identity]",
        entropy: "Callable[[int], bytes]",
    ) -> None:
        """Go to a host; `identity` is asked who we are once a relay has greeted us."""
        self._wanted = wanted
        self._identity = identity
        self._entropy = entropy
        self._key = entropy(websocket.KEY)
        self._head = bytearray()
        self._reader: websocket.MessageReader | None = None
        self._us: Identity | None = None
        self._opening: Opening | None = None
        self._made: Established | None = None
        self._hear = self._greeted
        self._packets = bytearray()
        self._pages = 0
        self._came = bytearray()
        self.sessions: list[object] = []
        """What the host has, as far as we may see it, once it `is_listed`."""

        self.is_listed = False
        """Whether that is all."""

        self.is_over = False
        """Whether the host has said all, or the relay has taken leave."""

        self.why = ""
        """What the relay gave as the reason of the end."""

    def begin(self) -> bytes:
        """Return the first bytes to send."""
        return websocket.request(self._wanted.relay, PATH, self._key)

    def hear(self, raw: bytes) -> bytes:
        """Take bytes from the relay; return what to send.

        Raises:
            NotOneOfThese: It is nothing that we know what to say to.
            PeerError: The host is another, or a seal is broken.

        """
        if self._reader is None:
            self._head += raw
            if not websocket.is_accepted(self._head, self._key):
                return b""
            self._reader, raw = websocket.MessageReader(), bytes(self._head)
        return b"".join(
            self._answer(opcode, payload) for opcode, payload in self._reader.feed(raw)
        )

    def lead(self, session: "SessionId") -> bytes:
        """Return what has the host lead us to a session; its protocol may follow."""
        assert self.is_listed, "the host has not answered yet"  # noqa: S101
        self._hear = self._led
        return self.says(first_relay_messages.ask_to_lead(session))

    def says(self, data: bytes) -> bytes:
        """Return what says this to the session.

        Raises:
            Unavailable: We have ended it, or the counts are used up.

        """
        from holdfast.wire.channel import MAX_DATA, RecordKind  # noqa: PLC0415  # loaded by now

        view = memoryview(data)
        return b"".join(
            self._sealed(RecordKind.DATA, view[start : start + MAX_DATA])
            for start in range(0, len(view), MAX_DATA)
        )

    def take(self) -> bytes:
        """Return what came of the session, once."""
        came = bytes(self._came)
        self._came.clear()
        return came

    def ping(self) -> bytes:
        """Return what makes the relay show that it is there."""
        return self._framed(b"", websocket.PING)

    def end(self) -> bytes:
        """Return what takes leave: of the host, if it is there, and of the relay."""
        from holdfast.wire.channel import RecordKind  # noqa: PLC0415  # loaded by now

        said = b""
        if self._made is not None and not self._made.outbound.has_ended:
            said = self._sealed(RecordKind.END)
        return said + websocket.close_frame(self._entropy(websocket.MASK))

    # ── what comes ────────────────────────────────────────────────────────

    def _answer(self, opcode: int, payload: bytes) -> bytes:
        if self.is_over:
            return b""
        if opcode == websocket.BINARY:
            return self._hear(payload)
        if opcode == websocket.PING:
            return self._framed(payload, websocket.PONG)
        if opcode == websocket.CLOSE:
            self.is_over, self.why = True, websocket.reason_in(payload)
        return b""

    def _greeted(self, message: bytes) -> bytes:
        nonce, wanted = first_relay_messages.nonce_in(message), self._wanted
        self._us = us = self._identity()
        self._hear = self._joined
        signed = first_relay_messages.statement(
            first_relay_messages.OPERATOR,
            wanted.relay,
            nonce,
            wanted.host.encode(),
            b"",
        )
        said = first_relay_messages.reach(us.public, wanted.host, us.sign(signed))
        return self._framed(said)

    def _joined(self, message: bytes) -> bytes:
        from holdfast.crypto.handshake import Opening  # noqa: PLC0415  # slow to load

        wanted = self._wanted
        first_relay_messages.check_joined(message, wanted.host)
        assert self._us is not None, "greeted comes first"  # noqa: S101
        ephemeral = self._entropy(EPHEMERAL)
        self._opening = Opening(
            self._us, wanted.public_key, wanted.static_key, ephemeral
        )
        self._hear = self._proven
        return self._framed(self._opening.first())

    def _proven(self, message: bytes) -> bytes:
        assert self._opening is not None, "joined comes first"  # noqa: S101
        confirm, self._made = self._opening.last(message)
        self._hear = self._opened
        # The question is not held back until the host has said yes to OPEN.
        asked = self.says(first_relay_messages.open_host())
        return (
            self._framed(confirm)
            + asked
            + self.says(first_relay_messages.ask_for_list())
        )

    def _opened(self, message: bytes) -> bytes:
        first_relay_messages.check_opened(self._opened_record(message))
        self._hear = self._listed
        return b""

    def _listed(self, message: bytes) -> bytes:
        self._packets += self._opened_record(message)
        while not self.is_listed:
            page = first_relay_messages.answer_in(self._packets)
            if page is None:
                return b""
            self._take_page(page)
        if self._packets:
            raise NotOneOfThese  # Nobody has asked for more.
        return b""

    def _take_page(self, page: "Fields") -> None:
        self._pages += 1
        match page:
            case {"sessions": list(some), **rest} if self._pages <= MAX_PAGES:
                self.sessions += some
                self.is_listed = not rest.get("more")
            case _:
                raise NotOneOfThese

    def _led(self, message: bytes) -> bytes:
        self._packets += self._opened_record(message)
        if first_relay_messages.answer_in(self._packets) is not None:
            # What follows is the session's, in the same record or the next.
            self._came += self._packets
            self._hear = self._carried
        return b""

    def _carried(self, message: bytes) -> bytes:
        self._came += self._opened_record(message)
        return b""

    # ── what goes, and seals ──────────────────────────────────────────────

    def _opened_record(self, message: bytes) -> bytes:
        """Return the data of a record; at END, none, and it is over."""
        assert self._made is not None, "proven comes first"  # noqa: S101
        record = self._made.inbound.open(message)
        self.is_over = self._made.inbound.has_ended
        return record.data

    def _sealed(self, kind: "RecordKind", data: bytes | memoryview = b"") -> bytes:
        assert self._made is not None, "proven comes first"  # noqa: S101
        return self._framed(self._made.outbound.seal(kind, data))

    def _framed(self, message: bytes, opcode: int = websocket.BINARY) -> bytes:
        return websocket.frame(opcode, message, self._entropy(websocket.MASK))
