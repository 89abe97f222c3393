"""The layers of a session as one file in an image.

An image needs the files as they were when the memory was dumped, and a session that
goes on changes them. One file, because names of files in a layer may be anything, and
those in an image may not; it is hashed and signed for like the rest. It is an archive
of GNU tar, which knows all that a layer has: whiteouts, attributes, owners, times,
links and holes.
"""

import os

from holdfast.linux.stored import folders, layer_store, own_user
from holdfast.linux.stored.layer_store import Stack
from holdfast.model.errors import ImageDamaged, ImageUnwritten
from holdfast.model.ids import SessionId

FILES = "layers.tar"
"""What the archive is called in an image."""

_ALL = ("--xattrs", "--xattrs-include=*", "--acls", "--numeric-owner", "--sparse")


def pack(session: SessionId, path: str) -> None:
    """Write the layers of a session, all of which must stand still, into a file.

    Raises:
        Unavailable: The disk is full, or broken, or there is no GNU tar.

    """
    stack = layer_store.load(session)
    folder = layer_store.folder_of(session)
    # Made here: a program with other rights would give it another owner.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    command = ("tar", "-c", *_ALL, "-f", path, "-C", folder, "--", *stack.layers)
    try:
        own_user.run(command)
    except OSError as error:
        raise ImageUnwritten(error.strerror or str(error)) from error


def unpack(
    session: SessionId,
    trees: tuple[str, ...],
    layers: tuple[str, ...],
    path: str,
    *,
    is_branch: bool = False,
) -> Stack:
    """Return files for a session made from such a file, which was verified.

    They are the session's only once `layer_store.write` has said so. A branch has one
    more layer, in which nothing was changed: so what it changes can be told apart.

    Raises:
        Unavailable: The disk is full, or broken.
        PeerError: It is not what it says it is.

    """
    folder = folders.owned(layer_store.folder_of(session))
    found = [int(one) for one in os.listdir(folder) if one.isdigit()]  # noqa: PTH208  # a string here
    first = max(found, default=0) + 1
    count = len(layers) + is_branch
    names = tuple(str(first + one) for one in range(count))
    stack = Stack(session, trees, names)
    draft = f"{folder}/unpacked"
    try:
        layer_store.clear(draft)
        os.mkdir(draft, 0o700)  # noqa: PTH102  # a string here
        own_user.run(("tar", "-x", "-p", *_ALL[:-1], "-f", path, "-C", draft))
        _demand_whole(draft, layers, len(trees))
        for layer, name in zip(layers, names, strict=False):
            os.rename(f"{draft}/{layer}", f"{folder}/{name}")  # noqa: PTH104  # ditto
        layer_store.clear(draft)
        if is_branch:
            layer_store.add_layer(stack, names[-1])
        layer_store.add_work(stack)
    except OSError as error:
        raise ImageUnwritten(error.strerror or str(error)) from error
    return stack


def _demand_whole(draft: str, layers: tuple[str, ...], trees: int) -> None:
    for layer in layers:
        for number in range(trees):
            if not os.path.isdir(f"{draft}/{layer}/{number}"):  # noqa: PTH112  # ditto
                raise ImageDamaged("its layers are not whole")
