"""The parts of an image, and what is checked before it is restored."""

import os
from pathlib import Path

from msgspec.structs import replace

from holdfast.core.book.inheritance import Restored
from holdfast.core.capsule.manifest import check_mapped
from holdfast.core.capsule.own_trees import tree_of
from holdfast.crypto.keys import SigningKey
from holdfast.linux.image_facts import mapped_files
from holdfast.linux.stored import image_store
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ClaimedImage, ImageName
from holdfast.model.errors import ImageDamaged
from holdfast.wire.image_manifest import Manifest

CRIU_FILES = "criu"
"""The part that is CRIU's."""

WINDOW, START, TYPED = "window.bin", "start.bin", "typeahead.bin"
"""What was printed last, what the session was started with, what was typed ahead."""


def claimed(name: ImageName) -> ClaimedImage:
    """Have an image of this host for us alone.

    Raises:
        UsageError: There is none.
        Unavailable: Another process uses it.
        PeerError: Its manifest is not to be believed.

    """
    host = SigningKey.from_seed(host_seed()).public
    return image_store.claim(name, host, alone=True)


def restored_from(manifest: Manifest) -> Restored:
    """Return what the logbook says of the image that a life goes on from."""
    shell = manifest.shell
    return Restored(manifest.number, manifest.log_index, shell.command, shell.hands)


def check_programs(manifest: Manifest) -> None:
    """Check programs and libraries; CRIU does for those in layers of the session.

    Raises:
        UsageError: One is gone, or is another.

    """
    trees = manifest.capsule.trees
    mapped = tuple(one for one in manifest.mapped if not tree_of(one.path, trees))
    found = mapped_files([one.path for one in mapped])
    check_mapped(replace(manifest, mapped=mapped), found)


def part_of(image: ClaimedImage, name: str) -> bytes:
    """Return a small file of an image.

    Raises:
        PeerError: It cannot be read.

    """
    try:
        return Path(image.folder, name).read_bytes()
    except OSError as error:
        raise ImageDamaged(error.strerror or os.strerror(0)) from error
