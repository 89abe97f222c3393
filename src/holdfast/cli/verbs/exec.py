"""`holdfast exec`: run one command on a remote host, and return its exit status.

It runs in a session of its own, which is judged as every start is, and is gone when
the command does. While it runs, operators with the right can attach to it.
"""

import argparse
import contextlib
import fcntl
import os
import signal
import stat
import struct
import sys
import termios
from collections.abc import Iterator

from holdfast.cli import new_request
from holdfast.cli.new_request import NewOptions
from holdfast.cli.streamed_output import Streamed
from holdfast.cli.verbs.end import end
from holdfast.cli.verbs.new import await_approval
from holdfast.client import keeper, session_location
from holdfast.client.driver import attachment_to, converse
from holdfast.client.proven_requests import proven_by_us
from holdfast.core.client.stream_wait import Whole
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.errors import HoldfastError, InputNotPassedOn
from holdfast.model.ids import SessionId
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created, Creation, Forget
from holdfast.model.text import checked_name, printable
from holdfast.wire.messages import Mode

SHELL = ("/bin/sh", "-c")
"""What runs a line that is one argument."""

ENDING = (signal.SIGHUP, signal.SIGTERM)
"""What ends us, and so what we run, besides Ctrl-C."""

SIGNALLED = 128
"""What shells add to the number of a signal."""


class Interrupted(Exception):  # nothing has failed
    """A signal ends us; its number."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("host", metavar="HOST")
    parser.add_argument("--cwd", metavar="D")
    parser.add_argument("--env", metavar="K=V", action="append", default=[])
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--timeout", metavar="S", type=float, default=APPROVAL)
    parser.add_argument("command", metavar="CMD", nargs="+")


def run(options: argparse.Namespace) -> int:
    """Run the command there, show what it prints, and return its status."""
    _demand_no_input()
    host = checked_name(options.host.rstrip("/"))
    asked = NewOptions(_words(options.command), f"exec-{os.urandom(4).hex()}")
    asked.on, asked.cwd, asked.env = host, options.cwd, options.env
    asked.no_integration = True
    creation = proven_by_us(record_of(Creation, new_request.asked(asked)))
    with _interruptible():
        try:
            made = record_of(Created, keeper.request(creation, host=host))
            if made.state == "starting":
                await_approval(made, host, options.timeout)
            status = _watched(SessionId(made.id), host, is_raw=options.raw)
        except (KeyboardInterrupt, Interrupted) as reason:
            number = reason.args[0] if reason.args else signal.SIGINT
            _end(f"{host}/{asked.name}", number)
            return SIGNALLED + int(number)
    with contextlib.suppress(HoldfastError):
        keeper.request(Forget(made.id), host=host)
    return status if status >= 0 else SIGNALLED - status


def _demand_no_input() -> None:
    """Do nothing if there is nothing to be read from standard input.

    What would be typed into a terminal is not what a pipe would give: control
    characters are obeyed, lines echoed and cut, and there is no end.

    Raises:
        UsageError: There is something.

    """
    try:
        if os.isatty(0):
            return
        found = os.fstat(0)
        if stat.S_ISREG(found.st_mode):
            left = found.st_size - os.lseek(0, 0, os.SEEK_CUR)
        else:
            left = struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, bytes(4)))[0]
    except OSError:
        return  # It is closed, or /dev/null.
    if left > 0:
        raise InputNotPassedOn("exec")


def _words(command: list[str]) -> list[str]:
    """Return what is executed: a line that is one argument is the shell's."""
    (first, *more) = command
    is_line = not more and any(not (one.isalnum() or one in "._+-/") for one in first)
    return [*SHELL, first] if is_line else command


def _watched(session: SessionId, host: str, *, is_raw: bool) -> int:
    """Show what a session prints; return how it ended."""
    session_location.settle(session, host)
    with Streamed(is_raw=is_raw) as shown:
        whole = Whole(attachment_to(session, Mode.OBSERVE), shown.printed)
        status = converse(session, whole)
    if whole.missing:
        lost = f"{whole.missing} bytes were gone before they could be read"
        print(f"holdfast: {lost}", file=sys.stderr)
    return status


def _end(address: str, number: int) -> None:
    """End the command if it was started; the user waits for no more than that."""
    try:
        end(keeper.find(address), number)
    except HoldfastError as error:
        why = printable(str(error))
        print(f"holdfast: {address} may still be running: {why}", file=sys.stderr)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let signals that would end us end the command first."""

    def interrupt(number: int, _frame: object) -> None:
        raise Interrupted(number)

    before = {one: signal.signal(one, interrupt) for one in ENDING}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
