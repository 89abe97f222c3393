import ctypes
import mmap
import os
import struct
from collections.abc import Iterator

import pytest

from holdfast.linux.exec_arguments import Arguments, read_arguments

WIDE = 8


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class Memory:
    """Two pages of our own, and behind them nothing."""

    def __init__(self) -> None:
        rights = mmap.PROT_READ | mmap.PROT_WRITE
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self.base: int = _libc.mmap(None, 3 * mmap.PAGESIZE, rights, kind, -1, 0)
        assert _libc.munmap(self.base + 2 * mmap.PAGESIZE, mmap.PAGESIZE) == 0

    def close(self) -> None:
        _libc.munmap(self.base, 2 * mmap.PAGESIZE)

    def put(self, at: int, raw: bytes) -> int:
        ctypes.memmove(self.base + at, raw, len(raw))
        return self.base + at

    def put_words(self, at: int, *addresses: int) -> int:
        return self.put(at, struct.pack(f"={len(addresses) + 1}Q", *addresses, 0))


@pytest.fixture
def memory() -> Iterator[Memory]:
    made = Memory()
    yield made
    made.close()


def read(path: int, words: int, width: int = WIDE) -> Arguments | None:
    return read_arguments(os.getpid(), path, words, width)


def test_a_path_and_short_words_are_read(memory: Memory) -> None:
    path = memory.put(0, b"/bin/ls\0")
    words = memory.put_words(
        512, memory.put(64, b"ls\0"), memory.put(80, b"\0"), memory.put(96, b"\xff\0")
    )

    assert read(path, words) == Arguments("/bin/ls", ("ls", "", None))


def test_words_at_the_end_of_what_is_there_are_read(memory: Memory) -> None:
    last = 2 * mmap.PAGESIZE
    word = memory.put(last - 4, b"end\0")
    words = memory.put_words(last - 4 - 2 * WIDE, word)
    path = memory.put(0, b"/bin/ls\0")

    assert read(path, words) == Arguments("/bin/ls", ("end",))


def test_a_word_on_two_pages_and_a_long_one_are_read_whole(memory: Memory) -> None:
    across = memory.put(mmap.PAGESIZE - 3, b"across\0")
    long = memory.put(mmap.PAGESIZE + 64, b"x" * 2000 + b"\0")
    words = memory.put_words(2048, across, long)
    path = memory.put(0, b"/" * 1500 + b"\0")

    assert read(path, words) == Arguments("/" * 1500, ("across", "x" * 2000))


def test_many_words_are_read(memory: Memory) -> None:
    word = memory.put(64, b"w\0")
    words = memory.put_words(512, *[word] * 100)

    assert read(memory.put(0, b"/x\0"), words) == Arguments("/x", ("w",) * 100)


def test_pointers_of_four_bytes_are_not_taken_for_others(memory: Memory) -> None:
    words = memory.put(512, struct.pack("=II", 1, 0))

    assert read(memory.put(0, b"/x\0"), words, 4) == Arguments("/x", (None,))


def test_what_is_not_there_is_not_known(memory: Memory) -> None:
    nowhere = memory.base + 2 * mmap.PAGESIZE
    path = memory.put(0, b"/x\0")
    words = memory.put_words(512, memory.put(64, b"w\0"), nowhere, 2**64 - 8)

    assert read(nowhere, words) == Arguments(None, ("w", None, None))
    assert read(path, nowhere) == Arguments("/x", (None,))
    assert read(path, 0) == Arguments("/x", ())
    assert read(0, words) == Arguments(None, ("w", None, None))


def test_a_list_of_words_at_an_odd_address_is_read(memory: Memory) -> None:
    end = mmap.PAGESIZE
    words = memory.put_words(end - 12, memory.put(64, b"w\0"))

    assert read(memory.put(0, b"/x\0"), words) == Arguments("/x", ("w",))


def test_nothing_can_be_read_of_a_process_that_is_gone() -> None:
    assert read_arguments(2**22 + 1, 4096, 8192, WIDE) is None
