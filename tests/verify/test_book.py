import hashlib
import json

import pytest

from holdfast.verify.book import chain

SESSION = "s_aaaaaaaaaaaaaaaa"


def book(count: int = 4) -> list[bytes]:
    """Return the lines of an export, whole and true."""
    genesis = hashlib.sha256(f"holdfast logbook 1\n{SESSION}".encode()).hexdigest()
    lines, before = [], genesis
    for index in range(count):
        lines.append(json.dumps({"index": index, "prev": before}).encode())
        before = hashlib.sha256(lines[-1]).hexdigest()
    header = json.dumps({"export": 1, "session": SESSION, "count": count}).encode()
    head = json.dumps({"head": count - 1, "hash": before}).encode()
    return [header, *lines, head]


def text(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_a_whole_book_is_right() -> None:
    assert chain(text(book())) == (4, "")


def test_a_changed_entry_breaks_the_chain_after_it() -> None:
    lines = book()
    lines[2] = lines[2].replace(b"}", b', "x": 1}')

    assert chain(text(lines)) == (4, "entry 2 does not follow the one before it")


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_missing_entry_is_missed(place: int) -> None:
    lines = book()
    del lines[place]

    assert chain(text(lines)) == (3, f"entry {place - 1} is missing")


def test_a_book_that_lost_its_end_is_not_whole() -> None:
    lines = book()
    del lines[4]

    assert chain(text(lines))[1] == "its end is missing"


def test_a_head_of_another_book_is_noticed() -> None:
    lines = book()
    lines[-1] = lines[-1].replace(b'"hash": "', b'"hash": "0')

    assert chain(text(lines))[1] == "its head is of another book"


@pytest.mark.parametrize("junk", [b"", b"{}", b"no\njson\n"])
def test_what_is_no_book_is_none(junk: bytes) -> None:
    assert chain(junk)[1] == "it is not made of lines of JSON"
