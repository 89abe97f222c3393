"""Keys that were prepared for, at a real desk with a real terminal and a real link."""

import errno
import os
import socket
import termios
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.holder.desk_world import Client, World, successor, world
from tests.scenarios.support import apply_policy, eventually

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.moment import now
from holdfast.holder.output.display import Display
from holdfast.holder.record.note_memory import AREA
from holdfast.linux import pty, shared_memory
from holdfast.model.actors import ActorKind
from holdfast.model.ids import FIRST_INCARNATION, ClientId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, encode


class Typist:
    """Somebody who types over a real link, and sees what is printed."""

    def __init__(self, here: World) -> None:
        raw = shared_memory.view(here.vaulted.memory)
        self.here = here
        self.window = StreamWindow.open(raw[AREA:])
        self.display = Display(here.context, self.window, here.session)
        self.client: Client = here.join()
        self.link = self.client.connection
        self.link.watch(self.window, self.window.end)
        here.context.poll.unwatch(self.link.link)
        here.context.poll.watch(self.link.link, partial(self.link.receive, self.heard))
        self.sequence = 0
        self.others: list[Message] = []
        # The first takes the turn, the second teaches, the third is pressed.
        for key in (b"x", b"a", b"b"):
            self.types(key)
            self.settles()

    def heard(self, connection: object, message: Message) -> None:
        if isinstance(message, wire.Submit):
            assert connection is self.link
            self.here.session.desk.submit(self.link, message)
        else:
            self.others.append(message)

    def send(self, raw: bytes) -> None:
        self.client.far_end.sendall(raw)

    def types(self, key: bytes, *, waits: bool = False) -> None:
        """Send a key, and have the holder take what is there."""
        self.sequence += 1
        client = self.link.client
        assert client is not None
        viewer = self.link.viewer
        assert viewer is not None
        submit = wire.Submit(
            client=client,
            sequence=self.sequence,
            kind=InputKind.KEYS,
            incarnation=FIRST_INCARNATION,
            epoch=self.here.intake.turn.epoch,
            payload=key,
            seen=viewer.cursor,
            waits=waits,
        )
        self.send(encode(submit))
        assert self.here.context.poll.turn(5)

    def settles(self) -> None:
        """Have everything done that is left to do."""
        self.here.context.poll.interrupt()
        while self.here.context.poll.turn(0.01):
            pass
        self.here.context.poll.interrupt()
        self.here.session.settle()
        self.here.turn(later=0.5)

    def prepares(self) -> bool:
        """Prepare for the next key; tell whether there is something to prepare."""
        key = self.here.session.desk.next_key
        assert key.is_due
        key.prepare()
        return self.is_expected

    @property
    def is_expected(self) -> bool:
        return self.here.context.poll.expected is not None

    @property
    def is_put_off(self) -> bool:
        """Whether a key is on its way that has not passed the desk."""
        return self.here.context.poll.late is not None

    def inputs(self) -> list[tuple[object, object]]:
        """Return number and bytes of what the book says was typed."""
        return [
            (one.fields["sequence"], one.fields.get("data"))
            for one in self.here.entries()
            if one.kind is EntryKind.INPUT
        ]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with world() as made:
        yield made


@pytest.fixture
def anna(here: World) -> Typist:
    """Somebody whose next key is prepared for."""
    made = Typist(here)
    made.client.told()
    assert made.prepares()
    return made


def set_terminal(here: World, *, echo: bool = True, end: bytes = b"\0") -> None:
    settings = termios.tcgetattr(here.slave)
    settings[3] = settings[3] | termios.ECHO if echo else settings[3] & ~termios.ECHO
    settings[6][termios.VEOL] = end
    termios.tcsetattr(here.slave, termios.TCSANOW, settings)


def read_back(here: World) -> bytes:
    """Return what the program reads, once its terminal hands it over."""
    settings = termios.tcgetattr(here.slave)
    settings[3] &= ~termios.ICANON
    termios.tcsetattr(here.slave, termios.TCSANOW, settings)
    os.write(here.vaulted.master, b"!")  # After all that was typed.
    read = bytearray()

    def is_whole() -> bool:
        read.extend(here.typed())
        return read.endswith(b"!")

    _until(here, is_whole)
    return bytes(read[:-1])


def test_it_is_written_down_and_typed_before_it_passes_the_desk(
    here: World, anna: Typist
) -> None:
    before = here.intake.serializer.next_of(anna.client.id, _client(anna))

    anna.types(b"c")

    assert anna.is_put_off
    assert here.intake.serializer.next_of(anna.client.id, _client(anna)) == before
    assert anna.inputs()[-1] == (4, "Yw==")
    note = here.session.driver.note.read()
    assert note is not None
    assert note.writing == here.entries()[-1].index
    assert read_back(here) == b"xabc"


def test_then_it_passes_like_any_other(here: World, anna: Typist) -> None:
    anna.types(b"c")
    anna.settles()

    assert anna.inputs() == [
        (1, "eA=="),
        (2, "YQ=="),
        (3, "Yg=="),
        (4, "Yw=="),
    ]
    *_, ordinary, foreseen = (
        one for one in here.entries() if one.kind is EntryKind.INPUT
    )
    differing = {"index", "prev", "at", "sequence", "seen", "data"}
    assert list(ordinary.fields) == list(foreseen.fields)
    assert _but(ordinary.fields, differing) == _but(foreseen.fields, differing)
    assert here.context.shell.line.stands().data == b"xabc"
    told = [one for one in anna.client.told() if isinstance(one, wire.Acknowledge)]
    assert [one.sequence for one in told] == [4]


def test_its_echo_is_shown_before_it_passes(here: World, anna: Typist) -> None:
    anna.types(b"c")
    assert here.context.poll.turn(5)  # The terminal's echo, and nothing else.

    assert anna.is_put_off
    assert [one.data for one in anna.client.told() if isinstance(one, wire.Output)] == [
        b"c"
    ]


def test_a_bell_is_told_after_it_has_passed(here: World, anna: Typist) -> None:
    anna.types(b"c")
    os.write(here.slave, b"\x07")
    _until(here, lambda: not anna.is_put_off)

    assert here.intake.serializer.next_of(anna.client.id, _client(anna)) == 5


def test_the_next_key_is_prepared_for_once_it_has_passed(
    here: World, anna: Typist
) -> None:
    for number, key in enumerate((b"c", b"d", b"e"), start=4):
        anna.types(key)
        assert anna.is_put_off
        anna.settles()
        assert anna.inputs()[-1][0] == number
        assert anna.prepares()

    assert read_back(here) == b"xabcde"


@pytest.mark.parametrize("key", [b"\r", b"\x7f", b"\x1b[A", "é".encode(), b"xy"])
def test_what_is_no_letter_is_for_the_desk(
    here: World, anna: Typist, key: bytes
) -> None:
    anna.types(key)

    assert not anna.is_put_off
    assert here.intake.serializer.next_of(anna.client.id, _client(anna)) == 5


def test_so_is_a_key_that_somebody_waits_for(anna: Typist) -> None:
    anna.types(b"c", waits=True)

    assert not anna.is_put_off
    assert anna.inputs()[-1] == (4, "Yw==")


def test_any_other_message_is_taken_and_prepared_for_again(anna: Typist) -> None:
    anna.send(encode(wire.Ping(7)))
    assert anna.here.context.poll.turn(5)

    assert anna.others == [wire.Ping(7)]
    assert not anna.is_expected
    anna.here.turn(later=0.5)
    assert anna.prepares()


def test_a_client_that_hangs_up_is_gone(here: World, anna: Typist) -> None:
    anna.client.far_end.shutdown(socket.SHUT_WR)
    assert here.context.poll.turn(5)

    assert anna.link.is_closed


def test_half_a_frame_is_half_a_frame(here: World, anna: Typist) -> None:
    anna.sequence += 1
    raw = encode(wire.Ping(7))
    anna.send(raw[:4])
    assert here.context.poll.turn(5)
    anna.send(raw[4:])
    assert here.context.poll.turn(5)

    assert anna.others == [wire.Ping(7)]


# ── what changes without an event ─────────────────────────────────────────────


def test_without_echo_it_is_never_written_down(here: World, anna: Typist) -> None:
    set_terminal(here, echo=False)

    anna.types(b"c")

    assert not anna.is_put_off
    assert anna.inputs()[-1] == (4, None)


def test_where_a_letter_ends_lines_it_is_for_the_desk(
    here: World, anna: Typist
) -> None:
    set_terminal(here, end=b"c")

    anna.types(b"c")

    assert not anna.is_put_off
    anna.settles()
    assert not anna.prepares()


def test_a_policy_holds_from_the_very_key(anna: Typist) -> None:
    apply_policy('[default]\nhuman = "deny"\n')

    anna.types(b"c")

    refused = [one for one in anna.client.told() if isinstance(one, wire.Refuse)]
    assert [one.code for one in refused] == ["denied-by-policy"]
    assert anna.inputs()[-1] == (3, "Yg==")


def test_a_full_disk_refuses_it_as_any_other(
    anna: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, tried = anna.here.session.book.log, []

    def full(line: bytes) -> None:
        tried.append(line)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(log, "append", full)
    anna.types(b"c")

    refused = [one for one in anna.client.told() if isinstance(one, wire.Refuse)]
    assert [one.code for one in refused] == ["logbook-failed"]
    assert len(tried) >= 2
    assert read_back(anna.here) == b"xab"


def test_a_terminal_that_takes_nothing_gets_it_later(here: World, anna: Typist) -> None:
    settings = termios.tcgetattr(here.slave)
    settings[3] &= ~(termios.ICANON | termios.ECHO)
    settings[3] |= termios.ECHO
    termios.tcsetattr(here.slave, termios.TCSANOW, settings)
    anna.types(b"-")  # By the desk: the settings are others.
    anna.settles()

    def waits() -> bool:
        """Type when the terminal is full; what it held may have just moved on."""
        assert anna.prepares()
        for size in (4096, 1):  # Where no more fits, a single byte may.
            while pty.write_available(here.vaulted.master, b"x" * size):
                pass
        anna.types(b"c")
        here.context.poll.interrupt()
        is_on = here.session.writer.is_on
        if not is_on:
            anna.settles()
        return is_on

    eventually("a key that waits for the terminal", waits)


# ── what happens meanwhile ────────────────────────────────────────────────────


def test_a_seize_comes_after_what_was_typed_and_before_what_follows(
    here: World, anna: Typist
) -> None:
    eve = here.join("eve", ActorKind.HUMAN)
    for key in (b"a", b"b"):
        anna.types(key)
        anna.settles()
    assert anna.prepares()
    anna.types(b"c")

    here.context.poll.interrupt()  # As before anything else that is heard.
    here.do(here.intake.seize(eve.id, now()))
    anna.types(b"d")

    refused = [one for one in anna.client.told() if isinstance(one, wire.Refuse)]
    assert [one.code for one in refused] == ["not-your-turn"]
    assert anna.inputs()[-1] == (6, "Yw==")


def test_a_successor_finds_a_key_of_unknown_outcome(here: World, anna: Typist) -> None:
    anna.types(b"c")  # And the holder dies.

    after = successor(here)

    settled = [one for one in after.entries() if one.kind is EntryKind.SETTLED]
    assert settled[-1].fields["as"] == "unknown"
    assert anna.inputs()[-1] == (4, "Yw==")


def test_a_holder_that_foresaw_wrongly_does_not_go_on(
    here: World, anna: Typist
) -> None:
    anna.types(b"c")
    here.intake.changes += 1  # Something happened, and nobody was told.

    with pytest.raises(AssertionError, match="foreseen otherwise"):
        here.context.poll.interrupt()


def _client(anna: Typist) -> ClientId:
    client = anna.link.client
    assert client is not None
    return client


def _but(fields: object, names: set[str]) -> dict[str, object]:
    assert isinstance(fields, dict)
    return {name: value for name, value in fields.items() if name not in names}


def _until(here: World, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < deadline
        here.context.poll.turn(0.01)
