"""What an agent is told when something is refused, and what it can do about it.

Every error keeps its stable code, its sentence and its facts; what to do next is said
in the words of the tools. What a person would type into a shell is of no use here.
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
    "not-your-turn": "Call `ask_turn` with your intent and wait, or only look"
    " (`screen`, `read`, `state`) meanwhile.",
    "turn-moved": "The turn passed to somebody else while you acted. Look at `screen`"
    " and `log` first: they may have changed something for a reason. Then `ask_turn`.",
    "stale-epoch": "The turn has changed hands. Look at `screen` and `log`, then act"
    " again.",
    "frozen": "Somebody has stopped the session. Wait until a person thaws it; `who`"
    " says who is here.",
    "denied-by-policy": "The policy of this host forbids it. Do not try another way"
    " round it: tell the person you work for, or do something else.",
    "denied-by-operator": "A person said no. Do not repeat it; ask them why.",
    "approval-pending": "It may still be approved, and run then. Do not send it again:"
    " `who` shows whether it still waits, `log` how it ended.",
    "approval-timeout": "Nobody approved it in time; it was taken back, and nothing was"
    " done. Tell the person you work for what you need and why. Send it again once they"
    " are there, with more time for the approval.",
    "asker-gone": "Nobody waited for it any more, and nothing was done. Send it again"
    " if it is still wanted.",
    "self-approval": "Nobody approves their own requests. Somebody else must answer.",
    "not-allowed": "You have no right to this here; `who` lists your rights. Ask the"
    " person you work for.",
    "not-at-prompt": "A program is running or waits. `state` says which; `wait` with"
    " condition prompt, or talk to it with `send` and `keys`.",
    "no-marks": "No shell that tells where commands end reads this terminal. Use"
    " `send`, then `wait` and `screen`.",
    "not-waiting": "No program asks for a secret now. `wait` with condition secret.",
    "would-be-shown": "The terminal would show it. Use `send` for what may be seen.",
    "line-unfinished": "The shell wants the rest of the line. Send the rest with"
    " `send`, or press C-c with `keys`.",
    "line-too-long": "Write the text into a file with several short lines, and run"
    " that.",
    "session-not-found": "`list_sessions` says which there are.",
    "ambiguous-session": "Several begin like this: use a whole id of `list_sessions`.",
    "malformed-name": "Use 1 to 64 letters, digits, '.', '_' or '-', beginning with a"
    " letter or digit.",
    "key-used": "The key was used for another line: take another one.",
    "name-taken": "Choose another name; `list_sessions` says which are taken.",
    "host-not-known": "`list_sessions` says which hosts there are.",
    "waited-in-vain": "It did not come in time. Look at `screen` and `state`, or wait"
    " again.",
    "ask-refused": "The answer was no. Leave the turn where it is, and say what you"
    " would have done.",
    "operator-not-here": "`who` says who is here; `drop_turn` leaves the turn to"
    " whoever comes.",
    "no-keeper": "Nothing runs on that machine yet: `create_session` starts it.",
    "session-over": "The session has ended; `read` and `log` still tell of it.",
    "session-lost": "Its processes are gone. `log` tells what happened before that.",
    "session-unreachable": "Try again in a moment; `list_sessions` says whether it"
    " still runs.",
    "session-full": "Too many are attached. `detach` from what you do not use.",
    "busy": "The program does not read what is typed. `wait`, or press C-c with"
    " `keys`.",
    "asked-too-often": "Wait a second, and do less at a time.",
    "budget-spent": "You typed more than the policy lets you. Wait as long as it says,"
    " and do more with each command.",
    "offset-ahead": "Use a cursor of an earlier answer, or none.",
    "creation-unknown": "`list_sessions` says whether it was started.",
    "outcome-unknown": "Whether it was typed is not known. Look at `screen` and `log`"
    " before you do it again.",
    "outcome-forgotten": "What came of it is not kept. Look at `screen` and `log`.",
    "command-goes-on": "It still runs. `wait`, then `read` from the cursor.",
}
"""By code: what to do next, in the words of the tools."""

BY_BRANCH: dict[type[HoldfastError], str] = {
    UsageError: "Correct the parameters, and call it again.",
    Forbidden: "You may not do this here. Tell the person you work for.",
    PeerError: "Tell the person you work for: what was answered cannot be trusted.",
    Unavailable: "Try again in a moment; if it stays so, tell the person you work for.",
    Unsettled: "Look at `screen` and `log` before you do it again.",
}
"""For every other error: those speak of commands that an agent does not have."""

NO_RULE = (
    "No rule of this host's policy lets agents do this. You may still look. Tell the"
    " person you work for what you need; docs/howto/connect-an-ai-agent.md has a policy"
    " to begin with."
)
"""What the default for agents refuses, with or without a policy."""

UNRULED = "default-agent"
"""The rule that holds for agents where no other does."""

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
    return _error("malformed-argument", text, "tools/list says which there are.")


def internal_facts() -> Facts:
    """Return that the bug is ours."""
    text = "the server has a bug here; its own log says more"
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
