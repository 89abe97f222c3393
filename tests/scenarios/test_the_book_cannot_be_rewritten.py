"""Whoever changes a logbook is found out, by us and by a program that knows us not."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.core.receipts import receipt_in, signature_check
from tests.scenarios.support import Client, Machine, machine

from holdfast.core.book.logbook import Receipt, verify
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import places
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.errors import LogbookWithheld, LogTampered
from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.lines import decode_line, encode_line

VERIFIER = Path(__file__).parents[2] / "tools" / "verify_logbook.py"
CHANGED = 65


@dataclass(frozen=True)
class Story:
    """A session that has been lived, and what its operator kept of it."""

    session: SessionId
    lines: list[bytes]
    older: list[bytes]
    other: list[bytes]
    receipts: list[Receipt]
    hostile: SessionId
    public: bytes

    @property
    def log(self) -> Path:
        return places.session_log(self.session)


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    with machine() as here:
        session, client = opened(here)
        receipts = [ran(client, b"one\r"), ran(client, b"two\r")]
        older = lines_of(session)
        receipts.append(ran(client, b"three\r"))
        other, stranger = opened(here)
        ran(stranger, b"elsewhere\r")
        hostile, client = opened(here)
        ran(client, b"\x1b]0;owned\x07\x1b[2J\xe2\x80\xae\r")
        public = SigningKey.from_seed(host_seed()).public
        yield Story(
            session=session,
            lines=lines_of(session),
            older=older,
            other=lines_of(other),
            receipts=receipts,
            hostile=hostile,
            public=public,
        )


@pytest.fixture
def book(story: Story) -> Iterator[Story]:
    """Return the story; its file is put back as it was."""
    kept = story.log.with_suffix(".kept")
    shutil.copy(story.log, kept)
    yield story
    kept.replace(story.log)


def opened(here: Machine) -> tuple[SessionId, Client]:
    session = here.new("sh", "-c", "stty raw; echo ready; exec cat")
    client = here.join(session)
    client.wait_output(b"ready")
    return session, client


def ran(client: Client, text: bytes) -> Receipt:
    client.post(text, InputKind.COMMAND)
    answer = client.settle()
    assert isinstance(answer, wire.Acknowledge)
    receipt = receipt_in(answer, client.session, FIRST_INCARNATION)
    assert receipt is not None
    return receipt


def lines_of(session: SessionId) -> list[bytes]:
    return places.session_log(session).read_bytes().splitlines()


def index_of(lines: list[bytes], text: bytes) -> int:
    return next(at for at, line in enumerate(lines) if text in line)


def edited(book: Story) -> list[bytes]:
    at = index_of(book.lines, b'"kind":"input"')
    line = encode_line({**decode_line(book.lines[at]), "actor": "a_" + "b" * 32})
    return [*book.lines[:at], line, *book.lines[at + 1 :]]


def inserted(book: Story) -> list[bytes]:
    return [*book.lines[:3], book.lines[2], *book.lines[3:]]


def deleted(book: Story) -> list[bytes]:
    return [*book.lines[:2], *book.lines[3:]]


def reordered(book: Story) -> list[bytes]:
    return [*book.lines[:2], book.lines[3], book.lines[2], *book.lines[4:]]


def rechained(book: Story) -> list[bytes]:
    """Change an entry, and every hash after it, as whoever knows the format can."""
    lines = edited(book)
    at = index_of(book.lines, b'"kind":"input"')
    for number in range(at + 1, len(lines)):
        digest = hashlib.sha256(lines[number - 1]).hexdigest()
        lines[number] = encode_line({**decode_line(lines[number]), "prev": digest})
    return lines


def cut(book: Story) -> list[bytes]:
    return book.lines[:2]


def older(book: Story) -> list[bytes]:
    return book.older


def emptied(_: Story) -> list[bytes]:
    return []


def of_another(book: Story) -> list[bytes]:
    return book.other


Forgery = Callable[[Story], list[bytes]]
FORGERIES = [
    edited,
    inserted,
    deleted,
    reordered,
    rechained,
    cut,
    older,
    emptied,
    of_another,
]


def holdfast(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )


def verified(export: Path, key: bytes) -> subprocess.CompletedProcess[str]:
    # Isolated, so that it can import nothing of ours.
    return subprocess.run(
        [sys.executable, "-I", "-S", str(VERIFIER), str(export), key.hex()],
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )


def test_t66_an_untouched_book_holds_and_its_export_does(
    story: Story, tmp_path: Path
) -> None:
    export = tmp_path / "book"

    said = holdfast("log", story.session, "--verify")
    assert holdfast("log", story.session, "--export", str(export)).returncode == 0
    theirs = verified(export, story.public)

    assert said.returncode == 0, said.stdout
    assert f"{len(story.lines)} entries verified" in said.stdout
    assert theirs.returncode == 0, theirs.stderr
    assert f"{len(story.lines)} entries verified" in theirs.stdout


@pytest.mark.parametrize("forge", FORGERIES)
def test_t66_h105_a_changed_book_is_found_out(book: Story, forge: Forgery) -> None:
    book.log.write_bytes(b"".join(line + b"\n" for line in forge(book)))

    said = holdfast("log", book.session, "--verify")

    assert said.returncode == CHANGED, said.stdout
    assert "does not verify" in said.stdout


@pytest.mark.parametrize("forge", FORGERIES)
def test_t66_h105_a_changed_export_is_found_out_by_a_program_that_knows_us_not(
    story: Story, tmp_path: Path, forge: Forgery
) -> None:
    export = tmp_path / "book"
    holdfast("log", story.session, "--export", str(export))
    header, *_, head = export.read_bytes().splitlines()
    export.write_bytes(b"".join(line + b"\n" for line in (header, *forge(story), head)))

    said = verified(export, story.public)

    assert said.returncode == CHANGED, said.stdout


def test_t66_a_forger_who_mends_count_and_chain_lacks_the_hosts_key(
    story: Story, tmp_path: Path
) -> None:
    export = tmp_path / "book"
    holdfast("log", story.session, "--export", str(export))
    header, *_, head = export.read_bytes().splitlines()
    shorter = story.lines[:-2]
    counted = encode_line({**decode_line(header), "count": len(shorter)})
    export.write_bytes(b"".join(line + b"\n" for line in (counted, *shorter, head)))

    said = verified(export, story.public)

    assert said.returncode == CHANGED, said.stdout


def test_t66_a_receipt_contradicts_an_older_copy_with_its_older_head(
    story: Story,
) -> None:
    check = signature_check(story.public)

    assert verify(story.lines, story.session, story.receipts, check).count
    with pytest.raises(LogbookWithheld):
        verify(story.older, story.session, story.receipts, check)
    assert verify(story.older, story.session, story.receipts[:2], check).count


def test_t66_a_receipt_of_another_host_or_session_proves_nothing(
    story: Story,
) -> None:
    stranger = signature_check(SigningKey.from_seed(bytes(32)).public)
    receipts = story.receipts

    with pytest.raises(LogTampered, match="not signed by the host"):
        verify(story.lines, story.session, receipts, stranger)
    other = SessionId("s_aaaaaaaaaaaaaaaa")
    with pytest.raises(LogTampered, match="another session"):
        verify(story.lines, other, receipts, signature_check(story.public))


def test_h107_a_torn_last_line_is_what_a_crash_leaves_and_is_said(book: Story) -> None:
    with book.log.open("ab") as file:
        file.write(b'{"index":')

    said = holdfast("log", book.session, "--verify")

    assert said.returncode == 0, said.stdout
    assert "unfinished" in said.stdout


def test_h107_what_stands_in_the_book_cannot_command_the_terminal(
    story: Story,
) -> None:
    told = holdfast("log", story.hostile).stdout

    assert "owned" in told
    assert "\x1b" not in told
    assert "\u202e" not in told
