"""`holdfast play`: play a recording in this terminal."""

import argparse
import contextlib
import math
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from holdfast.cli.modes import ModeWatch
from holdfast.core.recording import cast_reader
from holdfast.core.recording.cast_reader import Header, Recorded
from holdfast.core.recording.player import Player
from holdfast.model.errors import MalformedArgument
from holdfast.model.text import printable
from holdfast.term.queries import QueryFilter

MAX_SPEED = 1000.0

PAUSE, STEP, JUMP, QUIT = b" ", b".", b"]", b"q\x03"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--speed", metavar="X", type=float, default=1.0)
    parser.add_argument("--idle-limit", metavar="S", type=float)


def run(options: argparse.Namespace) -> int:
    """Play it to its end, or until q is pressed."""
    if not 0 < options.speed <= MAX_SPEED:
        raise MalformedArgument(str(options.speed), "a speed above 0, up to 1000")
    limit = options.idle_limit
    if limit is not None and not limit >= 0:
        raise MalformedArgument(str(limit), "a number of seconds")
    try:
        with options.file.open(
            encoding="utf-8", errors="replace", newline="\n"
        ) as file:
            header = cast_reader.read_header(file.readline(cast_reader.MAX_LINE + 1))
            limit = header.idle_limit if limit is None else limit
            player = Player(
                _events(file),
                time.monotonic(),
                speed=options.speed,
                idle_limit=math.inf if limit is None else limit,
            )
            _warn_of_size(header)
            with _keys() as keyboard:
                Screening(player, keyboard).run()
    except OSError as error:
        why = f"a recording that can be read: {error.strerror}"
        raise MalformedArgument(str(options.file), why) from error
    return 0


def _events(file: TextIO) -> Iterator[Recorded]:
    number = 1
    while line := file.readline(cast_reader.MAX_LINE + 1):
        number += 1
        event = cast_reader.read_event(line, number)
        if event is not None:
            yield event


def _warn_of_size(header: Header) -> None:
    with contextlib.suppress(OSError, ValueError):
        here = os.get_terminal_size(sys.stdout.fileno())
        size = header.size
        if here.columns < size.columns or here.lines < size.rows:
            told = f"this terminal is smaller than {size.columns}x{size.rows}"
            print(printable(told, 200), file=sys.stderr)


@contextlib.contextmanager
def _keys() -> Iterator[int | None]:
    """Yield where keys are read from, one by one; None if there is no terminal."""
    fd = None
    with contextlib.suppress(OSError, ValueError, AttributeError):
        fd = sys.stdin.fileno() if sys.stdin.isatty() else None
    if fd is None:
        yield None
        return
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd)
    try:
        yield fd
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


class Screening:
    """Shows what a player says, and passes on the keys."""

    def __init__(self, player: Player, keyboard: int | None) -> None:
        self._player = player
        self._keyboard = keyboard
        self._queries = QueryFilter()
        self._modes = ModeWatch()

    def run(self) -> None:
        """Play until the end, or until it is left; the terminal is as before."""
        try:
            while not self._player.is_over:
                self._show(self._player.tick(time.monotonic()))
                if not self._player.is_over and self._is_left():
                    break
        except KeyboardInterrupt:
            pass
        finally:
            if sys.stdout.isatty():
                self._put(self._modes.undo())

    def _is_left(self) -> bool:
        """Wait for the next event or a key; tell whether that is the end."""
        due = self._player.next_deadline()
        wait = None if due is None else max(0.0, due - time.monotonic())
        if self._keyboard is None:
            time.sleep(wait or 0.0)
            return False
        if not select.select([self._keyboard], [], [], wait)[0]:
            return False
        return self._pressed(os.read(self._keyboard, 1))

    def _pressed(self, key: bytes) -> bool:
        now = time.monotonic()
        if key == PAUSE:
            self._player.toggle_pause(now)
        elif key == STEP:
            self._show(self._player.step(now))
        elif key == JUMP:
            self._show(self._player.jump(now))
        return not key or key in QUIT

    def _show(self, text: str) -> None:
        # A terminal would answer a query as if it had been typed.
        shown = self._queries.feed(text.encode("utf-8", "replace")).visible
        self._modes.feed(shown)
        self._put(shown)

    @staticmethod
    def _put(data: bytes) -> None:
        if data:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
