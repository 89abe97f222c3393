"""The first messages to a relay and a host, without slow imports.

This writes and reads the few messages that lead from a relay to a session, in the same
bytes as `relay_messages`, `opening` and `host_requests`. They are compared in
tests/wire/test_first_relay_messages.py.
"""

from holdfast.wire import plain_json
from holdfast.wire.first_messages import NotOneOfThese, packed, unpacked

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from holdfast.model.ids import HostId, SessionId
    from holdfast.wire.first_messages import Fields

OPERATOR = "operator"
"""As whom we dial: Role.OPERATOR, which is slow to load."""

VERSION = 1
"""The version of the relay's protocol, and of the channel's."""

NONCE = 32
"""Random bytes that a relay has us sign."""

MAX_PACKET = 64 * 1024
"""Bytes of a packet; as in `host_requests`."""

HOST = "host"
"""The target that is the host itself; as in `opening`."""

_STATEMENT = b"holdfast relay proof 1"
_LENGTH = 2
_HEADER = 4
_SCHEMES = {"https": 443, "http": 80}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")
_NEAR = ("localhost", "[::1]")
_BYTE = 256
_PARTS = 4
_DIGITS = 5


class RelayEndpoint:
    """Where a relay is dialled."""

    def __init__(self, *, is_tls: bool, name: str, host: str, port: int) -> None:
        self.is_tls = is_tls
        self.name = name
        """What it is called there, which is signed: the port only if it is unusual."""

        self.host = host
        self.port = port


def endpoint_at(url: str) -> RelayEndpoint | None:
    """Read the address of a relay, if it is written as usual; None if it is not."""
    scheme, _, rest = url.partition("://")
    rest = rest.removesuffix("/")
    host, colon, digits = rest, "", ""
    if not rest.endswith("]"):
        host, colon, digits = (
            rest.rpartition(":") if ":" in rest else (rest, colon, digits)
        )
    if scheme not in _SCHEMES or not _is_host(host) or bool(colon) is not bool(digits):
        return None
    is_near = host in _NEAR or _is_loopback(host)
    if scheme == "http" and not is_near:
        return None  # In plaintext over a network: the ordinary way says so.
    usual = _SCHEMES[scheme]
    port = usual
    if digits:
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS):
            return None
        port = int(digits)
    if not 0 < port < 1 << 16 or (digits and str(port) != digits):
        return None
    name = host if port == usual else f"{host}:{port}"
    return RelayEndpoint(
        is_tls=scheme == "https", name=name, host=host.strip("[]"), port=port
    )


def is_near(endpoint: RelayEndpoint) -> bool:
    """Tell whether a relay is on this machine, so that no proxy leads there."""
    return endpoint.host in ("localhost", "::1") or _is_loopback(endpoint.host)


def statement(role: str, relay: str, nonce: bytes, *wishes: bytes) -> bytes:
    """Return the bytes that a peer signs to prove its key on one link.

    `relay` is the name as dialled: the host, and the port unless it is the
    scheme's own. `wishes` are what the message asks for, in the order of its
    fields.
    """
    fields = (_STATEMENT, role.encode(), relay.encode(), nonce, *wishes)
    return b"".join(len(field).to_bytes(_LENGTH, "big") + field for field in fields)


def nonce_in(raw: bytes) -> bytes:
    """Return what a relay's GREET has us sign.

    Raises:
        NotOneOfThese: It is none, or of another version.

    """
    match _told(raw, "greet", ("is", "version", "nonce")):
        case {"version": 1, "nonce": bytes(nonce)} if len(nonce) == NONCE:
            return nonce
    raise NotOneOfThese


def reach(key: bytes, target: str, signature: bytes) -> bytes:
    """Return REACH: join us with a host."""
    said: Fields = {"is": "reach", "key": key, "target": target}
    return packed({**said, "invite": b"", "signature": signature})


def check_joined(raw: bytes, host: "HostId") -> None:
    """Demand that a relay says JOINED, with this host.

    Raises:
        NotOneOfThese: It says something else.

    """
    if _told(raw, "joined", ("is", "host"))["host"] != host:
        raise NotOneOfThese


def open_host() -> bytes:
    """Return OPEN: let us speak to the host."""
    return packed({"is": "open", "version": VERSION, "target": HOST})


def check_opened(raw: bytes) -> None:
    """Demand that a host says OPENED.

    Raises:
        NotOneOfThese: It says something else.

    """
    if _told(raw, "opened", ("is", "version"))["version"] != VERSION:
        raise NotOneOfThese


def packet(facts: "Fields") -> bytes:
    """Return a request to a host."""
    raw = plain_json.dumps(facts).encode()
    return len(raw).to_bytes(_HEADER, "big") + raw


def ask_for_list() -> bytes:
    """Return the request for all sessions that we may see."""
    return packet({"do": "list"})


def ask_to_lead(session: "SessionId") -> bytes:
    """Return the request to be led to a session."""
    return packet({"do": "open", "session": session})


def answer_in(held: bytearray) -> "Fields | None":
    """Take a host's answer from the front of `held`; None while it is not whole.

    Raises:
        NotOneOfThese: It is a no, too large, or none.

    """
    if len(held) < _HEADER:
        return None
    end = _HEADER + int.from_bytes(held[:_HEADER], "big")
    if end > _HEADER + MAX_PACKET:
        raise NotOneOfThese
    if len(held) < end:
        return None
    try:
        facts = plain_json.loads(bytes(held[_HEADER:end]))
    except (ValueError, RecursionError):
        facts = None
    del held[:end]
    if not isinstance(facts, dict) or facts.get("ok") is not True:
        raise NotOneOfThese
    return facts


def _told(raw: bytes, what: str, names: tuple[str, ...]) -> "Fields":
    fields = unpacked(raw)
    if not isinstance(fields, dict) or tuple(fields) != names or fields["is"] != what:
        raise NotOneOfThese
    return fields


def _is_host(text: str) -> bool:
    return text in _NEAR or (bool(text) and _LETTERS.issuperset(text))


def _is_loopback(host: str) -> bool:
    parts = host.split(".")
    return (
        parts[0] == "127"
        and len(parts) == _PARTS
        and all(
            part.isdigit() and int(part) < _BYTE and str(int(part)) == part
            for part in parts
        )
    )
