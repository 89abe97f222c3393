"""The previewer: previews a line in a branch for the gate, in a separate process.

The nursery forks it, at the end of a link, and our own command does it (`holdfast run
--preview`): a branch is made, and used and watched like any other client does.

    the holder says    which session, and which line
    we say             what was found, in shared memory
    the link ends      nobody waits any more: the command is told to end, and discards
                       its branch
"""

import os
import selectors
import signal
import socket
import subprocess
import time

from holdfast.linux import packets, shared_memory
from holdfast.linux.previewer_program import previewer_environment, previewer_program

RUNTIME = 60
"""Seconds for the line, once the branch is there."""

PATIENCE = 110.0
"""Seconds for all of it, a little less than the gate waits."""

MAX_SAID = 2 * 1024 * 1024
"""Bytes that the command may print: reports are bounded to less."""

ENDING = 15.0
"""Seconds for the command to discard its branch when it is told to end."""


def serve(link: socket.socket, packet: packets.Packet) -> None:
    """Do what the holder at the other end of this link wants, and tell it."""
    program = previewer_program(str(packet["id"]), str(packet["line"]), RUNTIME)
    with subprocess.Popen(  # noqa: S603  # our own program
        program,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=previewer_environment(),
        cwd="/",
        start_new_session=True,
    ) as started:
        said = _listened(link, started)
        if said is None:
            _end(started)
        else:
            memory = shared_memory.holding(said)
            packets.send(link, {"say": "previewed", "size": len(said)}, [memory])


def _listened(link: socket.socket, started: "subprocess.Popen[bytes]") -> bytes | None:
    """Return what the command prints; None if nobody waits for it any more."""
    assert started.stdout is not None  # noqa: S101  # it was asked for
    said = b""
    deadline = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        selector.register(link, selectors.EVENT_READ)
        selector.register(started.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and len(said) < MAX_SAID:
            for key, _ in selector.select(left):
                if key.fileobj is link:
                    return None
                piece = os.read(started.stdout.fileno(), 65536)
                if not piece:
                    return said
                said += piece
    return None


def _end(started: "subprocess.Popen[bytes]") -> None:
    """Have the command discard its branch and end, or else end it."""
    started.send_signal(signal.SIGINT)
    try:
        started.wait(ENDING)
    except subprocess.TimeoutExpired:
        started.kill()
