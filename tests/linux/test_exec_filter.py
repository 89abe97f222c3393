import os
import platform
import struct
from pathlib import Path

import pytest

from holdfast.linux import exec_filter

_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
ALLOW, NOTIFY, REFUSE = 0x7FFF0000, 0x7FC00000, 0x00050000 | 38


def verdict(machine: str, dialect: int, number: int) -> int:
    """Run the filter as the kernel would."""
    raw = exec_filter.program(machine)
    code = [struct.unpack_from("=HBBI", raw, at) for at in range(0, len(raw), 8)]
    at = loaded = 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == _LOAD:
            loaded = {0: number, 4: dialect}[value]
        elif operation == _IF_EQUAL:
            at += yes if loaded == value else no
        else:
            assert operation == _RETURN
            return int(value)


@pytest.mark.parametrize(
    ("machine", "dialect", "number"),
    [
        ("x86_64", exec_filter.X86_64, 59),
        ("x86_64", exec_filter.X86_64, 322),
        ("x86_64", exec_filter.X86_64, 520 | exec_filter.X32),
        ("x86_64", exec_filter.X86_64, 545 | exec_filter.X32),
        ("x86_64", exec_filter.I386, 11),
        ("x86_64", exec_filter.I386, 358),
        ("aarch64", exec_filter.AARCH64, 221),
        ("aarch64", exec_filter.AARCH64, 281),
        ("aarch64", exec_filter.ARM, 11),
        ("aarch64", exec_filter.ARM, 387),
    ],
)
def test_every_way_to_execute_is_held(machine: str, dialect: int, number: int) -> None:
    assert verdict(machine, dialect, number) == NOTIFY
    assert (dialect, number) in exec_filter.CALLS


@pytest.mark.parametrize(
    ("machine", "dialect", "number"),
    [
        ("x86_64", exec_filter.X86_64, 0),
        ("x86_64", exec_filter.X86_64, 11),
        ("x86_64", exec_filter.I386, 59),
        ("aarch64", exec_filter.AARCH64, 59),
    ],
)
def test_every_other_call_is_let_through(
    machine: str, dialect: int, number: int
) -> None:
    assert verdict(machine, dialect, number) == ALLOW


def test_a_dialect_that_is_not_known_is_refused() -> None:
    assert verdict("x86_64", exec_filter.AARCH64, 59) == REFUSE


def test_a_processor_that_is_not_known_is_told_so() -> None:
    with pytest.raises(KeyError):
        exec_filter.program("vax")


def test_whoever_is_root_need_not_give_anything_up() -> None:
    if os.getuid() != 0:
        pytest.skip("this is not root")

    status = Path("/proc/self/status").read_text().split()

    has_it = bool(int(status[status.index("CapEff:") + 1], 16) >> 21 & 1)
    assert exec_filter.is_privileged() is has_it


def test_this_processor_has_a_filter() -> None:
    assert len(exec_filter.program(platform.machine())) % 8 == 0
