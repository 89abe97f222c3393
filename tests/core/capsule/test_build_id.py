import struct

import pytest
from tests.core.capsule.elf_files import elf, note

from holdfast.core.capsule.build_id import MAX_ID, build_id

ID = bytes(range(20))


@pytest.mark.parametrize("bits", [1, 2])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_build_id_is_found_in_every_kind_of_file(bits: int, order: str) -> None:
    assert build_id(elf(note(ID, order=order), bits, order)) == ID.hex()


def test_other_notes_before_it_are_passed_over() -> None:
    before = note(b"x" * 5, b"stapsdt\0") + note(b"12345678", kind=5)

    assert build_id(elf(before + note(ID))) == ID.hex()


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"#!/bin/sh\n" * 20,
        b"\x7fELF",
        elf(note(ID))[:4] + b"\x07" + elf(note(ID))[5:],
        elf(note(ID))[:5] + b"\x07" + elf(note(ID))[6:],
        elf(note(ID), kinds=(1, 2, 3)),
        elf(note(ID), kinds=()),
        elf(note(ID))[:100],
        elf(note(ID))[:-1],
        elf(note(ID, b"BSD\0")),
        elf(note(bytes(MAX_ID + 1))),
        elf(struct.pack("<3I", 4, 2**32 - 1, 3) + b"GNU\0"),
        elf(struct.pack("<3I", 2**32 - 1, 0, 3)),
        elf(b""),
    ],
)
def test_what_has_none_has_none(start: bytes) -> None:
    assert build_id(start) == ""


def test_a_file_with_countless_headers_is_not_read_to_its_end() -> None:
    many = elf(note(ID), kinds=(*(1,) * 64, 4))

    assert build_id(many) == ""
