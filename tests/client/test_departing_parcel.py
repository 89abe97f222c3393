"""What a session takes along: its files as one stream, from any byte on."""

from pathlib import Path

import pytest

from holdfast.client.departing_parcel import CHUNK, DepartingParcel
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import ImageDamaged
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import SendParcel

IMAGE = ImageName(SessionId("s_" + "a" * 16), 3)
CONTENTS = (b"first", b"", bytes(CHUNK) + b"end")


def parcel(folder: Path) -> DepartingParcel:
    files = []
    for number, content in enumerate(CONTENTS):
        path = folder / str(number)
        path.write_bytes(content)
        files.append((str(path), len(content)))
    return DepartingParcel(IMAGE, b"papers", b"manifest", tuple(files))


def test_it_is_announced_with_its_sizes(tmp_path: Path) -> None:
    made = parcel(tmp_path)

    assert made.request == SendParcel(IMAGE.session, 3, 6, 8)
    assert made.size == len(b"".join(CONTENTS))


@pytest.mark.parametrize("begin", [0, 1, 5, 6, CHUNK + 5, CHUNK + 8])
def test_it_goes_on_from_any_byte(begin: int, tmp_path: Path) -> None:
    pieces = [*parcel(tmp_path).pieces(begin)]

    assert b"".join(pieces) == b"".join(CONTENTS)[begin:]
    assert all(0 < len(one) <= CHUNK for one in pieces)


def test_a_file_that_shrinks_on_the_way_is_no_part_of_it(tmp_path: Path) -> None:
    made = parcel(tmp_path)
    (tmp_path / "2").write_bytes(b"cut")

    with pytest.raises(ImageDamaged, match="changes while it is read"):
        list(made.pieces(0))
