"""Operations of io_uring pass no filter of calls, so none of them may execute."""

import ctypes
import os

import pytest

SETUP, REGISTER = 425, 427
PROBE = 8
LAST_SEEN = 62
"""IORING_OP_PIPE, the last operation of Linux 6.18; none up to it executes a program
(include/uapi/linux/io_uring.h). Look at new ones before you raise it."""


def test_no_operation_is_new_to_us() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    ring = libc.syscall(SETUP, 1, ctypes.create_string_buffer(120))
    if ring < 0:
        pytest.skip(f"no io_uring here: {os.strerror(ctypes.get_errno())}")
    answer = ctypes.create_string_buffer(16 + 8 * 256)

    assert libc.syscall(REGISTER, ring, PROBE, answer, 256) == 0

    os.close(ring)
    assert answer.raw[0] <= LAST_SEEN
