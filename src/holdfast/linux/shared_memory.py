"""Memory that outlives the process that uses it: a descriptor others may keep."""

import mmap
import os


def create(name: str, size: int) -> int:
    """Make `size` bytes of memory, all zero, and return its descriptor."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    return fd


def holding(data: bytes) -> int:
    """Make memory that holds these bytes, and return its descriptor."""
    fd = create("bytes", len(data))
    os.pwrite(fd, data, 0)
    return fd


def view(fd: int) -> memoryview:
    """Return the memory behind a descriptor, to read and write in place."""
    return memoryview(mmap.mmap(fd, os.fstat(fd).st_size))
