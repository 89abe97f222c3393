"""Keys that were prepared for, with a real terminal and a real link."""

import errno
import os
import socket
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import World, successor, world
from tests.holder.typist import Typist
from tests.scenarios.support import apply_policy, eventually

from holdfast.core.book.logbook import EntryKind
from holdfast.holder.moment import now
from holdfast.linux import pty
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ClientId
from holdfast.wire import messages as wire
from holdfast.wire.codec import encode


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
    os.write(here.descriptors.master, b"!")  # After all that was typed.
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
    told = [*anna.client.told()]
    while wire.Output not in map(type, told):
        assert here.context.poll.turn(5)
        told += anna.client.told()

    assert anna.is_put_off
    assert [one.data for one in told if isinstance(one, wire.Output)] == [b"c"]


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


def test_a_budget_that_another_part_has_read_holds_for_the_next_key(
    here: World, anna: Typist
) -> None:
    anna.types(b"c")
    anna.settles()
    apply_policy("[budget.human]\ninputs_per_minute = 1\n")
    here.session.policy.in_force.refresh()

    assert not anna.prepares()


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
    anna.types(b"-")  # By the input handler: the settings are others.
    anna.settles()

    def waits() -> bool:
        """Type when the terminal is full; what it held may have just moved on."""
        assert anna.prepares()
        for size in (4096, 1):  # Where no more fits, a single byte may.
            while pty.write_available(here.descriptors.master, b"x" * size):
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
