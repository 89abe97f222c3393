"""What `holdfast invite` prints: the link, what it needs, and a QR code where it helps.

The link comes last but for the key, so that it stays on the screen. A code is drawn
only where a phone could use it: the relay can be reached from elsewhere, and the
terminal has room for it with the lines around it.
"""

from typing import NamedTuple

from holdfast.crypto.fingerprints import short_fingerprint, spoken_fingerprint
from holdfast.wire.invites import is_only_here

ROOM_BELOW = 12
"""Lines that are printed beside a code, and the prompt after them."""


class Room(NamedTuple):
    """The terminal that is printed on."""

    columns: int
    rows: int


def invitation_lines(
    link: str, relays: tuple[str, ...], host_key: bytes, ttl: str, room: Room | None
) -> list[str]:
    """Return the lines about a link; with a code if there is `room` for one."""
    is_near = all(map(is_only_here, relays))
    lines = [] if room is None or is_near else _code(link, room)
    where = "in a browser on this machine" if is_near else "in a browser"
    lines += [f"The link works once, within {ttl}, {where}:", "", f"  {link}", ""]
    if is_near:
        lines += [
            "A phone, or another machine, needs a relay that it can reach:",
            "",
            "  holdfast up --relay https://…",
            "",
        ]
    else:
        # Not as an argument: every process sees those, and shells keep histories.
        lines += ["On another machine, paste it into `holdfast join -`.", ""]
    return [
        *lines,
        f"Both sides show the key of this host, {short_fingerprint(host_key)}:",
        f"  {spoken_fingerprint(host_key)}",
    ]


def _code(link: str, room: Room) -> list[str]:
    from holdfast.cli.qr import qr_lines  # noqa: PLC0415  # only who shows one

    lines = qr_lines(link)
    wrapped = len(link) // room.columns
    fits = len(lines) + ROOM_BELOW + wrapped <= room.rows
    return [*lines, ""] if fits and len(lines[0]) <= room.columns else []
