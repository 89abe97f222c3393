"""A link to a session elsewhere, for code that blocks and has loaded next to nothing.

The socket below `relay_way`, which decides all that is said on it. It is used as a
socket to the session's holder would be, until `detach` leaves it to a thread
(client.relay_pump) and gives a real one in its place.
"""

import _socket
import time

from holdfast.core.client.relay_way import RelayWay
from holdfast.wire.first_messages import NotOneOfThese

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from holdfast.model.ids import SessionId
    from holdfast.wire.first_relay_messages import RelayEndpoint

    Socket = _socket.socket | ssl.SSLSocket

READ = 256 * 1024
"""Bytes taken from the socket at once."""


class RelayLink:
    """One link, from dialling to the session."""

    def __init__(self, link: "Socket", way: RelayWay) -> None:
        self._link = link
        self._way = way
        self._unsent = b""
        self._is_left = False
        self.ended: Callable[[str], None] = lambda _why: None
        """Told why the link has ended, once a thread has it."""

    def begin(self) -> None:
        """Ask the relay for what comes next; it answers while we load something.

        Raises:
            OSError: The link is broken.

        """
        self._link.sendall(self._way.begin())

    def sessions(self, deadline: float) -> list[object]:
        """Return what the host at the other end lists.

        Raises:
            NotOneOfThese: It does not, or not in time, or is another.
            HoldfastError: A seal is broken.
            OSError: The link is broken.

        """
        while not self._way.is_listed:
            left = deadline - time.monotonic()
            if self._way.is_over or left <= 0:
                raise NotOneOfThese
            self._link.settimeout(left)
            self._fill()
        return self._way.sessions

    def lead(self, session: "SessionId") -> None:
        """Ask the host for a session, along with the first message to it."""
        self._unsent = self._way.lead(session)

    def settimeout(self, seconds: float) -> None:
        """Wait so long for an answer from now on."""
        self._link.settimeout(seconds)

    def recv(self, size: int) -> bytes:
        """Return the next bytes of the session; none if nothing more comes.

        Raises:
            OSError: The link is broken, or nothing came in time.

        """
        from holdfast.model.errors import HoldfastError  # noqa: PLC0415  # loaded by now

        del size  # A record is never longer than what was asked for.
        try:
            while not (came := self._way.take()) and not self._way.is_over:
                self._fill()
        except (NotOneOfThese, HoldfastError):
            return b""  # The ordinary way opens another link, and says what is wrong.
        return came

    def sendall(self, data: bytes) -> None:
        """Say something to the session.

        Raises:
            OSError: The link is broken.

        """
        said, self._unsent = self._unsent + self._way.says(data), b""
        self._link.sendall(said)

    def detach(self) -> int:
        """Leave the link to a thread; return the descriptor of a socket to it."""
        import socket  # noqa: PLC0415  # slow to load, and needed from now on

        from holdfast.client.relay_pump import RelayPump  # noqa: PLC0415  # ditto

        link, self._is_left = self._link, True
        if not isinstance(link, socket.socket):
            link = socket.socket(fileno=link.detach())
        return RelayPump(link, self._way, self.ended).start()

    def close(self) -> None:
        """Hang up, unless it was handed over."""
        if not self._is_left:
            self._link.close()

    def _fill(self) -> None:
        raw = self._link.recv(READ)
        if not raw:
            raise NotOneOfThese
        if answer := self._way.hear(raw):
            self._link.sendall(answer)


def dialled(endpoint: "RelayEndpoint", deadline: float) -> "Socket":
    """Connect to a relay.

    Raises:
        OSError: Nobody answers there, or not as that relay.

    """
    refused: OSError | None = None
    found = _socket.getaddrinfo(
        endpoint.host.encode(), endpoint.port, 0, _socket.SOCK_STREAM
    )
    for family, kind, protocol, _, address in found:
        link = _socket.socket(family, kind, protocol)
        try:
            link.settimeout(max(0.001, deadline - time.monotonic()))
            link.connect(address)
            # A key is sent at once, and not with the next.
            link.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
            return _with_tls(link, endpoint.host) if endpoint.is_tls else link
        except OSError as error:
            link.close()
            refused = error
    raise refused or OSError("it has no address")


def _with_tls(link: _socket.socket, name: str) -> "ssl.SSLSocket":
    import socket  # noqa: PLC0415  # slow to load
    import ssl  # noqa: PLC0415  # ditto

    left = link.gettimeout()
    plain = socket.socket(fileno=link.detach())
    try:
        plain.settimeout(left)
        return ssl.create_default_context().wrap_socket(plain, server_hostname=name)
    except BaseException:
        plain.close()
        raise
