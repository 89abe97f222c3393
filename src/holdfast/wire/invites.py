"""The content of an invitation link.

Everything a new operator needs, and nothing that a server is told: browsers and
clients keep what follows the `#` to themselves.

    https://RELAY/j#FRAGMENT

The fragment is base64url without padding of these bytes:

    offset  size  field
    0       1     version, 1
    1       32    the host's Ed25519 public key
    33      16    the invitation's id
    49      16    its secret, good for one use
    65      1     number of relays, 1 to 8
    66      n     for each: length, 1 byte; URL in ASCII
    66 + n  4     the first bytes of SHA-256 over all of the above

The sum at the end is against typing errors; an invitation that was changed
on purpose fails in the handshake. Normative in docs/spec/channel.md.

I1  from_link(to_link(i)) is i, and nothing else has that link.
I2  Whatever the text, from_link returns an invitation or raises a UsageError,
    which shows nothing of the text.
"""

import base64
import binascii
import hashlib
import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from holdfast.model.errors import MalformedInvite
from holdfast.wire.channel import INVITE_ID

VERSION = 1
PUBLIC = 32
SECRET = 16

MAX_RELAYS = 8
"""Relays in one link: more than a host has, and still a QR code one can scan."""

MAX_URL = 255
MAX_LINK = 4096
"""Characters of a link that are looked at at all."""

_SUM = 4
_FIXED = 1 + PUBLIC + INVITE_ID + SECRET + 1
_PATH = "/j"
_URL = re.compile(r"(https?)://([a-z0-9.\-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/?")


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a link says. The secret does not show."""

    host_public: bytes
    invite_id: bytes
    secret: bytes = field(repr=False)
    relays: tuple[str, ...]
    """In the order in which they are to be tried; the link leads to the first."""

    def to_link(self) -> str:
        """Return the link.

        Raises:
            UsageError: A part has another length, or a URL is no relay's.

        """
        sizes = (len(self.host_public), len(self.invite_id), len(self.secret))
        if sizes != (PUBLIC, INVITE_ID, SECRET):
            raise MalformedInvite("a key, an id or a secret has another length")
        _check_relays(self.relays)
        raw = bytes((VERSION,)) + self.host_public + self.invite_id + self.secret
        raw += bytes((len(self.relays),))
        for url in self.relays:
            raw += bytes((len(url),)) + url.encode()
        whole = base64.urlsafe_b64encode(raw + _sum(raw)).rstrip(b"=").decode()
        return f"{self.relays[0].rstrip('/')}{_PATH}#{whole}"


def from_link(link: str) -> Invitation:
    """Read a link, wherever white space got into it.

    Raises:
        UsageError: It is none.

    """
    if len(link) > MAX_LINK:
        raise MalformedInvite(f"it is over {MAX_LINK} characters")
    place, mark, fragment = "".join(link.split()).partition("#")
    if not (mark and place.endswith(_PATH)):
        raise MalformedInvite("it does not lead to an invitation")
    raw = _decoded(fragment)
    if len(raw) <= _FIXED + _SUM or raw[0] != VERSION:
        raise MalformedInvite("it is cut off, or of another version")
    if _sum(raw[:-_SUM]) != raw[-_SUM:]:
        raise MalformedInvite("a letter of it is wrong or missing")
    found = Invitation(
        raw[1 : 1 + PUBLIC],
        raw[1 + PUBLIC : 1 + PUBLIC + INVITE_ID],
        raw[1 + PUBLIC + INVITE_ID : _FIXED - 1],
        _relays(raw[_FIXED - 1 : -_SUM]),
    )
    if found.to_link().partition("#")[2] != fragment:
        raise MalformedInvite("it is not written the one way it can be")
    return found


def check_relay_url(url: str) -> None:
    """Refuse a URL that no relay is dialled by.

    A relay has a name and perhaps a port, and nothing else in its URL; it is
    dialled in plain text on this machine only (T40).

    Raises:
        UsageError: It is refused.

    """
    if len(url) > MAX_URL or not _URL.fullmatch(url):
        raise MalformedInvite("a relay's URL is https://NAME or https://NAME:PORT")
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme == "http" and not _is_loopback(parts.hostname or "")
        port = parts.port
    except ValueError:
        port, is_plain = 0, False
    if port == 0:
        raise MalformedInvite("a relay's URL has a port or a name that is none")
    if is_plain:
        raise MalformedInvite("without TLS a relay is reached on this machine only")


def is_only_here(url: str) -> bool:
    """Tell whether a relay can be reached from its own machine only."""
    return _is_loopback(urlsplit(url).hostname or "")


def _relays(raw: bytes) -> tuple[str, ...]:
    count, rest = raw[0], raw[1:]
    found: list[str] = []
    while rest:
        size = rest[0]
        found.append(rest[1 : 1 + size].decode("latin-1"))
        rest = rest[1 + size :]
    if len(found) != count:
        raise MalformedInvite("its relays are not as many as it says")
    _check_relays(tuple(found))
    return tuple(found)


def _check_relays(urls: tuple[str, ...]) -> None:
    if not 1 <= len(urls) <= MAX_RELAYS:
        raise MalformedInvite(f"it names {len(urls)} relays, not 1 to {MAX_RELAYS}")
    for url in urls:
        check_relay_url(url)


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _decoded(fragment: str) -> bytes:
    try:
        padded = fragment.encode("ascii") + b"=" * (-len(fragment) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (UnicodeError, binascii.Error, ValueError):
        raise MalformedInvite("it has letters that no invitation has") from None


def _sum(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()[:_SUM]
