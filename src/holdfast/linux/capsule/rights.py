"""Drops the rights that a process in a capsule must not have, root or not.

In the capsule of an ordinary user nothing has a capability: it would hold only in the
capsule's own user namespace, and let it take the covers away. In a capsule of root the
processes are the machine's root. They keep what changes files and owners, and lose for
good what reaches round the walls: mounting, raw devices and memory, modules, files by
handle, other users' processes by trace, clocks, limits and the network's settings.
"""

import ctypes
import struct

from holdfast.linux.libc import checked, libc

_DROP_BOUND = 24
_AMBIENT, _RAISE, _CLEAR_ALL = 47, 2, 4
_WORD = 32
_HEADER = struct.pack("=Ii", 0x2008_0522, 0)
_SETS = struct.Struct("=6I")

KEPT_BY_ROOT = frozenset(
    {
        0,  # CHOWN
        1,  # DAC_OVERRIDE
        3,  # FOWNER
        4,  # FSETID
        5,  # KILL
        6,  # SETGID
        7,  # SETUID
        8,  # SETPCAP
        10,  # NET_BIND_SERVICE
        14,  # IPC_LOCK
        15,  # IPC_OWNER
        18,  # SYS_CHROOT
        23,  # SYS_NICE
        28,  # LEASE
        29,  # AUDIT_WRITE
        31,  # SETFCAP
    }
)
"""Capabilities of a capsule's root, by the kernel's numbers."""

KEPT_IN_OWN_NET = frozenset({13})
"""NET_RAW, with which all that passes on the network can be read, and on the machine's
own that is what agents say to holdfast, tokens included."""

GUARD = frozenset({35})
"""What pid 1 of a capsule has and nothing else in it: WAKE_ALARM, which does no harm.
A process with a capability that we lack cannot be traced, so nothing inside can make
pid 1 miss the end of its lifeline."""


def give_up(kept: frozenset[int]) -> None:
    """Give up every capability but these, for us and for all that we execute.

    Raises:
        OSError: The kernel refuses.

    """
    for number in range(_last() + 1):
        if number not in kept:
            checked(libc.prctl(_DROP_BOUND, number, 0, 0, 0))
    checked(libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0))
    header = ctypes.create_string_buffer(_HEADER, len(_HEADER))
    room = ctypes.create_string_buffer(_SETS.size)
    checked(libc.capget(header, room))
    _, low, _, _, high, _ = _SETS.unpack(room.raw)
    low, high = low & _half(kept, 0), high & _half(kept, 1)
    passed = kept & GUARD
    packed = _SETS.pack(
        low, low, low & _half(passed, 0), high, high, high & _half(passed, 1)
    )
    checked(libc.capset(header, ctypes.create_string_buffer(packed, len(packed))))
    for number in passed:
        # An ordinary user's program gets no other by executing.
        checked(libc.prctl(_AMBIENT, _RAISE, number, 0, 0))


def pass_on(dropped: frozenset[int]) -> None:
    """Give every capability that we have, but these, to what we execute.

    Raises:
        OSError: The kernel refuses.

    """
    header = ctypes.create_string_buffer(_HEADER, len(_HEADER))
    room = ctypes.create_string_buffer(_SETS.size)
    checked(libc.capget(header, room))
    _, low, _, _, high, _ = _SETS.unpack(room.raw)
    low, high = low & ~_half(dropped, 0), high & ~_half(dropped, 1)
    packed = _SETS.pack(low, low, low, high, high, high)
    checked(libc.capset(header, ctypes.create_string_buffer(packed, len(packed))))
    for number in range(_last() + 1):
        if (low, high)[number // _WORD] >> number % _WORD & 1:
            checked(libc.prctl(_AMBIENT, _RAISE, number, 0, 0))


def _half(numbers: frozenset[int], half: int) -> int:
    """Return one of the two words in which the kernel has a set of capabilities."""
    return sum(1 << one % _WORD for one in numbers if one // _WORD == half)


def _last() -> int:
    """Return the highest capability that the kernel knows."""
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:  # noqa: PTH123  # no Path is needed
        return int(file.read())
