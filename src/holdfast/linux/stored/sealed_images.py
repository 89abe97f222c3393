"""Exported images, and images imported from other hosts.

    images/imported/HOST.SESSION.NUMBER/   as an image of ours, with the manifest that
                                           HOST has signed

A sealed image is a stream (crypto/image_seal.py). In it are the length of the manifest,
the manifest as its host has signed it, that host's word that it sends it, and then the
files, one after the other, in the order and of the sizes that the manifest says: no
name or size comes from anywhere else, and nothing is written before the manifest was
believed. What arrives is a draft until all of it was found right.

An image that was imported is kept; it is not restored, because nothing yet keeps the
same session from living twice.
"""

# ruff: noqa: PTH208  # beside os.open with folders

import contextlib
import fcntl
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

from holdfast.core.capsule.manifest import (
    MANIFEST,
    MAX_SIGNED,
    check_files,
    image_name,
    read_manifest,
)
from holdfast.crypto import image_seal
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import SIGNATURE
from holdfast.linux.stored import folders
from holdfast.linux.stored.image_files import (
    closed_files,
    enter,
    found_files,
    plain_bytes,
    remove_all,
)
from holdfast.linux.stored.image_store import ClaimedImage, images_folder
from holdfast.linux.stored.small_files import replace_file, sync_folder
from holdfast.model import errors
from holdfast.model.ids import host_id
from holdfast.wire.image_manifest import Manifest

_LENGTH = struct.Struct(">I")
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def export(
    image: ClaimedImage, keys: tuple[bytes, bytes], us: Identity, out: BinaryIO
) -> None:
    """Write an image, sealed for the host with these keys: public, and static.

    Raises:
        PeerError: The image is damaged, or the key is none.
        OSError: It cannot be written.

    """
    image.verify()
    signed = _plain(f"{image.folder}/{MANIFEST}", MAX_SIGNED)
    stream = image_seal.SealingStream(*keys, os.urandom(32))
    out.write(stream.head)
    word = image_seal.sent_by(us, stream.head, signed)
    pieces = _pieces(image, _LENGTH.pack(len(signed)) + signed + word)
    held = next(pieces)
    for piece in pieces:
        out.write(stream.seal(held, is_last=False))
        held = piece
    out.write(stream.seal(held, is_last=True))


def take(
    source: BinaryIO,
    us: Identity,
    sender: bytes,
    check: Callable[[Manifest], None],
    limit: int,
) -> str:
    """Import a sealed image that `sender`, a public key, has made; return its name.

    `check` refuses what cannot go on here; an image of over `limit` bytes is refused.

    Raises:
        PeerError: It is cut, changed, forged, or of or for another host.
        UsageError: It is here already, is too large, or does not fit.
        Unavailable: The disk is full, or broken; nothing of it is left.

    """
    head = source.read(image_seal.HEAD)
    content = _Content(source, image_seal.OpeningStream(head, us))
    size = _LENGTH.unpack(content.read(_LENGTH.size))[0]
    if size > MAX_SIGNED:
        raise errors.ImageDamaged(f"its manifest has over {MAX_SIGNED} bytes")
    signed = content.read(size)
    image_seal.check_sent(sender, head, signed, content.read(SIGNATURE))
    manifest = read_manifest(signed, sender)
    check(manifest)
    total = sum(one.size for one in manifest.files)
    if total > limit:
        raise errors.ImageTooLarge(total, limit)
    return _written(manifest, signed, sender, content)


def imported() -> list[str]:
    """Return the names of the images that were imported, whole ones alone."""
    home = _home()
    return sorted(
        name
        for name in os.listdir(home)
        if os.path.lexists(f"{home}/{name}/{MANIFEST}") and not name.startswith(".")
    )


def verify(name: str, sender: bytes) -> Manifest:
    """Read all of an imported image, and refuse it if it is not as it was made.

    Raises:
        UsageError: There is none.
        PeerError: It is damaged, or `sender` has not made it.

    """
    with _opened(name) as (_, folder):
        manifest = _manifest(folder, sender)
        sizes = {one.name: one.size for one in manifest.files}
        check_files(manifest, found_files(folder, sizes))
        return manifest


def remove(name: str) -> None:
    """Remove an imported image.

    Raises:
        UsageError: There is none.
        Unavailable: The disk cannot be written.

    """
    with _opened(name) as (path, folder), _writing():
        remove_all(folder)
        os.rmdir(path)  # noqa: PTH106  # beside os.open


class _Content:
    """What is sealed in a stream, as many bytes at a time as are wanted."""

    def __init__(self, source: BinaryIO, stream: image_seal.OpeningStream) -> None:
        self._source = source
        self._stream = stream
        self._held = b""

    def some(self, most: int) -> bytes:
        """Return some bytes, at most so many; nothing at the end."""
        while not self._held and not self._stream.is_over:
            frame = self._source.read(image_seal.FRAME)
            sealed = self._source.read(self._stream.announced(frame))
            self._held = self._stream.open(frame, sealed)
        found, self._held = self._held[:most], self._held[most:]
        return found

    def read(self, size: int) -> bytes:
        """Return exactly so many bytes."""
        found = b""
        while len(found) < size:
            piece = self.some(size - len(found))
            if not piece:
                raise errors.ImageDamaged("it is cut")
            found += piece
        return found

    def end(self) -> None:
        """Refuse a stream that goes on."""
        if self.some(1) or self._source.read(1):
            raise errors.ImageDamaged("there is more of it than its manifest says")


def _written(
    manifest: Manifest, signed: bytes, sender: bytes, content: _Content
) -> str:
    name = f"{host_id(sender)}.{image_name(manifest)}"
    home = _home()
    final, draft = f"{home}/{name}", f"{home}/.{name}"
    if os.path.lexists(final):
        raise errors.ImageImported(name)
    with _writing():
        try:
            os.mkdir(draft, 0o700)  # noqa: PTH102  # beside os.open
        except FileExistsError:
            _sweep(draft, name)
        folder = enter(draft)
    try:
        _lock(folder, name)
        try:
            _fill(draft, folder, manifest, content)
            with _writing():
                replace_file(f"{draft}/{MANIFEST}", signed)
                os.rename(draft, final)  # noqa: PTH104  # beside os.open
                sync_folder(home)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    finally:
        os.close(folder)
    return name


def _fill(draft: str, folder: int, manifest: Manifest, content: _Content) -> None:
    for one in manifest.files:
        with _writing():
            above = f"{draft}/{one.name}".rpartition("/")[0]
            os.makedirs(above, 0o700, exist_ok=True)  # noqa: PTH103  # as above
            made = os.open(f"{draft}/{one.name}", _MAKE, 0o600)
        try:
            left = one.size
            while left:
                piece = content.read(min(left, image_seal.CHUNK))
                left -= len(piece)
                with _writing():
                    _write(made, piece)
        finally:
            os.close(made)
    content.end()
    with _writing():
        check_files(manifest, closed_files(folder, {}))


def _write(fd: int, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[os.write(fd, view) :]


def _sweep(draft: str, name: str) -> None:
    """Remove what an import has left that was killed, and begin again."""
    folder = enter(draft)
    try:
        _lock(folder, name)
        remove_all(folder)
    finally:
        os.close(folder)


def _lock(folder: int, name: str) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise errors.ImageBusy(name) from None


def _pieces(image: ClaimedImage, first: bytes) -> Iterator[bytes]:
    """Yield all that is sealed, in chunks."""
    for at in range(0, len(first), image_seal.CHUNK):
        yield first[at : at + image_seal.CHUNK]
    for one in image.manifest.files:
        fd = os.open(f"{image.folder}/{one.name}", _READ)
        try:
            left = one.size
            while left:
                piece = os.read(fd, min(left, image_seal.CHUNK))
                if not piece:
                    raise errors.ImageDamaged(f"{one.name} changes while it is read")
                left -= len(piece)
                yield piece
        finally:
            os.close(fd)


def _manifest(folder: int, sender: bytes) -> Manifest:
    return read_manifest(plain_bytes(MANIFEST, folder, MAX_SIGNED + 1), sender)


@contextlib.contextmanager
def _opened(name: str) -> Iterator[tuple[str, int]]:
    if name not in imported():
        raise errors.ImageNotFound(name)
    path = f"{_home()}/{name}"
    folder = enter(path)
    try:
        yield path, folder
    finally:
        os.close(folder)


def _plain(path: str, limit: int) -> bytes:
    fd = os.open(path, _READ)
    with os.fdopen(fd, "rb") as file:
        return file.read(limit)


def _home() -> str:
    return folders.owned(f"{images_folder()}/imported")


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise errors.ImageUnwritten(error.strerror or "the disk is broken") from error
