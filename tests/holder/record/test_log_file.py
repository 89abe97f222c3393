import resource
import signal
from pathlib import Path

import pytest

from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.holder.record.log_file import LogFile
from holdfast.model.ids import Epoch, Incarnation, SessionId

SESSION = SessionId("s_" + "a" * 16)


def lines(count: int) -> list[bytes]:
    book, found = Logbook(genesis(SESSION)), []
    for _ in range(count):
        entry = book.draft(EntryKind.OPENED, {}, Incarnation(1), Epoch(1), 5)
        book.commit(entry)
        found.append(entry.line)
    return found


def test_what_was_appended_is_read_again(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "log", SESSION)
    for line in lines(3):
        log.append(line)

    again = LogFile(tmp_path / "log", SESSION).recover()

    assert [entry.line for entry in again.entries] == lines(3)
    assert again.torn == 0


def test_a_torn_end_is_cut_off_and_writing_goes_on(tmp_path: Path) -> None:
    first, second = lines(2)
    (tmp_path / "log").write_bytes(first + b"\n" + second[:20])

    log = LogFile(tmp_path / "log", SESSION)
    recovered = log.recover()
    log.append(second)

    assert recovered.torn == 20
    assert len(LogFile(tmp_path / "log", SESSION).recover().entries) == 2


def test_a_disk_that_refuses_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    first, second = lines(2)
    log = LogFile(tmp_path / "log", SESSION)
    log.append(first)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(first) + 9, limits[1]))
    try:
        with pytest.raises(OSError, match="space"):
            log.append(second)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, former)

    assert (tmp_path / "log").read_bytes() == first + b"\n"
    log.append(second)
    assert len(log.recover().entries) == 2


def test_a_link_in_the_place_of_the_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("")
    (tmp_path / "log").symlink_to(tmp_path / "real")

    with pytest.raises(OSError, match="symbolic"):
        LogFile(tmp_path / "log", SESSION)


def test_the_log_is_for_us_alone(tmp_path: Path) -> None:
    LogFile(tmp_path / "log", SESSION)

    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
