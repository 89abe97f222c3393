"""Does something in a mount namespace in which overlays lie over trees."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.core.capsule.mount_table import read_mounts
from holdfast.linux.capsule import namespaces, overlays
from holdfast.linux.clone import fork_with
from holdfast.linux.stored import folders, layer_store, own_user
from holdfast.linux.stored.layer_store import Stack, layered
from holdfast.model.ids import SessionId, session_id

FAILED, FORBIDDEN = 1, 77
SESSION = session_id(bytes(range(10)))


def begin(tree: Path) -> Stack:
    """Begin the layers of a session over one tree."""
    stack = layer_store.make(SESSION, (str(tree),))
    time.sleep(0.01)  # The clock of files ticks every few milliseconds.
    return stack


def copied(parent: SessionId, child: SessionId) -> Stack:
    """Begin the layers of a session with those of another, as a branch has them."""
    theirs = layer_store.load(parent)
    stack = Stack(child, theirs.trees, (*theirs.layers, str(len(theirs.layers) + 1)))
    folder = folders.owned(layer_store.folder_of(child))
    for layer in theirs.layers:
        source = f"{layer_store.folder_of(parent)}/{layer}"
        own_user.run(("cp", "-a", "--", source, f"{folder}/{layer}"))
    layer_store.add_layer(stack, stack.layers[-1])
    layer_store.write(stack)
    return stack


def _nothing() -> None:
    pass


def do(
    stack: Stack,
    work: Callable[[], None],
    before: Callable[[], None] = _nothing,
    served: tuple[str, ...] = (),
) -> None:
    """Do some work under the layers of a session, as a program in it would.

    `before` is done in the same mounts, before the layers are laid.
    """
    uid, gid = os.geteuid(), os.getegid()
    flags = namespaces.NEW_MOUNTS | (namespaces.NEW_USERS if uid else 0)
    pid = fork_with(flags)
    if pid == 0:
        status = FAILED
        try:
            if uid:
                own_user.map_user(uid, gid)
            _lay(stack, before, served)
            work()
            status = 0
        except PermissionError as error:
            os.write(2, f"{error}\n".encode())
            status = FORBIDDEN
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            raise
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == FORBIDDEN:
        pytest.skip("the kernel lets us mount nothing")
    assert status == 0


def _lay(stack: Stack, before: Callable[[], None], served: tuple[str, ...]) -> None:
    flags = namespaces.RECURSIVE | namespaces.PRIVATE
    namespaces.mount(None, "/", None, flags)
    before()
    mounts = read_mounts(Path("/proc/self/mountinfo").read_text("utf-8"))
    overlays.lay(layered(stack), mounts, served, is_root=os.geteuid() == 0)
