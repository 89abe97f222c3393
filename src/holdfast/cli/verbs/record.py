"""`holdfast record`: record what a session prints, as an asciicast file."""

import argparse
import asyncio
import os
import re
import signal
import sys
import time
from pathlib import Path

from holdfast.cli.recorder import Recorder
from holdfast.core.recording.cast_writer import CastWriter
from holdfast.core.recording.masks import Masks
from holdfast.core.recording.retention import Bounds
from holdfast.linux.stored import config, recordings
from holdfast.model.errors import MalformedArgument
from holdfast.model.text import printable

EXIT_DISK = 74

START, NOW = "start", "now"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("file", metavar="FILE", nargs="?", type=Path)
    parser.add_argument("--from", dest="start", choices=(START, NOW), default=NOW)
    parser.add_argument("--mask", metavar="PATTERN", action="append", default=[])
    parser.add_argument("--force", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Record until the session ends, or a signal comes."""
    settings = config.settings()
    writer = CastWriter(_masks([*settings.recordings.mask, *options.mask]))
    path = options.file or _usual_path(options.session)
    recorder = Recorder(writer, path, replaces=options.force, term=settings.term)
    try:
        asyncio.run(_recorded(recorder, options))
    except OSError as error:
        told = f"holdfast: {path}: {error.strerror or error}"
        print(printable(told, 500), file=sys.stderr)
        return EXIT_DISK
    if options.file is None:
        kept = settings.recordings
        bounds = Bounds(kept.keep, kept.size, kept.age)
        for name in recordings.clear_away(bounds):
            told = f"{printable(name, 200)} was removed: too old, or too many"
            print(told, file=sys.stderr)
    return 0


async def _recorded(recorder: Recorder, options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    is_from_start = options.start == START
    await recorder.run(options.session, stopped, is_from_start=is_from_start)


def _masks(patterns: list[str]) -> Masks:
    try:
        return Masks(patterns)
    except re.error as error:
        raise MalformedArgument("--mask", f"a regular expression: {error}") from None


def _usual_path(session: str) -> Path:
    name = "".join(one if one.isalnum() or one in "-_" else "_" for one in session)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime())
    stem = f"{name[:64]}-{stamp}-{os.getpid()}"
    return recordings.recordings_dir() / f"{stem}{recordings.SUFFIX}"
