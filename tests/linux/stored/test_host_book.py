import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.core.book.logbook import EntryKind, verify
from holdfast.linux.stored import host_book, operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import LogbookFailed, LogTampered, OperatorTaken

WRITER = """
import sys
from holdfast.core.book.logbook import EntryKind
from holdfast.linux.stored import host_book
for number in range(int(sys.argv[1])):
    host_book.record(EntryKind.LAPSED, {"invite": f"{sys.argv[2]}-{number}"})
"""


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    return Path(host_book.book_path())


def add(name: str = "x") -> None:
    host_book.record(EntryKind.LAPSED, {"invite": name})


def whole(book: Path) -> int:
    """Return how many entries verified, up to a head that is vouched for."""
    with host_book.writing() as writing:
        session = writing.id
    signed = host_book.signed_head(host_book.head_path())
    assert signed is not None
    assert signed.is_genuine()
    found = verify(
        book.read_bytes().splitlines(),
        session,
        [signed.receipt],
        lambda _, __: True,
    )
    assert found.head.index == signed.receipt.head.index
    return found.count


def test_four_processes_at_once_keep_the_chain(book: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, "25", str(number)])
        for number in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0] * 4

    assert whole(book) == 101


def test_a_book_begins_with_opened(book: Path) -> None:
    add()

    assert b'"kind":"opened"' in book.read_bytes().splitlines()[0]
    assert whole(book) == 2


@pytest.mark.parametrize("torn", [b'{"index":9', b"\0\0\0\n", b'{"index":1,"prev"\n'])
def test_what_a_crash_leaves_is_cut_off(book: Path, torn: bytes) -> None:
    add()
    with book.open("ab") as file:
        file.write(torn)

    add("next")

    assert whole(book) == 3
    assert torn.rstrip(b"\n") not in book.read_bytes().splitlines()


def test_a_writer_that_died_before_it_could_sign_is_gone_on_from(book: Path) -> None:
    add()
    head = Path(host_book.head_path())
    before = head.read_bytes()
    add("unsigned")
    head.write_bytes(before)

    add("next")

    assert whole(book) == 4


def cut(book: Path) -> None:
    book.write_bytes(b"".join(book.read_bytes().splitlines(keepends=True)[:-1]))


def forge(book: Path) -> None:
    last = book.read_bytes().splitlines()[-1]
    book.write_bytes(book.read_bytes() + last.replace(b"first", b"other") + b"\n")


def behead(_: Path) -> None:
    Path(host_book.head_path()).unlink()


def swap(_: Path) -> None:
    head = Path(host_book.head_path())
    head.write_bytes(head.read_bytes().replace(b"a", b"b"))


def rekey(book: Path) -> None:
    key = book.parents[1] / "host.key"
    key.write_bytes(b"k" * 32)


@pytest.mark.parametrize("how", [cut, forge, behead, swap, rekey, os.unlink])
def test_nothing_is_added_to_a_book_that_somebody_changed(
    book: Path, how: Callable[[Path], None]
) -> None:
    add("first")
    add("first")
    how(book)
    left = book.read_bytes() if book.exists() else b""

    with pytest.raises(LogTampered):
        add("next")
    assert book.read_bytes() == left

    aside = host_book.set_aside()
    assert aside is not None
    add("next")
    assert whole(book) == 2
    assert Path(aside).read_bytes() == left


def test_without_a_book_there_is_nothing_to_set_aside() -> None:
    assert host_book.set_aside() is None


def test_an_operator_is_not_made_known_if_that_cannot_be_recorded(book: Path) -> None:
    add()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = book.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
    try:
        with pytest.raises(LogbookFailed):
            operators.enrol("anna", ActorKind.HUMAN, b"k" * 32, None, b"t")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert operators.enrolled() == []
    assert [*(book.parents[1] / "operators").iterdir()] == []
    assert whole(book) == 2


def test_somebody_who_does_not_let_go_of_the_lock_is_not_waited_for_long() -> None:
    with host_book.writing():
        assert host_book.is_being_written()
        again = host_book.writing(patience=0)
        with pytest.raises(LogbookFailed, match="does not release"):
            again.__enter__()  # it is entered, and no more
    assert not host_book.is_being_written()


def test_a_name_is_taken_once_however_many_want_it(book: Path) -> None:
    operators.enrol("anna", ActorKind.HUMAN, b"k" * 32, None, b"t")
    with pytest.raises(OperatorTaken):
        operators.enrol("Anna", ActorKind.HUMAN, b"l" * 32, None, b"t")

    assert whole(book) == 2
