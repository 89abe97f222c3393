"""One command in a session's shell, from its first key to its end.

What to send and when it is over, `client.errand` decides; here are the link and the
clock. Everything goes over a link of its own, because the client that types exists
for this command only.
"""

import asyncio
import contextlib
import math
import os
import re
from typing import NamedTuple

from holdfast.client.attachment import APPROVAL_PATIENCE
from holdfast.client.commands import Ran, keyed_client
from holdfast.client.commands import Stop as Stopped
from holdfast.client.errand import Errand, Wish
from holdfast.model.errors import (
    CommandGoesOn,
    EndUnknown,
    HoldfastError,
    InputIdReused,
    KeyUsed,
    LineTooLong,
    MalformedArgument,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.model.ids import ENTROPY, ClientId, SessionId, client_id
from holdfast.model.inputs import MAX_INPUT
from holdfast.model.text import printable
from holdfast.sdk.link import Link, attach, sign_off
from holdfast.sdk.values import CommandResult, Stop
from holdfast.sdk.ways import Way
from holdfast.wire.codec import error_from
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.company import Presence
from holdfast.wire.messages import Refuse

MAX_KEY = 256
"""Characters of a key."""

LETTING_GO = 5.0
"""Seconds for the holder to say that the turn was dropped. Left too early, what is
dropped later could be a turn that we have taken since."""

STEP = 0.05
"""Seconds until a link is tried again."""

GOES_ON = "the line was typed; what it started goes on in the session"
MAY_GO_ON = "the line was sent; if it was typed, what it started goes on in the session"

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


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
    approval: float = APPROVAL_PATIENCE,
) -> Wish:
    """Return when to stop waiting, and how much to keep.

    Raises:
        UsageError: A number or a pattern is none.

    """
    if limit < 1:
        raise MalformedArgument(str(limit), "a number of bytes, 1 or more")
    pattern = None if expect is None else pattern_from(expect)
    return Wish(limit, pattern, until_input, approval)


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
        raise MalformedArgument(printable(repr(wanted), 64), why) from None


async def run(way: Way, session: SessionId, asked: Asked) -> CommandResult:
    """Type a line at the prompt, once, and wait for what is wished.

    Raises:
        Unavailable: The shell is not at its prompt.
        Unsettled: It was typed, and what came of it is not known, or it goes on.
        HoldfastError: It was refused, and why.

    """
    now = asyncio.get_running_loop().time()
    errand = Errand(
        _client(way, session, asked.key),
        session,
        _line(asked.command),
        asked.wish,
        now=now,
        deadline=math.inf if asked.timeout is None else now + asked.timeout,
    )
    try:
        ran = await _done(way, session, errand)
    except InputIdReused:
        raise KeyUsed(printable(asked.key or "", 64)) from None
    except asyncio.CancelledError as error:
        if errand.is_typed:
            error.add_note(GOES_ON)
        elif errand.attachment.open:
            error.add_note(MAY_GO_ON)
        raise
    waited = asyncio.get_running_loop().time() - now
    return _result(asked.command, ran, round(waited * 1000))


async def _done(way: Way, session: SessionId, errand: Errand) -> Ran:
    loop = asyncio.get_running_loop()
    give_up_at = math.inf
    while True:
        try:
            async with await Link.open(way, session) as link:
                try:
                    await _attach(errand, link)
                    give_up_at = math.inf
                    return await _follow(errand, link, way)
                finally:
                    if errand.is_typed or errand.ran is not None:
                        await sign_off(link, errand.attachment, await way.pen())
                    await _let_go(errand, link)
        except SessionUnreachable:
            now = loop.time()
            give_up_at = min(give_up_at, now + way.patience)
            if now >= give_up_at or not errand.may_go_on(now):
                raise
        await asyncio.sleep(STEP)


async def _attach(errand: Errand, link: Link) -> None:
    if clients := errand.asks_first:
        await link.send(*map(CommandRequest, clients))
        async with link.in_time("it does not say where its shell is"):
            errand.reported(await _report(link), await _report(link))
    attached = await attach(link, errand.attachment)
    await link.send(*errand.attached(attached, asyncio.get_running_loop().time()))


async def _report(link: Link) -> CommandReport:
    message = await link.receive()
    match message:
        case CommandReport():
            return message
        case Refuse():
            raise error_from(message)
        case _:
            raise UnexpectedMessage(type(message).__name__, "asking for a command")


async def _follow(errand: Errand, link: Link, way: Way) -> Ran:
    loop = asyncio.get_running_loop()
    while errand.ran is None:
        signing = errand.attachment.signing
        if signing.wait(loop.time()) == 0:
            said = signing.sign(await way.pen())
            await link.send(*([] if said is None else [said]))
        due = errand.next_deadline(loop.time())
        try:
            async with asyncio.timeout_at(None if due == math.inf else due):
                message = await link.receive()
        except TimeoutError:
            await link.send(*errand.tick(loop.time()))
            continue
        await link.send(*errand.hear(message, loop.time()))
        if errand.ran is None:
            await link.send(*errand.tick(loop.time()))
    return errand.ran


async def _let_go(errand: Errand, link: Link) -> None:
    last = errand.let_go()
    if not last:
        return
    with contextlib.suppress(HoldfastError, TimeoutError):
        async with asyncio.timeout(LETTING_GO):
            await link.send(*last)
            while not isinstance(await link.receive(), Presence):
                pass


def _result(line: str, ran: Ran, waited_ms: int) -> CommandResult:
    command = ran.command
    if ran.stop is Stopped.LATE:
        raise CommandGoesOn(command.start, waited_ms, ran.state or "not known")
    if ran.stop is Stopped.ENDED and command.status is None:
        raise EndUnknown(command.number)
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
    )


def _client(way: Way, session: SessionId, key: str | None) -> ClientId:
    if key is None:
        return client_id(os.urandom(ENTROPY))
    if not 0 < len(key) <= MAX_KEY:
        wanted = f"a key of 1 to {MAX_KEY} characters"
        raise MalformedArgument(printable(key, 64), wanted)
    return keyed_client(session, way.us, key)


def _line(text: str) -> bytes:
    # A newline would make it several commands, a tab would be completed, and any
    # other control character be a key.
    if not text.strip() or _CONTROL.search(text):
        raise MalformedArgument(
            printable(text, 64),
            "one line for a shell: no newline, tab or other control character; join"
            " commands with `;`, or put them into a file and run that",
        )
    line = os.fsencode(text)
    if len(line) >= MAX_INPUT:  # Enter comes with it.
        raise LineTooLong(len(line), MAX_INPUT - 1)
    return line
