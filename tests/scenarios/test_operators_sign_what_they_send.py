"""An exported book shows who made its inputs, to a program that trusts no host."""

import asyncio
import base64
import hashlib
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, places, relay
from tests.scenarios.starts import book
from tests.scenarios.support import Machine, eventually, machine

import holdfast
from holdfast.core.book.logbook import EntryKind, Head
from holdfast.core.book.signed_head import sign_head
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.wire.lines import Record, decode_line, encode_line

VERIFIER = Path(__file__).parents[2] / "tools" / "verify_logbook.py"
CHANGED = 65
DETACH = b"\x1dd"


@dataclass(frozen=True)
class Export:
    """A book that left its host, and the key of the host."""

    lines: list[bytes]
    session: SessionId
    host: SigningKey

    def checked(self, lines: list[bytes]) -> "subprocess.CompletedProcess[str]":
        """Have a book checked whose chain and head the host has put right."""
        mended: list[bytes] = []
        before = str(decode_line(self.lines[0])["genesis"])
        for index, line in enumerate(lines):
            record: Record = {**decode_line(line), "index": index, "prev": before}
            mended.append(encode_line(record))
            before = hashlib.sha256(mended[-1]).hexdigest()
        header = {**decode_line(self.lines[0]), "count": len(mended)}
        end = Head(self.session, len(mended) - 1, bytes.fromhex(before))
        head = sign_head(end, FIRST_INCARNATION, self.host).to_line()
        return verified([encode_line(header), *mended, head], self.host.public)

    @property
    def entries(self) -> list[bytes]:
        """The entries alone."""
        return self.lines[1:-1]

    def input_of(self, text: bytes) -> int:
        """Return where an input stands."""
        return next(
            at
            for at, line in enumerate(self.entries)
            if decode_line(line).get("data") == based(text)
        )


def based(text: bytes) -> str:
    return base64.b64encode(text).decode()


def verified(lines: list[bytes], key: bytes) -> "subprocess.CompletedProcess[str]":
    with tempfile.NamedTemporaryFile() as book:
        book.write(b"".join(line + b"\n" for line in lines))
        book.flush()
        # Isolated, so that it can import nothing of ours.
        words = [sys.executable, "-I", "-S", str(VERIFIER), book.name, key.hex()]
        return subprocess.run(
            words, capture_output=True, check=False, text=True, timeout=60
        )


def in_a_terminal(place: Place, *typed: tuple[bytes, bytes]) -> None:
    """Attach as a person does; type each text, and wait for what comes of it."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        place.command("attach", "web"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, **place.folders, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(slave)
    shown = bytearray()
    try:
        _read_until(master, shown, b"detaches")
        for text, expected in typed:
            os.write(master, text)
            _read_until(master, shown, expected)
        os.write(master, DETACH)
        _read_until(master, shown, b"detached")
        assert child.wait(20) == 0
    finally:
        child.kill()
        os.close(master)


def _read_until(master: int, shown: bytearray, text: bytes) -> None:
    while text not in shown:
        shown += os.read(master, 65536)
    del shown[: shown.index(text) + len(text)]


async def by_sdk() -> None:
    async with holdfast.connect() as host, host.attach("web") as web:
        await web.run("echo by a program")
        await web.send("echo keys of a program", enter=True)


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Export]:
    book = tmp_path_factory.mktemp("export") / "book"
    with relay() as between, places() as (home, away):
        home.up(between.url)
        away.do("join", "-", "--name", "box", said=home.invite("--as", "anna"))
        session = home.new("bash", name="web")
        eventually("its prompt", lambda: home.run("run", "web", "true").returncode == 0)
        in_a_terminal(home, (b"echo hu''man\r", b"human"), (b"read -s x\r", b"\n"))
        home.do("wait", "web", "--for", "secret")
        home.do("answer", "web", said="hunter2\n")
        home.do("drop", "web")
        away.do("run", "box/web", "--", "echo", "from afar")
        away.do("send", "box/web", "--enter", "echo keys from afar")
        away.do("drop", "box/web")
        away.do("operators", "rotate")
        away.do("run", "box/web", "--", "echo", "with another key")
        with home.inhabited():
            asyncio.run(by_sdk())
            host = SigningKey.from_seed(host_seed())
        home.do("log", "web", "--export", str(book))
        assert "inputs are signed" in home.do("log", "web", "--verify")
        yield Export(book.read_bytes().splitlines(), SessionId(session), host)


def test_t35_what_people_agents_and_those_elsewhere_sent_is_all_signed(
    export: Export,
) -> None:
    said = verified(export.lines, export.host.public)

    assert said.returncode == 0, said.stderr
    assert "Only the host vouches" not in said.stdout
    assert "not valid" not in said.stdout
    made = [line for line in export.entries if b'"kind":"input"' in line]
    count = sum(b'"input":"start"' not in line for line in made)
    assert f"{count} of {count} inputs are signed" in said.stdout
    assert count > 8


def test_t35_an_input_that_the_host_adds_is_listed(export: Export) -> None:
    at = export.input_of(b"echo 'from afar'\r")
    added = {**decode_line(export.entries[at]), "data": based(b"rm -r /\r")}
    unused = {**added, "client": "c_" + "b" * 16}
    lines = export.entries

    again = export.checked([*lines[: at + 1], encode_line(added), *lines[at + 1 :]])
    fresh = export.checked([*lines[: at + 1], encode_line(unused), *lines[at + 1 :]])

    for said in (again, fresh):
        assert said.returncode == 0, said.stderr
        assert f"Only the host vouches for the inputs of entry {at + 1}." in said.stdout


def test_t35_an_input_that_the_host_changes_is_refused(export: Export) -> None:
    at = export.input_of(b"echo 'from afar'\r")
    lines = list(export.entries)
    lines[at] = encode_line({**decode_line(lines[at]), "data": based(b"rm -r /\r")})

    said = export.checked(lines)

    assert said.returncode == CHANGED
    assert f"entry {at}: forged" in said.stderr


@pytest.mark.parametrize("what", ["steps", "signature", "key", "rotations"])
def test_t35_a_statement_that_the_host_changes_signs_nothing(
    export: Export, what: str
) -> None:
    at = next(
        index
        for index, line in enumerate(export.entries)
        if decode_line(line).get("rotations")
    )
    record = decode_line(export.entries[at])
    lines = list(export.entries)
    lines[at] = encode_line({**record, what: _changed(str(record[what]))})

    said = export.checked(lines)

    assert said.returncode == 0, said.stderr
    assert f"The signatures of entry {at} are not valid" in said.stdout
    assert "Only the host vouches for the inputs of entry" in said.stdout


def _changed(text: str) -> str:
    return text[:40] + ("1" if text[40] == "0" else "0") + text[41:]


def test_t35_what_a_dead_holder_took_is_signed_to_its_successor() -> None:
    async def story(here: Machine, session: SessionId) -> None:
        async with holdfast.connect() as host, host.attach(session) as cat:
            await cat.send("one", enter=True)
            await asyncio.to_thread(here.replace_holder, session)
            await cat.send("two", enter=True)

    with machine() as here:
        session = here.new("cat")
        asyncio.run(story(here, session))

        def signed() -> bool:
            found = [
                one.fields for one in book(session) if one.kind is EntryKind.SIGNED
            ]
            return any(one["last"] == 2 for one in found)

        eventually("both are signed", signed)
        inputs = [one for one in book(session) if one.kind is EntryKind.INPUT]
        assert [base64.b64decode(str(one.fields["data"])) for one in inputs[1:]] == [
            b"one\r",
            b"two\r",
        ]
