"""Programs that change what they execute after it was asked about.

Run as `python racing.py WAY TRIES`: each try executes ./tell in a child, which is
`touch` under another name, with a word in memory that is being changed all the while
from a harmless one to one that the policy denies. A file tells who has won.
"""

import ctypes
import mmap
import os
import sys
import threading
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
libc.process_vm_writev.argtypes = [
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_ulong,
]

GOOD, BAD = b"good\0", b"evil\0"
PROGRAM = b"./tell\0"


class Memory:
    """A page that can be shared with others, with one word that changes."""

    def __init__(self) -> None:
        self.page = mmap.mmap(-1, mmap.PAGESIZE)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        self.page[0:7] = PROGRAM
        self.page[16:21] = GOOD
        pointers = (ctypes.c_uint64 * 3)(self.at, self.at + 16, 0)
        self.page[64 : 64 + 24] = bytes(pointers)

    def execute(self) -> None:
        empty = (ctypes.c_uint64 * 1)(0)
        path, argv = ctypes.c_void_p(self.at), ctypes.c_void_p(self.at + 64)
        libc.execve(path, argv, empty)
        os._exit(9)

    def swap(self) -> None:
        self.page[16:21] = BAD
        self.page[16:21] = GOOD


def by_thread() -> None:
    memory = Memory()

    def change() -> None:
        while True:
            memory.swap()

    threading.Thread(target=change, daemon=True).start()
    memory.execute()


def by_shared_memory() -> None:
    memory = Memory()
    writer = os.fork()
    if writer == 0:
        parent = os.getppid()
        while os.getppid() == parent:
            memory.swap()
        os._exit(0)
    memory.execute()


def by_another_process() -> None:
    """Write into the memory of a child from outside, as a tracer could."""
    memory = Memory()
    private = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    private[:] = memory.page[:]
    memory.page = private
    memory.at = ctypes.addressof(ctypes.c_char.from_buffer(private))
    private[64:88] = bytes((ctypes.c_uint64 * 3)(memory.at, memory.at + 16, 0))
    child = os.fork()
    if child == 0:
        memory.execute()
    texts = [ctypes.create_string_buffer(one, 5) for one in (BAD, GOOD)]
    vectors = [(ctypes.c_uint64 * 2)(ctypes.addressof(one), 5) for one in texts]
    remote = (ctypes.c_uint64 * 2)(memory.at + 16, 5)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        for vector in vectors:
            libc.process_vm_writev(child, vector, 1, remote, 1, 0)
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), 9)
    os._exit(os.waitstatus_to_exitcode(status))


def by_file() -> None:
    """Put another file in the place of the one that was looked at."""
    memory = Memory()
    writer = os.fork()
    if writer == 0:
        parent = os.getppid()
        while os.getppid() == parent:
            for program in ("/bin/rm", "/bin/true"):
                os.symlink(program, "next")  # noqa: PTH211  # fast
                os.rename("next", "tell")  # noqa: PTH104
        os._exit(0)
    memory.execute()


WAYS = {
    "thread": by_thread,
    "shared": by_shared_memory,
    "other": by_another_process,
    "file": by_file,
}


def has_won(way: str) -> bool:
    """Tell whether something was executed that was denied, and begin anew."""
    if way == "file":
        is_there = Path("good").exists()
        Path("good").touch()
        return not is_there
    try:
        Path("evil").unlink()
    except FileNotFoundError:
        return False
    return True


def main() -> None:
    name, tries = sys.argv[1], int(sys.argv[2])
    has_won(name)
    won = ran = caught = 0
    for _ in range(tries):
        child = os.fork()
        if child == 0:
            WAYS[name]()
        _, status = os.waitpid(child, 0)
        won += has_won(name)
        ran += status == 0
        caught += os.WIFSIGNALED(status)
    sys.stdout.write(f"won {won}, ran {ran}, caught {caught}, of {tries};\n")


if __name__ == "__main__":
    main()
