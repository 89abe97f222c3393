"""How a refusal is explained to an agent, and what it can do next.

Every error keeps its stable code, its sentence and its facts; the next step is given in
terms of the tools. What a person would type into a shell is of no use here.
"""

from collections.abc import Callable

from holdfast.mcp.tool_output import Facts
from holdfast.model.errors import (
    Forbidden,
    HoldfastError,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
)
from holdfast.model.text import printable

NEXT_STEPS = {
    "not-your-turn": "Call `ask_turn` with your intent and wait, or only watch"
    " (`screen`, `read`, `state`) meanwhile.",
    "turn-moved": "The turn passed to another operator while you acted. Look at"
    " `screen` and `log` first: they may have changed something for a"
    " reason. Then `ask_turn`.",
    "stale-epoch": "The turn has changed hands. Look at `screen` and `log`, then act"
    " again.",
    "frozen": "Someone froze the session. Wait until a person thaws it; `who` says"
    " who is attached.",
    "denied-by-policy": "The policy of this host forbids it. Do not look for a way"
    " around it: tell the person you work for, or do something"
    " else.",
    "denied-by-operator": "A person said no. Do not repeat it; ask them why.",
    "approval-pending": "It may still be approved, and then run. Do not send it"
    " again: `who` shows whether it still waits, `log` how it"
    " ended.",
    "approval-timeout": "It was not approved in time; the request was withdrawn, and"
    " nothing was done. Tell the person you work for what you"
    " need and why. Send it again once they are there, with a"
    " longer approval timeout.",
    "asker-gone": "Nobody was waiting for it any more, and nothing was done. Send it"
    " again if it is still wanted.",
    "self-approval": "Nobody can approve their own request. Another operator must"
    " answer.",
    "not-allowed": "You lack the right to do this here; `who` lists your rights. Ask"
    " the person you work for.",
    "not-at-prompt": "A program is running or waiting. `state` says which; `wait`"
    " with condition prompt, or talk to it with `send` and `keys`.",
    "no-marks": "The program on this terminal is not a shell that reports where"
    " commands end. Use `send`, then `wait` and `screen`.",
    "not-waiting": "No program is asking for a secret now. `wait` with condition"
    " secret.",
    "would-be-shown": "The terminal would echo it. Use `send` for text that may be"
    " seen.",
    "line-unfinished": "The shell wants the rest of the line. Send the rest with"
    " `send`, or press C-c with `keys`.",
    "line-too-long": "Write the text into a file with several short lines, and run"
    " that.",
    "session-not-found": "`list_sessions` lists them.",
    "session-is-lost": "Its processes are gone. `create_session` starts it again with"
    " its name as the parameter recover, if the person you work for wants that.",
    "not-recoverable": "`list_sessions` says whether it is running, and why a lost one"
    " cannot be recovered.",
    "still-alive": "It is already running: look at `list_sessions` again.",
    "ambiguous-session": "Several ids start like this: use a whole id from"
    " `list_sessions`.",
    "malformed-name": "Use 1 to 64 letters, digits, '.', '_' or '-', beginning with a"
    " letter or digit.",
    "key-used": "The key was used for another line: choose another one.",
    "name-taken": "Choose another name; `list_sessions` shows which are taken.",
    "host-not-known": "`list_sessions` shows which hosts there are.",
    "waited-in-vain": "It did not happen in time. Look at `screen` and `state`, or"
    " wait again.",
    "ask-refused": "The answer was no. Leave the turn where it is, and say what you"
    " would have done.",
    "operator-not-here": "`who` says who is attached; `drop_turn` leaves the turn to"
    " the next operator.",
    "no-keeper": "Nothing runs on that machine yet: `create_session` starts it.",
    "session-over": "The session has ended; `read` and `log` still work.",
    "session-lost": "Its processes are gone. `log` says what happened before that.",
    "session-unreachable": "Try again in a moment; `list_sessions` says whether it is"
    " still running.",
    "session-full": "Too many are attached. `detach` from sessions you do not use.",
    "busy": "The program does not read its input. `wait`, or press C-c with `keys`.",
    "asked-too-often": "Wait a second, and do less at a time.",
    "budget-spent": "You typed more than the policy allows. Wait as long as it says,"
    " and do more with each command.",
    "offset-ahead": "Use a cursor of an earlier answer, or none.",
    "creation-unknown": "`list_sessions` says whether it was started.",
    "outcome-unknown": "Whether it was typed is not known. Look at `screen` and `log`"
    " before you do it again.",
    "outcome-forgotten": "Its outcome was not kept. Look at `screen` and `log`.",
    "command-goes-on": "It is still running. `wait`, then `read` from the cursor.",
}
"""By code: what to do next, in terms of the tools."""

BY_BRANCH: dict[type[HoldfastError], str] = {
    UsageError: "Correct the parameters and call it again.",
    Forbidden: "You are not allowed to do this here. Tell the person you work for.",
    PeerError: "Tell the person you work for: the answer cannot be trusted.",
    Unavailable: "Try again in a moment; if that does not help, tell the person you"
    " work for.",
    Unsettled: "Look at `screen` and `log` before you do it again.",
}
"""For every other error: its next step names commands that agents do not have."""

NO_RULE = (
    "No rule of this host's policy allows agents to do this. You can still watch."
    " Tell the person you work for what you need; docs/howto/connect-an-ai-agent.md"
    " has a policy to start from."
)
"""Denied to agents by default, with or without a policy."""

UNRULED = "default-agent"
"""The rule that applies to agents where no other does."""

MAX_TEXT = 1000
"""Characters of a sentence."""


def refusal_facts(error: HoldfastError, named: Callable[[str], str] = str) -> Facts:
    """Return an error as an agent can use it, with ids replaced by `named`."""
    facts = {
        name: printable(named(fact)) if isinstance(fact, str) else fact
        for name, fact in error.facts.items()
        if fact != ""
    }
    notes = [printable(named(one)) for one in getattr(error, "__notes__", ())]
    return _error(
        error.code,
        named(str(error)),
        _next_step(error),
        facts=facts,
        retryable=error.retryable,
        was_done="not known" if isinstance(error, Unsettled) else "no",
        notes=notes,
    )


def malformed_facts(tool: str, why: str) -> Facts:
    """Return that the parameters do not fit, before anything was done."""
    step = "Correct the parameters by the tool's schema, and call it again."
    return _error("malformed-argument", f"{tool}: {why}", step)


def unknown_facts(tool: str) -> Facts:
    """Return that there is no such tool."""
    text = f"{printable(tool, 64)}: there is no such tool"
    return _error("malformed-argument", text, "tools/list shows which there are.")


def internal_facts() -> Facts:
    """Return that the fault is the server's."""
    text = "the server has a bug here; its log says more"
    step = BY_BRANCH[Unsettled]
    return _error("internal-error", text, step, was_done="not known")


def _error(code: str, text: str, next_step: str, **more: object) -> Facts:
    told: Facts = {
        "code": code,
        "text": printable(text, MAX_TEXT),
        "was_done": "no",
        "retryable": False,
        "next_step": next_step,
    }
    told |= {name: value for name, value in more.items() if value not in ({}, [])}
    return {"error": told}


def _next_step(error: HoldfastError) -> str:
    if error.facts.get("rule") == UNRULED:
        return NO_RULE
    branch = next(one for one in BY_BRANCH if isinstance(error, one))
    return NEXT_STEPS.get(error.code, BY_BRANCH[branch])
