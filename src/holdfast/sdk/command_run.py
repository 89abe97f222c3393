"""One command in a session's shell, from its first key to its end.

What to send and when it is over, `core.client.command_run` decides. The client that
types exists for this command only; it uses our standing link, if there is one.
"""

import asyncio
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.client.command_run import client_of
from holdfast.client.driver import attachment_to
from holdfast.core.client import questions
from holdfast.core.client.command_output import Ran
from holdfast.core.client.command_run import CommandRun, Wish
from holdfast.core.client.repl_run import ReplRun
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model import errors
from holdfast.model.ids import SessionId
from holdfast.model.inputs import shell_line
from holdfast.model.text import printable
from holdfast.sdk.standing_link import Line
from holdfast.sdk.values import CommandResult, Stop

if TYPE_CHECKING:
    from holdfast.sdk.host import Host

HEAD = 4
"""Of what is kept of a long output, one part in so many is its beginning."""

GOES_ON = "the line was typed; what it started goes on in the session"
MAY_GO_ON = "the line was sent; if it was typed, what it started goes on in the session"


class Asked(NamedTuple):
    """What to run, for how long to wait, and what makes a repeat the same."""

    command: str
    timeout: float | None
    key: str | None
    wish: Wish


def wish_from(
    limit: int,
    expect: str | bytes | re.Pattern[bytes] | None,
    *,
    until_input: bool,
    approval: float = APPROVAL,
) -> Wish:
    """Return when to stop waiting, and how much to keep.

    Raises:
        UsageError: A number or a pattern is none.

    """
    if limit < 1:
        raise errors.MalformedArgument(str(limit), "a number of bytes, 1 or more")
    pattern = None if expect is None else pattern_from(expect)
    return Wish(limit, pattern, until_input, approval, limit // HEAD)


def pattern_from(wanted: str | bytes | re.Pattern[bytes]) -> re.Pattern[bytes]:
    """Return a regular expression over the bytes of the stream.

    Raises:
        UsageError: It is none.

    """
    if isinstance(wanted, re.Pattern):
        return wanted
    raw = (
        wanted.encode("utf-8", "surrogateescape") if isinstance(wanted, str) else wanted
    )
    try:
        return re.compile(raw)
    except re.error as error:
        why = f"a pattern: {printable(str(error))}"
        raise errors.MalformedArgument(printable(repr(wanted), 64), why) from None


async def run(
    host: "Host", session: SessionId, asked: Asked, line: Line | None = None
) -> CommandResult:
    """Type a line at the prompt, once, and wait for what is wished.

    An interpreter that has no marks is run in by its prompt.

    Raises:
        Unavailable: The shell is not at its prompt.
        Unsettled: It was typed, and what came of it is not known, or it goes on.
        HoldfastError: It was refused, and why.

    """
    now = asyncio.get_running_loop().time()
    try:
        ran = await _run_in_shell(host, session, asked, line)
    except (errors.NoMarks, errors.NotAtPrompt) as refused:
        if asked.key is not None or asked.wish.expected is not None:
            raise  # Without marks nobody knows what came of an earlier one.
        until = math.inf if asked.timeout is None else now + asked.timeout
        typed, view = shell_line(asked.command), attachment_to(session)
        made = ReplRun(view, typed, asked.wish, refused, now=now, deadline=until)
        ran = await host.converse(session, made)
    waited = asyncio.get_running_loop().time() - now
    return _result(asked.command, ran, round(waited * 1000))


async def _run_in_shell(
    host: "Host", session: SessionId, asked: Asked, line: Line | None
) -> Ran:
    now = asyncio.get_running_loop().time()
    client = client_of(session, host.way.us, asked.key)
    typed = shell_line(asked.command)
    until = math.inf if asked.timeout is None else now + asked.timeout

    def begun() -> CommandRun:
        attachment = attachment_to(session, client=client)
        return CommandRun(attachment, typed, asked.wish, now=now, deadline=until)

    made = begun()
    try:
        if line is None or not line.is_attached or line.is_running:
            return await host.converse(session, made)
        return await _run_on_standing_link(host, line, made, begun)
    except errors.InputIdReused:
        raise errors.KeyUsed(printable(asked.key or "", 64)) from None
    except asyncio.CancelledError as error:
        if made.is_typed:
            error.add_note(GOES_ON)
        elif made.attachment.has_sent:
            error.add_note(MAY_GO_ON)
        raise


async def _run_on_standing_link(
    host: "Host", line: Line, made: CommandRun, begun: Callable[[], CommandRun]
) -> Ran:
    """Run it on our standing link, which sees what is printed from now on."""
    line.is_running = True
    try:
        client, session = made.attachment.client, made.attachment.session
        (report,) = await line.ask(questions.reports(client))
        if report.command is not None:  # Its output is read again from there.
            return await host.converse(session, made)
        try:
            return await line.carry(made)
        except (
            errors.UnexpectedMessage
        ):  # The holder is of older code, and has taken nothing.
            return await host.converse(session, begun())
    finally:
        line.is_running = False


def _result(line: str, ran: Ran, waited_ms: int) -> CommandResult:
    command = ran.command
    ran.demand_settled(waited_ms)
    return CommandResult(
        command.line or line,
        command.status,
        ran.output,
        command.duration_ms / 1000,
        command.cwd,
        ran.left_out,
        command.start,
        command.end,
        command.number,
        Stop(ran.stop.value),
        ran.state,
        ran.head,
    )
