import os
from pathlib import Path

import pytest

from holdfast.cli.log_tail import LogTail, kept_logs, newest_head
from holdfast.core.book.logbook import MAX_LINE, EntryKind, Head, Logbook, genesis
from holdfast.core.book.signed_head import sign_head
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import places
from holdfast.model.errors import LogTampered, PeerError
from holdfast.model.ids import FIRST_INCARNATION, Epoch, SessionId

SESSION = SessionId("s_" + "a" * 16)
KEY = SigningKey.from_seed(b"\1" * 32)


def lines(count: int) -> list[bytes]:
    book, written = Logbook(genesis(SESSION)), []
    for number in range(count):
        entry = book.draft(EntryKind.OPENED, {}, FIRST_INCARNATION, Epoch(1), number)
        book.commit(entry)
        written.append(entry.line + b"\n")
    return written


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    place = places.session_log(SESSION)
    place.write_bytes(b"")
    return place


def test_entries_are_read_once_as_the_file_grows(path: Path) -> None:
    tail, written = LogTail(SESSION), lines(3)

    assert tail.read() == []
    path.write_bytes(b"".join(written[:2]))
    assert [entry.index for entry in tail.read()] == [0, 1]
    path.write_bytes(b"".join(written))
    assert [entry.index for entry in tail.entries()] == [2]
    assert tail.head.index == 2
    tail.close()


def test_half_a_line_is_read_when_it_is_whole(path: Path) -> None:
    tail, written = LogTail(SESSION), lines(2)
    path.write_bytes(written[0] + written[1][:20])

    assert len(tail.read()) == 1
    assert tail.torn == 20
    path.write_bytes(b"".join(written))
    assert [entry.index for entry in tail.read()] == [1]
    assert tail.torn == 0
    tail.close()


def test_half_a_line_that_a_holder_took_back_is_forgotten(path: Path) -> None:
    tail, written = LogTail(SESSION), lines(2)
    path.write_bytes(written[0] + b"half of someth")
    tail.read()
    path.write_bytes(written[0])

    assert tail.read() == []
    path.write_bytes(b"".join(written))
    assert [entry.index for entry in tail.read()] == [1]
    tail.close()


def test_a_last_line_that_a_crash_left_unreadable_is_passed_over(path: Path) -> None:
    tail, written = LogTail(SESSION), lines(1)
    path.write_bytes(written[0] + b"\0" * 30 + b"\n")

    assert len(tail.read()) == 1
    assert tail.torn == 31
    assert tail.read() == []
    tail.close()


@pytest.mark.parametrize("nth", [0, 1, 2])
def test_a_changed_line_is_refused_wherever_it_stands(path: Path, nth: int) -> None:
    written = lines(3)
    written[nth] = written[nth].replace(b'"epoch":1', b'"epoch":0')
    if nth == 2:
        written[nth] = written[nth].replace(b'"index":2', b'"index":7')
    path.write_bytes(b"".join(written))
    tail = LogTail(SESSION)

    with pytest.raises(LogTampered):
        [*tail.entries()]
    tail.close()


@pytest.mark.parametrize("last", [lines(2)[1], b"\0\n"])
def test_damage_before_the_last_line_is_no_crash(path: Path, last: bytes) -> None:
    path.write_bytes(b"\0" * 30 + b"\n" + last)
    tail = LogTail(SESSION)

    with pytest.raises(LogTampered):
        tail.read()
    tail.close()


def test_a_line_without_end_is_refused_before_it_is_held(path: Path) -> None:
    path.write_bytes(b"x" * (MAX_LINE + 1))
    tail = LogTail(SESSION)

    with pytest.raises(LogTampered, match="over"):
        tail.read()
    tail.close()


def test_a_book_that_became_shorter_was_changed(path: Path) -> None:
    tail, written = LogTail(SESSION), lines(2)
    path.write_bytes(b"".join(written))
    tail.read()
    os.truncate(path, 5)

    with pytest.raises(LogTampered, match="shorter"):
        tail.read()
    tail.close()


def test_a_removed_file_is_gone(path: Path) -> None:
    tail = LogTail(SESSION)
    assert not tail.is_gone
    path.unlink()

    assert tail.is_gone
    tail.close()


def test_a_link_in_the_place_of_the_book_is_not_followed(
    path: Path, tmp_path: Path
) -> None:
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic"):
        LogTail(SESSION)


def test_the_head_beside_the_book_is_read_and_checked(path: Path) -> None:
    beside = path.with_suffix(".head")
    signed = sign_head(Head(SESSION, 3, b"\7" * 32), FIRST_INCARNATION, KEY)
    other = sign_head(Head(SessionId("s_b"), 3, b"\7" * 32), FIRST_INCARNATION, KEY)

    assert newest_head(SESSION) is None
    beside.write_bytes(signed.to_line() + b"\n")
    assert newest_head(SESSION) == signed
    for wrong in (
        other.to_line(),
        signed.to_line().replace(b'"head":3', b'"head":4'),
        b"no head",
    ):
        beside.write_bytes(wrong)
        with pytest.raises(PeerError):
            newest_head(SESSION)


def test_books_are_listed_by_their_sessions(path: Path) -> None:
    path.with_name("s_b.sock").write_bytes(b"")

    assert kept_logs() == [SESSION]
