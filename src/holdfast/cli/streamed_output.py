"""The output of a command, shown as it comes, and progress while there is none.

On a terminal a line that is written anew replaces itself, as on any terminal. Elsewhere
each line is written once it is over, as it was last: a file keeps no progress bars.
Control sequences are removed, unless raw output is requested.
"""

import os
import sys
import threading
import time
from typing import Self

from holdfast.cli.session_table import age
from holdfast.term.plain_stream import PlainStream, last_state

SILENCE = 1.0
"""Seconds without output after which a sign of life is shown."""

STEP = 0.125
WHEEL = "⠋⠙⠹⠸⠼⠴⠦⠧"
PLAIN_WHEEL = "|/-\\"
_ERASE_LINE = "\r\x1b[K"


class Streamed:
    """What one command prints, on standard output."""

    def __init__(self, *, is_raw: bool = False) -> None:
        self._is_raw = is_raw
        self._on_terminal = sys.stdout is not None and sys.stdout.isatty()
        self._text = PlainStream()
        self._line = ""
        self._spinner = Spinner() if _shows_spinner() else None

    def __enter__(self) -> Self:
        """Begin to show progress, if there is a terminal."""
        if self._spinner is not None:
            self._spinner.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Write what is still held, and show no more signs."""
        if not self._is_raw:
            self._write((self._shown(self._text.end()) + self._rest()).encode())
        if self._spinner is not None:
            self._spinner.stop()

    def printed(self, raw: bytes) -> None:
        """Take what the command has printed, and show it now."""
        text = "" if self._is_raw else self._shown(self._text.feed(raw))
        self._write(raw if self._is_raw else text.encode())

    def _shown(self, text: str) -> str:
        if self._on_terminal:
            return text.replace("\r", _ERASE_LINE)
        *lines, self._line = (self._line + text).split("\n")
        # Of a line that is not over yet, what was overwritten is not kept either.
        self._line = last_state(self._line)
        return "".join(f"{last_state(one)}\n" for one in lines)

    def _rest(self) -> str:
        rest, self._line = self._line, ""
        return rest

    def _write(self, raw: bytes) -> None:
        if not raw or sys.stdout is None:
            return
        if self._spinner is not None:
            self._spinner.gives_way(raw)
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()


class Spinner:
    """A sign of life on standard error, on a line of its own, while nothing comes."""

    def __init__(self) -> None:
        encoding = (sys.stderr.encoding or "").lower().replace("-", "")
        self._wheel = WHEEL if encoding == "utf8" else PLAIN_WHEEL
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._begun_at = self._last_at = time.monotonic()
        self._is_shown = False
        self._at_line_start = True
        self._thread = threading.Thread(target=self._turn, daemon=True)

    def start(self) -> None:
        """Begin to look whether something comes."""
        self._thread.start()

    def gives_way(self, raw: bytes) -> None:
        """Make room for output, which is written next."""
        with self._lock:
            self._erase()
            self._last_at = time.monotonic()
            self._at_line_start = raw.endswith(b"\n")

    def stop(self) -> None:
        """Leave nothing behind."""
        self._over.set()
        self._thread.join()
        with self._lock:
            self._erase()

    def _turn(self) -> None:
        count = 0
        while not self._over.wait(STEP):
            with self._lock:
                now = time.monotonic()
                # In the middle of a line it would be taken for output.
                if now - self._last_at >= SILENCE and self._at_line_start:
                    count += 1
                    wheel = self._wheel[count % len(self._wheel)]
                    self._say(f"\r{wheel} running for {age(now - self._begun_at)}")
                    self._is_shown = True

    def _erase(self) -> None:
        if self._is_shown:
            self._say(_ERASE_LINE)
            self._is_shown = False

    def _say(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self._over.set()  # The terminal is gone.


def _shows_spinner() -> bool:
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    return sys.stderr is not None and sys.stderr.isatty() and not is_dumb
