"""ELF files as small as they can be, with the notes that a test wants."""

import struct

HEADERS = {1: ("I", 28, 42, "IIIII12x"), 2: ("Q", 32, 54, "I4xQQQQ16x")}


def note(
    value: bytes, name: bytes = b"GNU\0", kind: int = 3, order: str = "<"
) -> bytes:
    padded = value + bytes(-len(value) % 4)
    return struct.pack(f"{order}3I", len(name), len(value), kind) + name + padded


def elf(
    notes: bytes, bits: int = 2, order: str = "<", kinds: tuple[int, ...] = (1, 4)
) -> bytes:
    """Return a file whose last program header leads to `notes`, which stand behind."""
    address, table, sizes, segment = HEADERS[bits]
    form = struct.Struct(order + segment)
    start = bytearray(64)
    start[:6] = b"\x7fELF" + bytes((bits, 1 if order == "<" else 2))
    struct.pack_into(order + address, start, table, 64)
    struct.pack_into(f"{order}2H", start, sizes, form.size, len(kinds))
    end = 64 + form.size * len(kinds)
    for kind in kinds:
        start += form.pack(kind, end, 0, 0, len(notes))
    return bytes(start) + notes
