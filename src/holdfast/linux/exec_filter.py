"""Makes every exec of a process and its descendants ask first.

By a seccomp filter: execve and execveat are held in the kernel until the owner of the
filter's *listener* answers; every other call is let through. A filter cannot be
removed, and children inherit it, whatever they execute.

A kernel offers its programs several ABIs. All those of this kernel are covered; a call
by an ABI that is not in the table is refused, since its numbers mean something else.

A process that is not root has to give up, for good, the extra rights of set-user-id
programs (no_new_privs): `sudo` does not work under such a filter.
"""

import ctypes
import errno
import platform
import struct

from holdfast.linux import procfs
from holdfast.linux.libc import checked, libc

_SECCOMP = {"x86_64": 317, "aarch64": 277}
"""The number of the call seccomp, by processor."""

X86_64, I386 = 0xC000003E, 0x40000003
AARCH64, ARM = 0xC00000B7, 0x40000028
"""How the kernel names the dialects (AUDIT_ARCH_…)."""

X32 = 0x4000_0000
"""Set in the numbers of a third dialect that shares its name with the first."""

_DIALECTS: dict[str, dict[int, dict[int, str]]] = {
    "x86_64": {
        X86_64: {
            59: "execve",
            322: "execveat",
            520 | X32: "execve",
            545 | X32: "execveat",
            # Until Linux 5.4 the plain numbers worked there as well.
            59 | X32: "execve",
            322 | X32: "execveat",
        },
        I386: {11: "execve", 358: "execveat"},
    },
    "aarch64": {
        AARCH64: {221: "execve", 281: "execveat"},
        ARM: {11: "execve", 387: "execveat"},
    },
}

CALLS = {
    (dialect, number): name
    for dialects in _DIALECTS.values()
    for dialect, numbers in dialects.items()
    for number, name in numbers.items()
}
"""Which call a dialect and a number mean."""

_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _DIALECT = 0, 4
"""Where in struct seccomp_data they stand."""

_ALLOW, _NOTIFY, _REFUSE = 0x7FFF_0000, 0x7FC0_0000, 0x0005_0000 | errno.ENOSYS

_SET_FILTER, _NEW_LISTENER = 1, 8
_PR_SET_NO_NEW_PRIVS = 38
_CAP_SYS_ADMIN = 21

_INSTRUCTION = struct.Struct("=HBBI")
_PROGRAM = struct.Struct("@HP")


def program(machine: str) -> bytes:
    """Return the filter for a processor, as the kernel reads it.

    Raises:
        KeyError: We do not know its numbers.

    """
    code = [_INSTRUCTION.pack(_LOAD, 0, 0, _DIALECT)]
    for dialect, numbers in _DIALECTS[machine].items():
        block = [_INSTRUCTION.pack(_LOAD, 0, 0, _NUMBER)]
        for number in numbers:
            block.append(_INSTRUCTION.pack(_IF_EQUAL, 0, 1, number))
            block.append(_INSTRUCTION.pack(_RETURN, 0, 0, _NOTIFY))
        block.append(_INSTRUCTION.pack(_RETURN, 0, 0, _ALLOW))
        code.append(_INSTRUCTION.pack(_IF_EQUAL, 0, len(block), dialect))
        code += block
    code.append(_INSTRUCTION.pack(_RETURN, 0, 0, _REFUSE))
    return b"".join(code)


def install() -> int:
    """Put the filter on this process; return its listener, which exec closes.

    A process with the listener can answer, so it must not stay with us.

    Raises:
        OSError: The kernel, or what guards it, does not let us.

    """
    machine = platform.machine()
    if machine not in _SECCOMP:
        raise OSError(errno.ENOSYS, f"no exec gate for {machine} processors")
    if not is_privileged():
        checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    code = program(machine)
    kept = ctypes.create_string_buffer(code, len(code))
    packed = _PROGRAM.pack(len(code) // _INSTRUCTION.size, ctypes.addressof(kept))
    argument = ctypes.create_string_buffer(packed, len(packed))
    number = ctypes.c_long(_SECCOMP[machine])
    return checked(libc.syscall(number, _SET_FILTER, _NEW_LISTENER, argument))


def is_privileged() -> bool:
    """Tell whether a filter costs us nothing: we need not give up set-user-id."""
    rights = int(procfs.status("self", "CapEff") or "0", 16)
    return bool(rights >> _CAP_SYS_ADMIN & 1)
