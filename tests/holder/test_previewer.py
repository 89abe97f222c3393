"""The previewer, with a program of the test's in place of our own command."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.holder import previewer
from holdfast.linux import packets

WANTED: packets.Packet = {"do": "preview", "id": "s_x", "line": "make clean"}
PATIENCE = 20.0

TIDY = 'trap "echo tidy > $0; exit" INT; echo ready > $0; while :; do sleep 0.01; done'
"""Discards what it has made when it is told to end; $0 is a file."""

STUBBORN = 'trap "" INT; echo ready > $0; while :; do sleep 0.01; done'


class Asked:
    """A previewer at the end of a link, and what it started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, note: Path) -> None:
        self.near, self._far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.near.settimeout(PATIENCE)
        self.note = note
        self.wanted: list[tuple[str, str, int]] = []
        self._monkeypatch = monkeypatch
        os.mkfifo(note)

    def runs(self, *program: str) -> None:
        """Say what is started in place of our own command."""

        def started(session: str, text: str, timeout: int) -> list[str]:
            self.wanted.append((session, text, timeout))
            return [*program]

        self._monkeypatch.setattr(previewer, "previewer_program", started)

    def serve(self) -> None:
        """Have it done, to its end."""
        previewer.serve(self._far, WANTED)

    def said(self) -> tuple[packets.Packet, bytes]:
        """Return what the holder is told, and what is in the memory beside it."""
        heard = packets.receive(self.near)
        assert heard is not None
        packet, (memory,) = heard
        found = os.pread(memory, previewer.MAX_SAID, 0)
        os.close(memory)
        return packet, found

    def is_told_nothing(self) -> bool:
        """Tell whether nothing came."""
        self._far.close()
        return packets.receive(self.near) is None

    def close(self) -> None:
        """Be gone."""
        self.near.close()
        self._far.close()


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    made = Asked(monkeypatch, tmp_path / "note")
    yield made
    made.close()


def test_what_the_command_prints_is_told_in_shared_memory(asked: Asked) -> None:
    asked.runs("sh", "-c", "echo one; echo two >&2; exit 3")

    asked.serve()

    assert asked.wanted == [("s_x", "make clean", previewer.RUNTIME)]
    assert asked.said() == ({"say": "previewed", "size": 8}, b"one\ntwo\n")


def test_the_command_has_no_variable_that_could_name_an_operator(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_AS", "somebody")
    monkeypatch.setenv("HOLDFAST_STATE_DIR", "/of/the/session")
    asked.runs("sh", "-c", 'pwd; echo "$HOLDFAST_AS,$HOLDFAST_STATE_DIR"; read x; :')

    asked.serve()

    assert asked.said()[1] == b"/\n,/of/the/session\n"


def test_when_nobody_waits_the_command_is_told_to_end_and_may_tidy_up(
    asked: Asked,
) -> None:
    asked.runs("sh", "-c", TIDY, str(asked.note))
    serving = threading.Thread(target=asked.serve)
    serving.start()
    assert asked.note.read_text() == "ready\n"

    asked.near.close()

    assert asked.note.read_text() == "tidy\n"
    serving.join(PATIENCE)
    assert not serving.is_alive()


def test_a_command_that_does_not_end_when_it_is_told_to_is_ended(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previewer, "ENDING", 0.05)
    asked.runs("sh", "-c", STUBBORN, str(asked.note))
    serving = threading.Thread(target=asked.serve)
    serving.start()
    assert asked.note.read_text() == "ready\n"

    asked.near.close()

    serving.join(PATIENCE)
    assert not serving.is_alive()


def test_what_takes_too_long_is_ended_and_nothing_is_told(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previewer, "PATIENCE", 0.05)
    asked.runs("sleep", "600")

    asked.serve()

    assert asked.is_told_nothing()


def test_a_command_that_prints_without_end_is_ended_and_nothing_is_told(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previewer, "MAX_SAID", 1000)
    asked.runs("yes")

    asked.serve()

    assert asked.is_told_nothing()
