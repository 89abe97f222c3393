"""Removes the exec gate's filter from CRIU's image files."""

import os
import platform
from pathlib import Path

from holdfast.core.capsule.gate_in_image import (
    MAX_IMAGE,
    gate_filters,
    without_gate,
)
from holdfast.linux import exec_filter
from holdfast.model.errors import CriuFailed

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def take_gate_out(images: Path) -> None:
    """Have no process of an image under the gate's filter; it is not sealed yet.

    Raises:
        UsageError: A process has a filter of its own.
        Unavailable: It is not as CRIU writes it.
        OSError: The disk is full, or broken.

    """
    program = exec_filter.program(platform.machine())
    try:
        gates = gate_filters(_read(images / "seccomp.img"), program)
    except FileNotFoundError:
        raise CriuFailed("the exec gate is not in the image") from None
    for path in sorted(images.glob("core-*.img")):
        path.write_bytes(without_gate(_read(path), gates))


def _read(path: Path) -> bytes:
    fd = os.open(path, _READ)
    with os.fdopen(fd, "rb") as file:
        return file.read(MAX_IMAGE + 1)
