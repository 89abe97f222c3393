import base64
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tools.verify_logbook import check_export

from holdfast.cli.main import main
from holdfast.core.book.logbook import EntryKind, Head, Logbook, genesis
from holdfast.core.book.signed_head import sign_head
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import operators, places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import FIRST_INCARNATION, Epoch, SessionId, actor_id
from holdfast.wire.lines import Value

SESSION = SessionId("s_" + "a" * 16)
OTHER = SessionId("s_" + "a" * 14 + "bb")
US, BOT = actor_id(f"uid {os.getuid()}".encode()), actor_id(b"bot")
KEY = SigningKey.from_seed(b"\1" * 32)
NOON = 1_800_000_000_000

Capture = pytest.CaptureFixture[str]


class Written:
    def __init__(self, session: SessionId) -> None:
        self.book = Logbook(genesis(session))
        self.path = places.session_log(session)

    def add(self, kind: EntryKind, at: int = 0, /, **fields: Value) -> None:
        entry = self.book.draft(
            kind, fields, FIRST_INCARNATION, Epoch(1), NOON + at * 1000
        )
        self.book.commit(entry)
        with self.path.open("ab") as file:
            file.write(entry.line + b"\n")

    def types(self, text: str, at: int = 0, actor: str = US) -> None:
        data = base64.b64encode(text.encode()).decode()
        self.add(EntryKind.INPUT, at, actor=actor, input="keys", data=data)

    def sign(self) -> None:
        signed = sign_head(self.book.head, FIRST_INCARNATION, KEY)
        self.path.with_suffix(".head").write_bytes(signed.to_line() + b"\n")


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    written = Written(SESSION)
    written.add(EntryKind.OPENED)
    written.types("ls\r", 10)
    written.types("rm\r", 20, BOT)
    written.add(EntryKind.SETTLED, 21, of=2, **{"as": "dropped"})
    return written


@pytest.fixture
def signed_book(book: Written) -> Written:
    """A book that nobody waits to see signed."""
    book.sign()
    return book


def told(capsys: Capture, *words: str) -> str:
    assert main(["log", *words]) == 0
    return capsys.readouterr().out


def test_the_story_of_a_session_that_nobody_runs_any_more(
    book: Written, capsys: Capture
) -> None:
    heading, *lines = told(capsys, SESSION).splitlines()

    assert heading.endswith("2027")
    assert [line.split(maxsplit=2)[-1] for line in lines[1:]] == [
        "typed ls⏎",
        "typed rm⏎",
        "nothing of the input at 2 was written",
    ]
    assert "\x1b" not in "".join(lines)
    assert book.path.exists()


def test_a_torn_last_line_does_not_disturb_the_story(
    book: Written, capsys: Capture
) -> None:
    whole = told(capsys, SESSION)
    with book.path.open("ab") as file:
        file.write(b'{"index":4,"pr')

    assert told(capsys, SESSION) == whole


@pytest.mark.usefixtures("book")
def test_the_beginning_of_an_id_is_enough_when_only_one_fits(capsys: Capture) -> None:
    assert "typed ls" in told(capsys, "s_aaaa")

    Written(OTHER).add(EntryKind.OPENED)
    assert main(["log", "s_aaaa"]) == 75
    assert main(["log", "s_a"]) == 75


@pytest.mark.usefixtures("book")
def test_only_what_concerns_an_operator_is_told(capsys: Capture) -> None:
    by_bot = told(capsys, SESSION, "--actor", BOT[:10])

    assert "rm⏎" in by_bot
    assert "nothing of the input at 2" in by_bot
    assert "ls⏎" not in by_bot
    assert main(["log", SESSION, "--actor", "a_x"]) == 64


@pytest.mark.usefixtures("book")
def test_an_operator_that_is_known_here_is_called_by_name(capsys: Capture) -> None:
    operators.enrol("robby", ActorKind.AGENT, b"bot", None, b"token")

    assert "robby         typed rm⏎" in told(capsys, SESSION, "--actor", "@Robby")


@pytest.mark.usefixtures("book")
def test_the_story_begins_where_it_is_asked_to(capsys: Capture) -> None:
    assert "ls⏎" not in told(capsys, SESSION, "--since", "2")
    assert "rm⏎" in told(capsys, SESSION, "--since", "2")
    assert told(capsys, SESSION, "--since", "2999-01-01") == ""
    assert main(["log", SESSION, "--since", "soon"]) == 64


def test_programs_get_the_lines_of_the_book(book: Written, capsys: Capture) -> None:
    assert told(capsys, SESSION, "--json").encode() == book.path.read_bytes()


def test_a_whole_book_verifies(book: Written, capsys: Capture) -> None:
    said = told(capsys, SESSION, "--verify")

    assert "4 entries verified" in said
    assert f"head 3 {book.book.head.hash.hex()}" in said
    assert "no host signed" in said


def test_a_signed_book_says_who_vouches(book: Written, capsys: Capture) -> None:
    book.sign()

    assert KEY.public.hex() in told(capsys, SESSION, "--verify")
    facts = json.loads(told(capsys, SESSION, "--verify", "--json"))
    assert (facts["holds"], facts["count"], facts["signed"]) == (True, 4, 3)


def test_a_changed_entry_is_named_and_the_exit_status_says_so(
    book: Written, capsys: Capture
) -> None:
    raw = book.path.read_bytes()
    book.path.write_bytes(raw.replace(b'"at":1800000010000', b'"at":1800000010001'))

    assert main(["log", SESSION, "--verify"]) == 65
    said = capsys.readouterr().out
    assert "2 entries verified" in said
    assert "at entry 2" in said
    assert main(["log", SESSION, "--verify", "--json"]) == 65
    assert json.loads(capsys.readouterr().out)["error"]["facts"]["index"] == 2


def test_a_cut_tail_and_a_forged_end_contradict_the_signed_head(
    book: Written, capsys: Capture
) -> None:
    book.sign()
    *first, _, _ = book.path.read_bytes().split(b"\n")
    book.path.write_bytes(b"\n".join(first) + b"\n")

    assert main(["log", SESSION, "--verify"]) == 65
    assert "does not verify" in capsys.readouterr().out
    forged = sign_head(Head(SESSION, 1, b"\0" * 32), FIRST_INCARNATION, KEY)
    book.path.with_suffix(".head").write_bytes(forged.to_line())
    assert main(["log", SESSION, "--verify"]) == 65


@pytest.mark.parametrize("is_signed", [False, True])
def test_an_export_holds_for_the_independent_verifier(
    book: Written, tmp_path: Path, *, is_signed: bool
) -> None:
    if is_signed:
        book.sign()
    place = tmp_path / "book"

    assert main(["log", SESSION, "--export", str(place)]) == 0
    said = check_export(place.read_bytes())
    assert "4 entries" in said
    assert ("up to entry 3" in said) == is_signed
    assert place.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("signed_book")
def test_an_export_replaces_nothing_unasked_and_leaves_no_draft(tmp_path: Path) -> None:
    place = tmp_path / "out" / "book"
    place.parent.mkdir()
    place.write_text("precious")

    assert main(["log", SESSION, "--export", str(place)]) == 64
    assert place.read_text() == "precious"
    assert main(["log", SESSION, "--export", str(place), "--force"]) == 0
    assert "4 entries" in check_export(place.read_bytes())
    assert main(["log", SESSION, "--export", str(place.parent / "no" / "book")]) == 64
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("place", ["/dev/null/book", ".", "", "x" * 300])
@pytest.mark.usefixtures("signed_book")
def test_a_place_that_can_hold_no_file_is_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["log", SESSION, "--export", place, "--force"]) == 64
    assert "new file" in capsys.readouterr().err


@pytest.mark.usefixtures("signed_book")
def test_a_disk_that_is_full_leaves_the_old_export_and_no_draft(tmp_path: Path) -> None:
    place = tmp_path / "out" / "book"
    place.parent.mkdir()
    place.write_text("precious")
    program = 'ulimit -f 0; exec "$0" -m holdfast log "$1" --export "$2" --force'
    words = ["bash", "-c", program, sys.executable, SESSION, str(place)]

    assert subprocess.run(words, capture_output=True, check=False).returncode == 74
    assert place.read_text() == "precious"
    assert list(place.parent.iterdir()) == [place]


def following(session: str, stdout: int | None = None) -> "subprocess.Popen[str]":
    words = [sys.executable, "-m", "holdfast", "log", session, "--follow"]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE if stdout is None else stdout, text=True
    )


def test_following_tells_what_comes_and_ends_with_the_session(book: Written) -> None:
    with following(SESSION) as process:
        assert process.stdout is not None
        while "input at 2" not in process.stdout.readline():
            pass
        book.types("pwd\r", 30)
        assert "typed pwd⏎" in process.stdout.readline()
        book.add(EntryKind.EXITED, 40, how="code 0")
        assert "The program exited: code 0" in process.stdout.read()

    assert process.returncode == 0


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_gets_colours_unless_they_are_not_wanted(
    book: Written, monkeypatch: pytest.MonkeyPatch, no_color: str
) -> None:
    book.add(EntryKind.EXITED, 40, how="code 0")
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    master, slave = pty.openpty()
    with following(SESSION, slave) as process:
        os.close(slave)
        process.wait()
        said = os.read(master, 65536)
    os.close(master)

    assert (b"\x1b[" in said) == (not no_color)


def test_a_time_that_no_calendar_has_does_not_stop_the_story(
    book: Written, capsys: Capture
) -> None:
    book.add(EntryKind.EXITED, 10**17, how="code 0")

    assert "--:--:--" in told(capsys, SESSION)
