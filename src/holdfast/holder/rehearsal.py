"""A session lived through once in the nursery, so that holders need not start cold.

Much of what Python does for the first time it writes down: specialised code,
caches of types, tables of libraries. Done in each holder, that is memory of its
own, a quarter of all it has; done before they are forked, they share it.

Nothing of the rehearsal is real: it has folders of its own, a keeper that only
nods, and a command that ends at once. Nothing depends on it either: whatever goes
wrong, it is broken off, and holders cost what they would have cost without it.
"""

import contextlib
import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

from holdfast.linux import folders, packets, start

AGAIN = 3
"""Times it is done: by then what is to be specialised has been used enough."""

LONGEST = 1.0
"""Seconds for all of it: ten times what it takes, and fewer than a holder looks
for its keeper before it starts one by itself."""

FOLDER = "r"
"""Short, because the path of a socket in it must not be too long for the kernel."""

_CHOSEN = ("HOLDFAST_RUNTIME_DIR", "HOLDFAST_STATE_DIR", "HOLDFAST_CONFIG_DIR")

Hold = Callable[[packets.Packet, list[int]], None]


class _Enough(BaseException):
    """It takes too long; not an error, and caught by nothing in between."""


def rehearse(hold: Hold, longest: float = LONGEST) -> None:
    """Have `hold` live through a session, and leave nothing of it behind."""
    before = _open_descriptors()
    # Whatever goes wrong: nothing depends on it.
    with contextlib.suppress(Exception, _Enough):
        folder = f"{folders.owned(folders.runtime_path())}/{FOLDER}"
        _remove(folder)  # Whoever was here before us may have been killed.
        try:
            with _deadline(longest), _elsewhere(folder):
                for _ in range(AGAIN):
                    _once(hold)
        finally:
            _remove(folder)
    gc.collect()
    for fd in _open_descriptors() - before:
        with contextlib.suppress(OSError):
            os.close(fd)


def _once(hold: Hold) -> None:
    # Who has the claim starts a keeper when one is missing; nobody must, here.
    claim = start.claim_start()
    keeper = packets.listen(folders.keeper_address())
    nodding = os.fork()
    if nodding == 0:
        _nod(keeper)  # Never returns.
    keeper.close()
    try:
        hold(
            {
                "do": "create",
                "token": "rehearsal",
                "command": ["/bin/sh", "-c", ":"],
                "env": {"PATH": os.defpath},
                "size": [80, 24],
            },
            [],
        )
    finally:
        os.kill(nodding, signal.SIGKILL)
        os.waitpid(nodding, 0)
        if claim is not None:
            os.close(claim)


def _nod(keeper: socket.socket) -> None:
    """Take one deposit, as a keeper does, and have it forgotten at its end."""
    try:
        keeper.settimeout(LONGEST)
        link, _ = keeper.accept()
        link.settimeout(LONGEST)
        while (heard := packets.receive(link)) is not None:
            if heard[0].get("state") == "exited":
                packets.send(link, {"do": "forget"})
            elif heard[0].get("do") == "deposit":
                packets.send(link, {"ok": True})
    finally:
        os._exit(0)


@contextlib.contextmanager
def _deadline(longest: float) -> Iterator[None]:
    def enough(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise _Enough

    former = signal.signal(signal.SIGALRM, enough)
    signal.setitimer(signal.ITIMER_REAL, longest)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


@contextlib.contextmanager
def _elsewhere(folder: str) -> Iterator[None]:
    """Have every place of ours lie in `folder`."""
    former = {name: os.environ.get(name) for name in _CHOSEN}
    os.environ.update(dict.fromkeys(_CHOSEN, folder))
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _open_descriptors() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/fd")}  # noqa: PTH208


def _remove(folder: str) -> None:
    for where, folders_, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(f"{where}/{name}")  # noqa: PTH108  # beside os.walk
        for name in folders_:
            os.rmdir(f"{where}/{name}")  # noqa: PTH106  # ditto
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(folder)  # noqa: PTH106  # ditto
