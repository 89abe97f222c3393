"""The tools that act: each first records the agent's intent."""

import asyncio
import contextlib
import signal as signals
from collections.abc import Awaitable
from typing import TypeVar

from holdfast.mcp import contracts, image_output, read_tools, tool_output
from holdfast.mcp.tool_calls import Call, label
from holdfast.mcp.tool_output import Facts
from holdfast.model.errors import CommandGoesOn, HoldfastError, MalformedArgument
from holdfast.model.ids import ActorId
from holdfast.model.text import printable
from holdfast.sdk.exported import Entry, EntryKind, bytes_of
from holdfast.sdk.session import Session

Result = TypeVar("Result")

RECENT = 512
"""Entries searched for the last of our acts."""

NOT_STOPPED = (
    "was cancelled after the line was typed: the command was not stopped. `state`"
    " says whether it is still running, `log` has its exit status once it has ended,"
    " and `signal` interrupts it."
)
GONE = (
    "Its former processes and their memory, shell variables and unsubmitted input."
    " The command was started again; older output is above a banner."
)
WITHDRAWN = (
    "was cancelled while it waited for a person's approval: the request was"
    " withdrawn, and nothing was typed."
)


async def create_session(call: Call, given: contracts.Create) -> Facts:
    """Start a session, or a lost one again, and attach to it."""
    again = given.recover or given.restore
    if again and (given.command or given.cwd or (given.recover and given.restore)):
        raise MalformedArgument(again, "alone, without command or cwd")
    host = await call.reach.host(given.host)
    async with call.progress():
        if given.restore:
            made = await host.restore(
                given.restore, name=given.name, timeout=given.timeout
            )
        elif given.recover:
            made = await host.recover(
                given.recover, name=given.name, timeout=given.timeout
            )
        else:
            made = await host.create(
                given.command or None,
                name=given.name,
                cwd=given.cwd,
                timeout=given.timeout,
            )
    named = f"{given.host}/{made.id}" if given.host else made.id
    on = contracts.OnSession(session=named)
    session = await call.acting(on, given.intent, given.expected_effect)
    return {
        "session": f"{given.host}/{session.name}" if given.host else session.name,
        "id": session.id,
        **({"gone": GONE} if given.recover else {}),
        **_without_walls((await host.find(made.id)).no_capsule),
        **tool_output.standing_facts(await session.who()),
    }


def _without_walls(why: str) -> Facts:
    """Say why a session is plain that was to be a capsule, if that is so."""
    return {"no_capsule": printable(why, 300)} if why else {}


async def checkpoint(call: Call, given: contracts.Checkpoint) -> Facts:
    """Save a session to disk, unless something prevents it."""
    session = await call.acting(given, given.intent, given.expected_effect)
    seen = await session.can_checkpoint()
    if seen.blockers:
        return {"was_made": False, **image_output.blocker_facts(seen)}
    async with call.progress():
        made = await session.checkpoint(stop=given.stop, label=given.label)
    if made.stopped:
        await call.reach.leave(session.id)
    return {"was_made": True, **image_output.checkpoint_facts(made)}


async def fork(call: Call, given: contracts.Fork) -> Facts:
    """Make a branch of a session; or discard one."""
    session = await call.acting(given, given.intent, given.expected_effect)
    async with call.progress():
        if given.discard:
            await session.discard()
            await call.reach.leave(session.id)
            return {"discarded": label(session)}
        made = await session.fork(name=given.name, timeout=given.timeout)
    return {"session": made.name, "id": made.id}


async def preview(call: Call, given: contracts.Preview) -> Facts:
    """Try a line out in a branch, and return what it did there."""
    session = await call.acting(given, given.intent, given.expected_effect)
    async with call.progress(session):
        report = await session.preview(
            given.command, timeout=given.timeout, keep=given.keep
        )
    return image_output.preview_facts(label(session), report)


async def run(call: Call, given: contracts.Run) -> Facts:
    """Run a line in the shell, and return its outcome."""
    session = await call.acting(
        given,
        given.intent,
        given.expected_effect,
        expects=contracts.expectation_of(given),
        idempotent=given.retries > 0,
    )
    line = given.command.encode()
    try:
        async with call.progress(session):
            ran = await session.run(
                given.command,
                timeout=given.timeout,
                key=given.key or None,
                max_output=given.max_bytes,
                expect=given.until_printed,
                until_input=given.until_input,
                approval_timeout=given.approval_timeout,
                idempotent=given.retries > 0,
                retries=given.retries,
            )
    except CommandGoesOn as error:
        return await _goes_on(session, error, given.max_bytes)
    except asyncio.CancelledError as error:
        if await _withdrawn(session, line):
            call.remember(session, f"run {given.command!r}", WITHDRAWN)
        elif getattr(error, "__notes__", None):
            call.remember(session, f"run {given.command!r}", NOT_STOPPED)
        raise
    facts = tool_output.ran_facts(label(session), ran)
    if ran.is_truncated:
        # Colours set in the omitted part still apply to the rest.
        begin = ran.start + ran.left_out
        shown = await read_tools.piece(session, begin, given.max_bytes)
        facts["output"]["hidden"] = shown["output"]["hidden"]
    return facts


async def send(call: Call, given: contracts.Send) -> Facts:
    """Type text."""
    session = await call.acting(given, given.intent, given.expected_effect)
    typing = session.send(
        given.text, enter=given.enter, approval_timeout=given.approval_timeout
    )
    return await _typed(call, session, given.text.encode(), typing)


async def keys(call: Call, given: contracts.Keys) -> Facts:
    """Press keys."""
    raw = b"".join(
        map(bytes_of, given.keys)
    )  # An invalid key is refused before the intent is recorded.
    session = await call.acting(given, given.intent, given.expected_effect)
    pressing = session.send(raw, approval_timeout=given.approval_timeout)
    return await _typed(call, session, raw, pressing)


async def signal(call: Call, given: contracts.Signal) -> Facts:
    """Send a signal to the foreground process."""
    session = await call.acting(given, given.intent, given.expected_effect)
    number = signals.Signals[f"SIG{given.signal}"]
    sending = session.signal(number, approval_timeout=given.approval_timeout)
    await _done(call, session, str(int(number)).encode(), sending)
    return {"was_sent": True, "state": (await session.state()).word}


async def answer(call: Call, given: contracts.Answer) -> Facts:
    """Type a secret for a program that asks for one."""
    session = await call.acting(given, given.intent, given.expected_effect)
    answering = session.answer(given.secret, approval_timeout=given.approval_timeout)
    return await _typed(call, session, b"", answering)


async def take_turn(call: Call, given: contracts.OnSession) -> Facts:
    """Take the turn, if it is free."""
    return tool_output.standing_facts(await (await call.session(given)).take())


async def ask_turn(call: Call, given: contracts.AskTurn) -> Facts:
    """Ask the operator who has the turn for it, and wait."""
    session = await call.acting(given, given.intent, given.expected_effect)
    async with call.progress(session):
        return tool_output.standing_facts(await session.ask(given.timeout))


async def give_turn(call: Call, given: contracts.GiveTurn) -> Facts:
    """Give the turn to an attached operator."""
    return tool_output.standing_facts(await (await call.session(given)).give(given.to))


async def drop_turn(call: Call, given: contracts.OnSession) -> Facts:
    """Release the turn."""
    return tool_output.standing_facts(await (await call.session(given)).drop())


async def notify(call: Call, given: contracts.Notify) -> Facts:
    """Report that the session needs a person."""
    session = await call.session(given)
    await session.notify(given.text)
    return {"was_called": True, "session": session.name}


async def _goes_on(session: Session, error: CommandGoesOn, budget: int) -> Facts:
    start = int(error.facts["start"])
    return {
        "status": None,
        "goes_on": True,
        "stopped_waiting": "timeout",
        "state": error.facts["state"],
        "next_step": tool_output.GOES_ON,
        **await read_tools.piece(session, start, budget),
    }


async def _typed(
    call: Call, session: Session, raw: bytes, typing: Awaitable[int]
) -> Facts:
    return {"was_typed": True, "cursor": await _done(call, session, raw, typing)}


async def _done(
    call: Call, session: Session, raw: bytes, doing: Awaitable[Result]
) -> Result:
    try:
        async with call.progress(session):
            return await doing
    except asyncio.CancelledError:
        if await _withdrawn(session, raw):
            call.remember(session, call.tool, WITHDRAWN)
        raise


async def _withdrawn(session: Session, raw: bytes) -> bool:
    """Withdraw an input that waits for approval and that nobody waits for; say if so.

    Nothing of a secret is shown, and only the start of long text. An input that took a
    free turn has released it by now, and was discarded with it.
    """
    with contextlib.suppress(HoldfastError):
        standing = await session.who()
        for one in standing.pending:
            begin = one.excerpt.rstrip(b"\r")
            if one.actor == standing.us and raw.startswith(begin):
                await session.deny(one)
                return True
        return _was_held_last(await session.log(last=RECENT), standing.us)
    return False


def _was_held_last(entries: list[Entry], us: ActorId) -> bool:
    """Tell whether the last of our acts was held for approval, and not typed since."""
    kinds = (EntryKind.INTENDED, EntryKind.ASKED, EntryKind.INPUT)
    ours = (
        entry.kind
        for entry in reversed(entries)
        if entry.kind in kinds and entry.fields["actor"] == us
    )
    return next(ours, None) is EntryKind.ASKED
