"""`holdfast wait`: wait for output, a prompt, a port, for quiet, or for the end."""

import argparse
import json
import re
import time
from collections.abc import Iterator

from holdfast.cli.manual import describe
from holdfast.cli.read import attach_after
from holdfast.cli.watching import condition_from, wait_for
from holdfast.client import keeper
from holdfast.client.attaching import attachment_to
from holdfast.client.connection import Connection
from holdfast.model.errors import (
    MalformedArgument,
    NegativeOffset,
    SessionLost,
    SessionOver,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.text import printable
from holdfast.wire.codec import Message
from holdfast.wire.messages import Exited, Lost, Mode, Output

MAX_MATCH = 64 * 1024
"""Bytes that one match can be long: what is older is let go."""

FOREVER = float("inf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Wait until a session has printed something that fits PATTERN, has printed"
        " nothing for a while (quiet), or has ended (exit); until its shell is at its"
        " prompt (prompt), or a program waits for somebody to type (input; a password"
        " counts too) or for a password (secret); until a process of it listens on a"
        " port (port:N), or one has ended (pid:N). What is still kept of the stream"
        " counts as printed; --from leaves out what was before. Whether it waits is"
        " the kernel's word, as in `holdfast state`.",
        {
            "holdfast wait web --for 'listening on'": "a regular expression",
            "holdfast wait web --for quiet --quiet-for 2": "two seconds of silence",
            "holdfast wait web --for exit --timeout 60": "the end of its command",
            "holdfast wait web --for prompt": "the shell takes a command again",
            "holdfast wait web --for port:3000": "something listens there",
            "holdfast wait web --for '[q]uiet'": "the word quiet itself",
        },
        {
            0: "it came",
            64: "the session ended first, or there is none",
            75: "it did not come in time",
        },
    )
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument(
        "--for",
        dest="what",
        metavar="WHAT",
        required=True,
        help="prompt, input, secret, port:N, pid:N, quiet, exit, or a regular"
        " expression over bytes",
    )
    parser.add_argument(
        "--timeout", metavar="S", type=float, help="seconds to wait at most (for ever)"
    )
    parser.add_argument(
        "--from", dest="start", metavar="OFFSET", type=int, help="look from here on"
    )
    parser.add_argument(
        "--quiet-for",
        metavar="S",
        type=float,
        default=1.0,
        help="seconds that are quiet (1)",
    )
    parser.add_argument("--json", action="store_true", help="print facts for programs")


def run(options: argparse.Namespace) -> int:
    """Wait for it, and say where it is."""
    looked_for = condition_from(options.what)
    pattern = None if looked_for is not None else _pattern(options.what)
    if options.start is not None and options.start < 0:
        raise NegativeOffset(options.start)
    session = keeper.find(options.session)
    timeout = FOREVER if options.timeout is None else max(0.0, options.timeout)
    if options.what == "exit" and session.exit is not None:
        facts: dict[str, object] = {"exit": session.exit}
    else:
        wait = Wait(session.id, time.monotonic() + timeout)
        if looked_for is not None:
            facts = wait_for(session.id, looked_for, time.monotonic() + timeout)
        elif pattern is not None:
            facts = wait.for_match(pattern, options.start)
        elif options.what == "quiet":
            facts = wait.for_quiet(options.quiet_for)
        else:
            facts = wait.for_exit()
    if not facts:
        raise WaitedInVain(printable(options.what, 64), int(timeout * 1000))
    if options.json:
        print(json.dumps({"session": session.id, **facts}))
    return 0


class Wait:
    """One session, watched until something comes; empty facts mean it did not."""

    def __init__(self, session: str, deadline: float) -> None:
        self._attachment = attachment_to(session, Mode.OBSERVE)
        self._deadline = deadline

    def for_match(
        self, pattern: re.Pattern[bytes], start: int | None
    ) -> dict[str, object]:
        """Wait for output that fits `pattern`; say where it stands and ends."""
        held = bytearray()
        for message in self._watch(start, FOREVER):
            match message:
                case Output():
                    held += self._attachment.heard(message)
                    if found := pattern.search(held):
                        begin = (self._attachment.offset or 0) - len(held)
                        return {
                            "offset": begin + found.start(),
                            "next": begin + found.end(),
                        }
                    del held[:-MAX_MATCH]
                case Exited():
                    raise SessionOver("exited, and it had not come")
                case _:
                    pass
        return {}

    def for_quiet(self, quiet: float) -> dict[str, object]:
        """Wait until nothing was printed for `quiet` seconds."""
        for message in self._watch(None, quiet):
            if message is None or isinstance(message, Exited):
                return {"offset": self._attachment.offset or 0}
            self._attachment.heard(message)
        return {}

    def for_exit(self) -> dict[str, object]:
        """Wait until the leader has exited."""
        for message in self._watch(None, FOREVER):
            if isinstance(message, Exited):
                return {"exit": message.status}
            if message is not None:
                self._attachment.heard(message)
        return {}

    def _watch(self, start: int | None, quiet: float) -> Iterator[Message | None]:
        """Return what comes until the deadline; None after `quiet` without output.

        A holder that dies is waited for, and watched on from the last byte.
        """
        while time.monotonic() < self._deadline:
            link, _ = attach_after(self._attachment, start)
            try:
                with link:
                    yield from self._hear(link, quiet)
                    return
            except SessionUnreachable:
                start = self._attachment.offset

    def _hear(self, link: Connection, quiet: float) -> Iterator[Message | None]:
        quiet_at = time.monotonic() + quiet
        while (now := time.monotonic()) < self._deadline:
            left = min(self._deadline, quiet_at) - now
            message = link.receive(None if left == FOREVER else max(0.0, left))
            if isinstance(message, Lost):
                raise SessionLost(self._attachment.incarnation or 1)
            if isinstance(message, Output):
                quiet_at = time.monotonic() + quiet
            if message is not None or time.monotonic() >= quiet_at:
                yield message


def _pattern(what: str) -> re.Pattern[bytes] | None:
    if what in ("quiet", "exit"):
        return None
    try:
        return re.compile(what.encode("utf-8", "surrogateescape"))
    except re.error as error:
        raise MalformedArgument(
            printable(what, 64), f"a pattern: {printable(str(error))}"
        ) from None
