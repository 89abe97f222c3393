"""The tools that do something: each says first what it means by it."""

import asyncio

from holdfast.mcp import contracts, looks, showing
from holdfast.mcp.calls import Call, label
from holdfast.mcp.showing import Facts
from holdfast.model.errors import CommandGoesOn
from holdfast.sdk.session import Session


async def create_session(call: Call, given: contracts.Create) -> Facts:
    """Start a session, and attach to it."""
    host = await call.reach.host(given.host)
    made = await host.create(given.command or None, name=given.name, cwd=given.cwd)
    named = f"{given.host}/{made.id}" if given.host else made.id
    on = contracts.OnSession(session=named)
    session = await call.acting(on, given.intent, given.expected_effect)
    return {
        "session": f"{given.host}/{session.name}" if given.host else session.name,
        "id": session.id,
        **showing.standing_facts(await session.who()),
    }


async def run(call: Call, given: contracts.Run) -> Facts:
    """Run a line in the shell, and tell what came of it."""
    session = await call.acting(given, given.intent, given.expected_effect)
    try:
        async with call.progress(session):
            ran = await session.run(
                given.command,
                timeout=given.timeout,
                key=given.key or None,
                max_output=given.max_bytes,
                expect=given.until_printed,
                until_input=given.until_input,
            )
    except CommandGoesOn as error:
        return await _goes_on(session, error, given.max_bytes)
    except asyncio.CancelledError as error:
        if getattr(error, "__notes__", None):
            _remember(call, session, given.command)
        raise
    facts = showing.ran_facts(label(session), ran)
    if ran.is_truncated:
        # Colours that were set in what is left out still hide what is not.
        begin = ran.start + ran.left_out
        shown = await looks.piece(session, begin, given.max_bytes)
        facts["output"]["hidden"] = shown["output"]["hidden"]
    return facts


async def send(call: Call, given: contracts.Send) -> Facts:
    """Type text."""
    session = await call.acting(given, given.intent, given.expected_effect)
    return _typed(await session.send(given.text, enter=given.enter))


async def keys(call: Call, given: contracts.Keys) -> Facts:
    """Press keys."""
    session = await call.acting(given, given.intent, given.expected_effect)
    return _typed(await session.keys(*given.keys))


async def answer(call: Call, given: contracts.Answer) -> Facts:
    """Type a secret for a program that asks for one."""
    session = await call.acting(given, given.intent, given.expected_effect)
    return _typed(await session.answer(given.secret))


async def take_turn(call: Call, given: contracts.OnSession) -> Facts:
    """Take the turn, if it is free."""
    return showing.standing_facts(await (await call.session(given)).take())


async def ask_turn(call: Call, given: contracts.AskTurn) -> Facts:
    """Ask whoever has the turn for it, and wait."""
    session = await call.acting(given, given.intent, given.expected_effect)
    async with call.progress(session):
        return showing.standing_facts(await session.ask(given.timeout))


async def give_turn(call: Call, given: contracts.GiveTurn) -> Facts:
    """Give the turn to somebody who is here."""
    return showing.standing_facts(await (await call.session(given)).give(given.to))


async def drop_turn(call: Call, given: contracts.OnSession) -> Facts:
    """Let the turn go."""
    return showing.standing_facts(await (await call.session(given)).drop())


async def _goes_on(session: Session, error: CommandGoesOn, budget: int) -> Facts:
    start = int(error.facts["start"])
    return {
        "status": None,
        "goes_on": True,
        "stopped_waiting": "timeout",
        "state": error.facts["state"],
        "next_step": "It still runs. `wait` for the prompt, then `read` from the"
        " cursor; C-c with `keys` interrupts it.",
        **await looks.piece(session, start, budget),
    }


def _remember(call: Call, session: Session, command: str) -> None:
    """Have the next answer tell of a command that nobody waits for any more."""
    call.left.setdefault(session.id, []).append(
        f"Your call of `run` with {command!r} was cancelled after the line was typed:"
        " the command was not stopped. `state` says whether it still runs, `log` has"
        " its status once it has ended, and C-c with `keys` interrupts it."
    )


def _typed(offset: int) -> Facts:
    return {"was_typed": True, "cursor": offset}
