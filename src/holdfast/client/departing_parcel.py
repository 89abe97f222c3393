"""What a session takes along when it moves: its image, its logbook, who knows it."""

import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from holdfast.core.capsule.manifest import MANIFEST, MAX_SIGNED
from holdfast.core.session.recovery import read_facts
from holdfast.crypto.keys import SigningKey
from holdfast.linux import shells
from holdfast.linux.stored import image_store, operators, parcels
from holdfast.linux.stored.book_rights import Books
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ClaimedImage, ImageName
from holdfast.linux.stored.parcels import Brought, Papers
from holdfast.linux.stored.service_operators import is_service
from holdfast.linux.stored.small_files import read_file
from holdfast.model.errors import ImageDamaged
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import SendParcel

CHUNK = 256 * 1024
"""Bytes read and sent at once."""

MAX_HELD = 256 * 1024 * 1024
"""Bytes of a checkpoint of a logbook, or of its signed head."""

START = "start.bin"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class DepartingParcel(NamedTuple):
    """All that is sent, and where it is."""

    image: ImageName
    papers: bytes
    manifest: bytes
    files: tuple[tuple[str, int], ...]
    held: Mapping[str, bytes] = MappingProxyType({})
    """What was read of files that are written anew while the session lives."""

    @property
    def request(self) -> SendParcel:
        """What announces it."""
        return SendParcel(
            self.image.session, self.image.number, len(self.papers), len(self.manifest)
        )

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size in self.files)

    def pieces(self, begin: int) -> Iterator[bytes]:
        """Yield all files as one stream, from a byte on.

        Raises:
            PeerError: One has changed.

        """
        for path, size in self.files:
            if begin >= size:
                begin -= size
                continue
            if path in self.held:
                whole = self.held[path][begin:]
                yield from (
                    whole[at : at + CHUNK] for at in range(0, len(whole), CHUNK)
                )
                begin = 0
                continue
            yield from _pieces(path, begin, size)
            begin = 0


def pack(image: ClaimedImage, name: str) -> DepartingParcel:
    """Return what is to be sent of a session that was stopped into an image.

    Raises:
        OSError: It cannot be read.

    """
    manifest = image.manifest
    session = manifest.session
    signed = read_file(f"{image.folder}/{MANIFEST}", MAX_SIGNED)
    # Entries are only ever added; what is written anew speaks of those before it.
    files = parcels.book_files(session)
    held = {
        path: read_file(path, MAX_HELD)
        for one, path in files
        if not one.startswith("log")
    }
    book = [
        (one, path, len(held[path]) if path in held else Path(path).stat().st_size)
        for one, path in files
    ]
    facts = read_facts(read_file(f"{image.folder}/{START}", 1 << 26), session)
    shell = facts.shell_of or session
    papers = Papers(
        name,
        socket.gethostname().partition(".")[0],
        len(signed),
        tuple((one, size) for one, _, size in book),
        (shell, shells.nonce_of(shell), shells.key_of(shell)),
        tuple(known_to(session)),
    )
    streamed = [
        *((f"{image.folder}/{one.name}", one.size) for one in manifest.files),
        *((path, size) for _, path, size in book),
    ]
    found = ImageName(session, manifest.number)
    return DepartingParcel(found, papers.to_bytes(), signed, tuple(streamed), held)


def claim(name: ImageName) -> ClaimedImage:
    """Have an image of this host, which nobody removes meanwhile."""
    return image_store.claim(name, SigningKey.from_seed(host_seed()).public)


def known_to(session: SessionId) -> Iterator[Brought]:
    """Yield the operators whom a session knows, with what it lets them do."""
    books = Books()
    for one in operators.enrolled()[: parcels.MAX_OPERATORS]:
        envelope = books.envelope(one.actor.id, session)
        if envelope is None or not envelope.rights or is_service(one):
            continue  # The other host has services of its own.
        rights = tuple(sorted(right.value for right in envelope.rights))
        actor = one.actor
        yield Brought(actor.id, actor.name, actor.kind.value, one.public_key, rights)


def _pieces(path: str, begin: int, size: int) -> Iterator[bytes]:
    fd = os.open(path, _READ)
    try:
        at = begin
        while at < size:
            piece = os.pread(fd, min(CHUNK, size - at), at)
            if not piece:
                raise ImageDamaged(
                    f"{path.rpartition('/')[2]} changes while it is read"
                )
            at += len(piece)
            yield piece
    finally:
        os.close(fd)
