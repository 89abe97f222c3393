"""The tools that only read."""

import asyncio

from holdfast.mcp import contracts, image_output, pieces, tool_output
from holdfast.mcp.names import names_in
from holdfast.mcp.tool_calls import Call, label
from holdfast.mcp.tool_output import Facts
from holdfast.model.errors import MalformedArgument, PainterDied
from holdfast.sdk.exported import Entry, hosts_elsewhere
from holdfast.sdk.session import Session
from holdfast.sdk.values import Chunk

WHOLE = 64 * 1024 * 1024
"""Bytes of output requested to find its end: more than any window."""


async def list_sessions(call: Call, given: contracts.OnHost) -> Facts:
    """List the sessions, here or on another host."""
    host = await call.reach.host(given.host)
    return {
        "you": call.reach.operator,
        "sessions": [tool_output.info_facts(one) for one in await host.sessions()],
        "lost": [tool_output.lost_facts(one) for one in await host.lost()],
        "hosts_elsewhere": await asyncio.to_thread(hosts_elsewhere),
    }


async def images(call: Call, given: contracts.OnHost) -> Facts:
    """List the images that we may restore."""
    host = await call.reach.host(given.host)
    return {"images": [image_output.image_facts(one) for one in await host.images()]}


async def attach(call: Call, given: contracts.Attach) -> Facts:
    """Attach, and return who is there and what the session does."""
    session = await call.session(given, observe=given.observe)
    standing = await session.who()
    return {
        "session": session.name,
        "id": session.id,
        **tool_output.standing_facts(standing),
        **tool_output.state_facts(await session.state()),
    }


async def detach(call: Call, given: contracts.OnSession) -> Facts:
    """Detach."""
    _, found = await call.reach.find(given.session)
    return {"session": found.name, "was_attached": await call.reach.leave(found.id)}


async def screen(call: Call, given: contracts.OnSession) -> Facts:
    """Return the session's screen."""
    session = await call.session(given)
    try:
        seen = await session.screen()
    except PainterDied:  # A new painter is started and repaints the screen.
        seen = await session.screen()
    return tool_output.screen_facts(label(session), seen)


async def read(call: Call, given: contracts.Read) -> Facts:
    """Return output, from a cursor on or at the end."""
    session = await call.session(given)
    return await piece(session, given.cursor, given.max_bytes)


async def piece(session: Session, cursor: int | None, budget: int) -> Facts:
    """Return a piece of the stream: from `cursor` on, or its end."""
    if cursor is None:
        kept = await session.read(None, WHOLE)
        start = max(kept.offset, kept.end - budget)
    else:
        wanted = max(0, cursor - pieces.LEAD)
        kept = await session.read(wanted, cursor - wanted + budget + 1)
        start = max(cursor, kept.offset)
    at = pieces.begin(kept.data, start - kept.offset)
    start, before, data = kept.offset + at, kept.data[:at], kept.data[at:]
    found = pieces.whole(data[:budget])
    gone = kept.gap if cursor is None else max(0, kept.offset - cursor)
    facts = tool_output.chunk_facts(label(session), Chunk(start, found, gone), kept.end)
    hidden = pieces.hidden_after(before, found)
    facts["output"]["hidden"] = [
        {"reason": one.reason.value, "text": one.text} for one in hidden
    ]
    return facts


async def state(call: Call, given: contracts.OnSession) -> Facts:
    """Return what the session is doing, according to the kernel."""
    return tool_output.state_facts(await (await call.session(given)).state())


async def graph(call: Call, given: contracts.OnSession) -> Facts:
    """Return what runs, and what listens on which port."""
    return tool_output.graph_facts(await (await call.session(given)).graph())


async def who(call: Call, given: contracts.OnSession) -> Facts:
    """Return who is attached, and who has the turn."""
    return tool_output.standing_facts(await (await call.session(given)).who())


async def log(call: Call, given: contracts.Log) -> Facts:
    """Return what happened."""
    session = await call.session(given)
    count, is_cut = given.max_entries, False
    found: list[Entry] = []
    told: list[Entry] = []
    for times in (4, 64, 1024):
        found = await _entries(session, given, count * times)
        told = [one for one in found if tool_output.is_told(one)]
        is_cut = given.since is not None and len(found) >= count * times
        if len(told) > count or len(found) < count * times:
            break
    shown = told[-count:] if given.since is None else told[:count]
    is_short = bool(shown) and shown[-1] is not told[-1]
    has_more = is_short or is_cut
    last = shown[-1] if is_short else found[-1] if found else None
    name = await names_in(session)
    return {
        "warning": tool_output.OTHERS,
        "entries": [tool_output.entry_facts(one, name) for one in shown],
        "next_since": last.index + 1 if last else given.since or 0,
        "has_more": has_more,
    }


async def _entries(session: Session, given: contracts.Log, most: int) -> list[Entry]:
    """Return more entries than are wanted, since not all of them are shown."""
    if given.since is None:
        return await session.log(last=most)
    return await session.log(given.since, most=most)


async def blame(call: Call, given: contracts.Blame) -> Facts:
    """Return who is behind something."""
    if (given.what == "line") == bool(given.name):
        raise MalformedArgument(
            given.name or "no name", "a name, which everything but a line needs"
        )
    session = await call.session(given)
    report = await session.blame(given.what, given.name)
    facts = tool_output.blame_facts(report, await names_in(session))
    return {"warning": tool_output.OTHERS, **facts}


async def wait(call: Call, given: contracts.Wait) -> Facts:
    """Wait until a condition is met, and return which."""
    session = await call.session(given)
    async with call.progress(session):
        return await _waited(session, given)


async def _waited(session: Session, given: contracts.Wait) -> Facts:
    match given.condition:
        case "prompt" | "input" | "secret" as condition:
            waits = {
                "prompt": session.wait_prompt,
                "input": session.wait_input,
                "secret": session.wait_secret,
            }
            return tool_output.state_facts(await waits[condition](given.timeout))
        case "quiet":
            end = await session.wait_quiet(given.seconds, given.timeout)
            return {"quiet_for": given.seconds, "next_cursor": end}
        case "port":
            heard = await session.wait_port(given.port, given.timeout)
            return {"port": heard.port, "pid": heard.pid, "address": heard.address}
        case "exit":
            return {"exit_status": await session.wait_exit(given.timeout)}
        case "output":
            return await _printed(session, given)


async def _printed(session: Session, given: contracts.Wait) -> Facts:
    if not given.pattern:
        raise MalformedArgument("no pattern", "a pattern to wait for")
    found = await session.wait_for(given.pattern, given.timeout, after=given.cursor)
    origin = f"what fits, in {label(session)}"
    return {
        "found": tool_output.enveloped(origin, found.text[: tool_output.MAX_LINE], []),
        "cursor": found.offset,
        "next_cursor": found.end,
    }
