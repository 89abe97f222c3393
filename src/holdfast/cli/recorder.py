"""Follows a session, and writes what it prints into a recording."""

import asyncio
import sys
import time
from pathlib import Path

import holdfast
from holdfast.core.recording.cast_writer import CastWriter
from holdfast.linux.stored.recordings import RecordingFile
from holdfast.model.errors import HoldfastError, Unavailable
from holdfast.model.text import printable
from holdfast.sdk import events as happened
from holdfast.sdk.session import Session
from holdfast.sdk.values import Screen, SessionInfo


class Recorder:
    """One recording, from its first line to its last."""

    def __init__(
        self, writer: CastWriter, path: Path, *, replaces: bool, term: str
    ) -> None:
        self._writer = writer
        self._path = path
        self._replaces = replaces
        self._term = term
        self._began = time.monotonic()
        self._status: int | None = None

    async def run(
        self, session: str, stopped: asyncio.Event, *, is_from_start: bool
    ) -> None:
        """Record until the session ends, or until it is `stopped`.

        Raises:
            HoldfastError: The session cannot be watched.
            OSError: The file cannot be written.

        """
        where, _, name = session.rpartition("/")
        async with holdfast.connect(where) as host:
            info = await host.find(name)
            # Not entered: of a session that has ended there is something to record.
            watched = host.attach(info, observe=True)
            screen = None if is_from_start else await _screen_of(watched)
            after = None if screen is None else screen.offset
            if is_from_start:
                after = await _start_of(watched)
            file = RecordingFile(self._path, replaces=self._replaces)
            try:
                self._begin(file, info, screen)
                await self._follow(file, watched, after, stopped)
                file.write(self._writer.ended(self._status, self._now()))
            finally:
                file.close()

    def _begin(
        self, file: RecordingFile, info: SessionInfo, screen: Screen | None
    ) -> None:
        size = info.size if screen is None else screen.size
        self._began = time.monotonic()
        wall = time.time_ns() / 1e9
        file.write([self._writer.header(size, self._term, info.label, wall)])
        if screen is not None:
            file.write(self._writer.shown(painted(screen), 0.0))
        told = printable(f"recording into {self._path}; Ctrl-C stops it", 4096)
        print(told, file=sys.stderr, flush=True)

    async def _follow(
        self,
        file: RecordingFile,
        session: Session,
        after: int | None,
        stopped: asyncio.Event,
    ) -> None:
        failed: list[HoldfastError | OSError] = []

        async def record() -> None:
            try:
                async for event in session.events(after=after):
                    file.write(self._lines(event))
            except (HoldfastError, OSError) as error:
                failed.append(error)

        async with asyncio.TaskGroup() as group:
            recording = group.create_task(record())
            ending = group.create_task(stopped.wait())
            await asyncio.wait({recording, ending}, return_when=asyncio.FIRST_COMPLETED)
            recording.cancel()
            ending.cancel()
        if failed:
            raise failed[0]

    def _lines(self, event: happened.Event) -> list[str]:
        writer, at = self._writer, self._now()
        match event:
            case happened.Output(_, data):
                return writer.printed(data, at)
            case happened.Gap(start, end):
                return writer.missed(end - start, at)
            case happened.Resized(_, size):
                return writer.resized(size, at)
            case happened.CommandStarted(command):
                return writer.marked(command.line, at)
            case happened.CommandEnded(command):
                status = "unknown" if command.status is None else command.status
                return writer.marked(f"status {status}: {command.line}", at)
            case happened.Exited(status):
                self._status = status
            case _:
                pass
        return []

    def _now(self) -> float:
        return time.monotonic() - self._began


async def _screen_of(session: Session) -> Screen | None:
    """Return what the session shows; None if nobody can say, and we do without."""
    try:
        return await session.screen()
    except Unavailable:
        return None


async def _start_of(session: Session) -> int:
    """Return the first byte of output that is still kept."""
    return (await session.read(max_bytes=1)).offset


def painted(screen: Screen) -> str:
    """Return what shows a screen's text on an empty terminal, without its colours."""
    lines = "\r\n".join(line.rstrip() for line in screen.lines)
    row, column = screen.cursor.row + 1, screen.cursor.column + 1
    return f"\x1b[H\x1b[2J{lines}\x1b[{row};{column}H"
