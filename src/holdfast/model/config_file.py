"""Reads config.toml, and finds its mistakes.

Theory of operation
-------------------
A mistake here never stops a command: what cannot be used has its default, and is named
with its line. That is unlike a policy, of which a part is worse than nothing.

    prefix, view, shell, term, window, runtime, files, memory, cpus, pids
    [keys]            what is done = key
    [colours]         what is shown = colour
    [notifications]   bell, desktop
    [recover]         automatic, environment
    [images]          keep, size
    [reap]            after, warning, people, checkpoint, sessions, memory
    [checkpoints]     every, to
    [drain]           at-end, deadline, to
    [metrics]         listen
    [record]          mask, keep, size, age

A key that the file sets wins over the default of another; what had that key then has
none. Of two that the file sets the first wins.

Invariants, checked by tests/model/test_config_file.py and the fuzzer:

I1  No bytes raise anything.
I2  What the file does not set, or sets wrongly, has its default; but for keys, as said.
I3  An unknown name is a problem.
I4  No two things are on one key, and none is on the prefix.
"""

import re
from collections.abc import Callable, Mapping

from holdfast.model.colours import sgr_from
from holdfast.model.errors import UsageError
from holdfast.model.limits import EXPECTED, Limits, limits_from
from holdfast.model.settings import (
    COLOURS,
    FILES,
    KEYS,
    MAX_IMAGES_KEPT,
    MAX_IMAGES_SIZE,
    MAX_MASKS,
    MAX_SPAN,
    MAX_WINDOW,
    MIN_CHECKPOINTS,
    MIN_IMAGES_SIZE,
    MIN_REAP_AFTER,
    MIN_WINDOW,
    RUNTIMES,
    VIEWS,
    Reaping,
    Settings,
    bytes_from,
    bytes_told,
    key_from,
    key_told,
    loopback_from,
    seconds_from,
    seconds_told,
)
from holdfast.model.text import checked_name, printable
from holdfast.model.toml_text import Problem, parsed

MAX_FILE = 64 * 1024
"""Bytes of the file: a hundred times what it may say."""

MAX_PROBLEMS = 100
"""Problems that are listed; a file with more is something else."""

MAX_SHELL = 4096
"""Characters of the shell and its arguments."""

_UNKNOWN = "unknown name"
_TERM = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]{0,63}")
_TABLE = re.compile(r"[ \t]*\[+[ \t]*([A-Za-z0-9_-]*)")
_SETS = re.compile(
    r"""[ \t]*["']?([A-Za-z0-9_-]*)["']?[ \t]*(?:=|\.[ \t]*([A-Za-z0-9_-]*))"""
)

_USED_UP = {0x09: "Tab", 0x0A: "C-j", 0x0D: "Enter", 0x1B: "Escape"}
"""Keys in common use, which therefore cannot be the prefix."""


def read_config(raw: bytes) -> tuple[Settings, tuple[Problem, ...]]:
    """Return what is in force by this file, and everything that is wrong with it."""
    settings = Settings()
    document = parsed(raw, MAX_FILE)
    if isinstance(document, Problem):
        return settings, (document,)
    reading = _Reading(raw.decode().split("\n"), settings)
    reading.take(document)
    found = sorted(reading.problems, key=lambda one: one.line or 0)
    return settings, tuple(found[:MAX_PROBLEMS])


class _Reading:
    def __init__(self, lines: list[str], settings: Settings) -> None:
        self.problems: list[Problem] = []
        self._lines = lines
        self._settings = settings

    def take(self, document: Mapping[str, object]) -> None:
        plain: dict[str, Callable[[str, object], None]] = {
            "prefix": self._prefix,
            "view": self._view,
            "shell": self._shell,
            "term": self._term,
            "window": self._window,
            "runtime": self._runtime,
            "files": self._files,
            **dict.fromkeys(EXPECTED, self._limit),
        }
        tables: dict[str, Callable[[Mapping[str, object]], None]] = {
            "keys": self._keys,
            "colours": self._colours,
            "notifications": self._notifications,
            "recover": self._recover,
            "images": self._images,
            "reap": self._reap,
            "checkpoints": self._checkpoints,
            "drain": self._drain,
            "metrics": self._metrics,
            "record": self._record,
        }
        for name in document:
            if name not in plain and name not in tables:
                self._note("", name, _UNKNOWN)
        # The prefix comes first: no key may be on it.
        for name, read in plain.items():
            if name in document:
                read(name, document[name])
        for name, read_table in tables.items():
            table = document.get(name, {})
            if isinstance(table, dict):
                read_table(table)
            else:
                self._note("", name, f"expected a table: [{name}]")

    def _prefix(self, name: str, value: object) -> None:
        byte = key_from(value) if isinstance(value, str) else None
        if byte is None or byte >= 0x20:  # noqa: PLR2004  # control characters
            self._note("", name, 'expected a key with Ctrl, such as "C-a"')
        elif byte in _USED_UP:
            self._note("", name, f"{_USED_UP[byte]} is a key of its own")
        else:
            self._settings.prefix = byte

    def _view(self, name: str, value: object) -> None:
        if isinstance(value, str) and value in VIEWS:
            self._settings.view = value
        else:
            self._note("", name, f"expected {_listed(VIEWS)}")

    def _shell(self, name: str, value: object) -> None:
        words = [value] if isinstance(value, str) else value
        if (
            not isinstance(words, list)
            or not all(isinstance(one, str) and "\0" not in one for one in words)
            or (words and not words[0])
            or sum(map(len, words)) > MAX_SHELL
        ):
            self._note("", name, 'expected a program, or ["program", "argument"]')
        else:
            self._settings.shell = tuple(words)

    def _term(self, name: str, value: object) -> None:
        if isinstance(value, str) and _TERM.fullmatch(value):
            self._settings.term = value
        else:
            self._note("", name, 'expected the name of a terminal: "xterm-256color"')

    def _window(self, name: str, value: object) -> None:
        count = self._size("", name, value, (MIN_WINDOW, MAX_WINDOW))
        if count is not None:
            self._settings.window = count

    def _size(
        self, table: str, name: str, value: object, bounds: tuple[int, int]
    ) -> int | None:
        count = None
        if isinstance(value, str):
            count = bytes_from(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            count = value
        if count is None:
            self._note(table, name, 'expected a size such as "16M"')
        elif not bounds[0] <= count <= bounds[1]:
            least, most = map(bytes_told, bounds)
            self._note(table, name, f"expected {least} to {most}")
        else:
            return count
        return None

    def _images(self, table: Mapping[str, object]) -> None:
        for what, value in table.items():
            if what == "size":
                bounds = (MIN_IMAGES_SIZE, MAX_IMAGES_SIZE)
                count = self._size("images", what, value, bounds)
                self._settings.images_size = count or self._settings.images_size
            elif what != "keep":
                self._note("images", what, _UNKNOWN)
            elif isinstance(value, bool) or not isinstance(value, int):
                self._note("images", what, "expected a number")
            elif not 1 <= value <= MAX_IMAGES_KEPT:
                self._note("images", what, f"expected 1 to {MAX_IMAGES_KEPT}")
            else:
                self._settings.images_kept = value

    def _runtime(self, name: str, value: object) -> None:
        if isinstance(value, str) and value in RUNTIMES:
            self._settings.runtime = value
        else:
            self._note("", name, f"expected {_listed(RUNTIMES)}")

    def _files(self, name: str, value: object) -> None:
        if isinstance(value, str) and value in FILES:
            self._settings.files = value
        else:
            self._note("", name, f"expected {_listed(FILES)}")

    def _limit(self, name: str, value: object) -> None:
        one = limits_from({name: value}, lambda _, what: self._note("", name, what))
        at = [*EXPECTED].index(name)
        setattr(self._settings, Limits._fields[at], one[at])

    def _keys(self, table: Mapping[str, object]) -> None:
        settings, chosen = self._settings, dict[str, int]()
        for what, value in table.items():
            byte = key_from(value) if isinstance(value, str) else None
            taken = next((one for one, key in chosen.items() if key == byte), None)
            if what not in KEYS:
                self._note("keys", what, _UNKNOWN)
            elif value == "":
                settings.keys.pop(what)
            elif byte is None:
                self._note("keys", what, 'expected a key such as "d", "C-d" or "Tab"')
            elif byte == settings.prefix:
                self._note("keys", what, f"{key_told(byte)} is the prefix")
            elif taken is not None:
                self._note("keys", what, f"{key_told(byte)} is the key of {taken}")
            else:
                chosen[what] = byte
        taken_bytes = {settings.prefix, *chosen.values()}
        kept = {k: v for k, v in settings.keys.items() if v not in taken_bytes}
        bound = kept | chosen
        settings.keys = {what: bound[what] for what in KEYS if what in bound}

    def _colours(self, table: Mapping[str, object]) -> None:
        for what, value in table.items():
            if what not in COLOURS:
                self._note("colours", what, _UNKNOWN)
            elif not isinstance(value, str) or sgr_from(value) is None:
                self._note("colours", what, 'expected a colour: "bold white on blue"')
            else:
                self._settings.colours[what] = value

    def _notifications(self, table: Mapping[str, object]) -> None:
        for what, value in table.items():
            if what not in _NOTIFICATIONS:
                self._note("notifications", what, _UNKNOWN)
            elif not isinstance(value, bool):
                self._note("notifications", what, "expected true or false")
            elif what == "bell":
                self._settings.bell = value
            else:
                self._settings.desktop = value

    def _recover(self, table: Mapping[str, object]) -> None:
        for what, value in table.items():
            if what not in _RECOVER:
                self._note("recover", what, _UNKNOWN)
            elif not isinstance(value, bool):
                self._note("recover", what, "expected true or false")
            elif what == "automatic":
                self._settings.recovers = value
            else:
                self._settings.keeps_environment = value

    def _reap(self, table: Mapping[str, object]) -> None:
        reap = self._settings.host.reap
        for what, value in table.items():
            if what in {"people", "checkpoint"}:
                if isinstance(value, bool):
                    setattr(reap, what, value)
                else:
                    self._note("reap", what, "expected true or false")
            else:
                self._reap_bound(reap, what, value)

    def _reap_bound(self, reap: Reaping, what: str, value: object) -> None:
        if what == "after":
            reap.after = self._span("reap", what, value, MIN_REAP_AFTER) or 0.0
        elif what == "warning":
            found = self._span("reap", what, value, 0.0)
            reap.warning = reap.warning if found is None else found
        elif what == "sessions":
            reap.sessions = self._count("reap", what, value)
        elif what == "memory":
            bounds = (MIN_IMAGES_SIZE, MAX_IMAGES_SIZE)
            is_off = value in {0, "0"}
            size = None if is_off else self._size("reap", what, value, bounds)
            reap.memory = size or 0
        else:
            self._note("reap", what, _UNKNOWN)

    def _checkpoints(self, table: Mapping[str, object]) -> None:
        for what, value in table.items():
            if what == "every":
                every = self._span("checkpoints", what, value, MIN_CHECKPOINTS)
                self._settings.host.checkpoints_every = every or 0.0
            elif what == "to":
                found = self._host_name("checkpoints", what, value)
                self._settings.host.checkpoints_to = found
            else:
                self._note("checkpoints", what, _UNKNOWN)

    def _drain(self, table: Mapping[str, object]) -> None:
        host = self._settings.host
        for what, value in table.items():
            if what == "deadline":
                found = self._span("drain", what, value, 1.0)
                host.drain_deadline = found or host.drain_deadline
            elif what == "to":
                host.drain_to = self._host_name("drain", what, value)
            elif what != "at-end":
                self._note("drain", what, _UNKNOWN)
            elif not isinstance(value, bool):
                self._note("drain", what, "expected true or false")
            else:
                host.drains_at_end = value

    def _host_name(self, table: str, name: str, value: object) -> str:
        if value == "":
            return ""
        try:
            return checked_name(value if isinstance(value, str) else "\0")
        except UsageError:
            self._note(table, name, "expected the name of a host")
            return ""

    def _metrics(self, table: Mapping[str, object]) -> None:
        for what, value in table.items():
            if what != "listen":
                self._note("metrics", what, _UNKNOWN)
            elif isinstance(value, str) and (not value or loopback_from(value)):
                self._settings.host.metrics_listen = value
            else:
                self._note("metrics", what, 'expected "127.0.0.1:9464" or "[::1]:9464"')

    def _record(self, table: Mapping[str, object]) -> None:
        record = self._settings.recordings
        for what, value in table.items():
            if what == "mask":
                record.mask = self._masks(value)
            elif what == "keep":
                record.keep = self._count("record", what, value) or record.keep
            elif what == "size":
                bounds = (MIN_IMAGES_SIZE, MAX_IMAGES_SIZE)
                size = self._size("record", what, value, bounds)
                record.size = size or record.size
            elif what == "age":
                record.age = self._span("record", what, value, 1.0) or 0.0
            else:
                self._note("record", what, _UNKNOWN)

    def _masks(self, value: object) -> tuple[str, ...]:
        found = value if isinstance(value, list) else [value]
        if len(found) > MAX_MASKS or not all(map(_is_pattern, found)):
            self._note("record", "mask", "expected a list of regular expressions")
            return ()
        return tuple(map(str, found))

    def _count(self, table: str, name: str, value: object) -> int:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if is_number and isinstance(value, int) and 0 <= value <= MAX_IMAGES_KEPT:
            return value
        self._note(table, name, f"expected 0 to {MAX_IMAGES_KEPT}")
        return 0

    def _span(self, table: str, name: str, value: object, least: float) -> float | None:
        """Return a length of time; 0 is one that switches something off."""
        seconds = seconds_from(value) if isinstance(value, str) else None
        if value == 0 and not isinstance(value, bool):
            seconds = 0.0
        if seconds is None:
            self._note(table, name, 'expected a time such as "90s", "10m" or "8h"')
        elif seconds and not least <= seconds <= MAX_SPAN:
            bounds = f"{seconds_told(least)} to {seconds_told(MAX_SPAN)}"
            self._note(table, name, f"expected {bounds}")
        else:
            return seconds
        return None

    def _note(self, table: str, name: str, what: str) -> None:
        where = printable(f"{table}.{name}" if table else name, 80)
        self.problems.append(Problem(self._line_of(table, name), where, what))

    def _line_of(self, table: str, name: str) -> int | None:
        """Return the line in which a name is set; that of its table if need be."""
        section, nearest = "", None
        for number, line in enumerate(self._lines, 1):
            if (header := _TABLE.match(line)) is not None:
                section = header[1]
                if section == (table or name):
                    nearest = number
            elif (sets := _SETS.match(line)) is not None:
                path = [one for one in (section, *sets.groups()) if one]
                if path == [table, name]:
                    return number
                if path[0:1] == [table or name]:
                    nearest = nearest or number
        return nearest


def _listed(words: tuple[str, ...]) -> str:
    *some, last = (f'"{one}"' for one in words)
    return f"{', '.join(some)} or {last}"


def _is_pattern(value: object) -> bool:
    try:
        re.compile(value if isinstance(value, str) and value else "(")
    except (re.error, RecursionError, OverflowError):
        return False
    return True


_NOTIFICATIONS = frozenset({"bell", "desktop"})
_RECOVER = frozenset({"automatic", "environment"})
