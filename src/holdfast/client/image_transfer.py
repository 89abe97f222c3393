"""Exports images to another host, and imports them from one."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from holdfast.client import hosts
from holdfast.client.images import demand_person, whole_image
from holdfast.core.capsule.manifest import check_machine
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import PUBLIC
from holdfast.linux import exec_filter
from holdfast.linux.criu.program import find
from holdfast.linux.image_facts import this_machine
from holdfast.linux.stored import image_store, sealed_images
from holdfast.linux.stored.config import settings
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.errors import (
    ImageMisfit,
    ImageUnwritten,
    MalformedArgument,
)
from holdfast.model.ids import host_id
from holdfast.model.text import printable
from holdfast.wire.image_manifest import Manifest

STANDARD = "-"
"""The name of standard input, or output."""

_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def our_key() -> str:
    """Return what others need to seal an image for this host; it is no secret."""
    us = Identity.from_seed(host_seed())
    return f"{us.public.hex()}.{us.static_public.hex()}"


def keys_of(text: str, option: str) -> tuple[bytes, bytes]:
    """Return the public and the static key of a host, by its name here or by its key.

    Raises:
        UsageError: It is neither.

    """
    public, _, static = text.partition(".")
    try:
        keys = bytes.fromhex(public), bytes.fromhex(static)
    except ValueError:
        keys = b"", b""
    if all(len(one) == PUBLIC for one in keys):
        return keys
    if "." in text or len(text) > PUBLIC:
        raise MalformedArgument(option, "a host, or what its `images key` prints")
    found = hosts.by_name(text.removeprefix("@"))
    return found.public_key, found.static_key


def export(text: str, path: str, to: str) -> int:
    """Write an image of this host to a file, sealed for another host; return its size.

    Raises:
        UsageError: There is no such image or host, or the file is there already.
        Forbidden: We are no person.
        PeerError: The image is damaged.
        Unavailable: It cannot be written; nothing is left.

    """
    demand_person()
    keys, us = keys_of(to, "--to"), Identity.from_seed(host_seed())
    with image_store.claim(whole_image(text), us.public) as image, _made(path) as out:
        sealed_images.export(image, keys, us, out)
        out.flush()
        return sum(one.size for one in image.manifest.files)


def take(path: str, sender: str) -> str:
    """Import a sealed image that a host has made; return what it is called here.

    Raises:
        PeerError: It is not to be believed.
        UsageError: It is here already, is too large, or cannot go on here.
        Forbidden: We are no person.
        Unavailable: It cannot be written; nothing is left.

    """
    demand_person()
    public, _ = keys_of(sender, "--from")
    us, limit = Identity.from_seed(host_seed()), settings().images_size
    with _opened(path) as source:
        return sealed_images.take(source, us, public, check_fits, limit)


def verify(name: str, sender: str) -> Manifest:
    """Read all of an imported image.

    Raises:
        PeerError: It is damaged, or that host has not made it.
        UsageError: There is none.

    """
    return sealed_images.verify(name, keys_of(sender, "--from")[0])


def maker_of(sender: str) -> str:
    """Return the id of a host, by its name here or by its key."""
    return host_id(keys_of(sender, "--from")[0])


def check_fits(manifest: Manifest) -> None:
    """Refuse an image that could not go on here.

    Raises:
        UsageError: Architecture, processor, CRIU or user do not fit.

    """
    program = find().program
    version = (*(() if program is None else program.version), 0, 0, 0)[:3]
    major, minor, patch = version
    check_machine(manifest.machine, this_machine(major * 10000 + minor * 100 + patch))
    is_root = exec_filter.is_privileged()
    if manifest.capsule.rootless is is_root:
        theirs, ours = ("an ordinary user", "root")[:: 1 if is_root else -1]
        raise ImageMisfit("a capsule of", theirs, ours)


@contextlib.contextmanager
def _made(path: str) -> Iterator[BinaryIO]:
    """Open a file that is not there yet; remove it again if it comes to nothing."""
    if path == STANDARD:
        if sys.stdout.isatty():
            raise MalformedArgument("FILE", "a file; this is a terminal")
        yield sys.stdout.buffer
        return
    try:
        fd = os.open(path, _MAKE, 0o600)
    except FileExistsError:
        raise MalformedArgument("FILE", "one that is not there yet") from None
    except OSError as error:
        raise ImageUnwritten(error.strerror or "the disk is broken") from error
    try:
        with os.fdopen(fd, "wb") as file:
            yield file
            file.flush()
            os.fsync(fd)
    except BaseException as error:
        os.unlink(path)  # noqa: PTH108  # beside os.open
        if isinstance(error, OSError):
            raise ImageUnwritten(error.strerror or "the disk is broken") from error
        raise


@contextlib.contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD:
        yield sys.stdin.buffer
        return
    try:
        file = open(path, "rb")  # noqa: PTH123, SIM115  # as it was given
    except OSError as error:
        raise MalformedArgument(printable(path), "a file that can be read") from error
    with file:
        yield file
