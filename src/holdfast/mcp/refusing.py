"""What is an agent told when something is refused, and what can it do about it?

Every error keeps its stable code, its sentence and its facts; what to do next is said
in the words of the tools. What a person would type into a shell is of no use here.
"""

from holdfast.mcp.showing import Facts
from holdfast.model.errors import HoldfastError, Unsettled
from holdfast.model.text import printable

NEXT_STEPS = {
    "not-your-turn": "Somebody else has the turn. `who` says who; call `ask_turn` with"
    " your intent and wait, or only look (`screen`, `read`, `state`) meanwhile.",
    "turn-moved": "The turn passed to somebody else while you acted. Look at `screen`"
    " and `log` first: they may have changed something for a reason. Then `ask_turn`.",
    "stale-epoch": "The turn has changed hands. Look at `screen` and `log`, then act"
    " again.",
    "frozen": "Somebody has stopped the session. Wait until a person thaws it; `who`"
    " says who is here.",
    "denied-by-policy": "The policy of this host forbids it. Do not try another way"
    " round it: tell the person you work for, or do something else.",
    "denied-by-operator": "A person said no. Do not repeat it; ask them why.",
    "approval-pending": "It waits for a person to approve it, and is run if they do. Do"
    " not send it again: `who` shows whether it still waits, `log` how it ended.",
    "approval-timeout": "Nobody approved it in time, and nothing was done. Tell the"
    " person you work for before you send it again.",
    "self-approval": "Nobody approves their own requests. Somebody else must answer.",
    "not-allowed": "You have no right to this here; `who` lists your rights. Ask the"
    " person you work for.",
    "not-at-prompt": "A program is running or waits. `state` says which; `wait` with"
    " condition prompt, or talk to it with `send` and `keys`.",
    "not-waiting": "No program asks for a secret now. `wait` with condition secret.",
    "would-be-shown": "The terminal would show it. Use `send` for what may be seen.",
    "line-unfinished": "The shell wants the rest of the line. Send the rest with"
    " `send`, or press C-c with `keys`.",
    "session-not-found": "`list_sessions` says which there are.",
    "waited-in-vain": "It did not come in time. Look at `screen` and `state`, or wait"
    " again.",
    "ask-refused": "The answer was no. Leave the turn where it is, and say what you"
    " would have done.",
    "no-keeper": "Nothing runs on that machine yet: `create_session` starts it.",
    "session-over": "The session has ended; `read` and `log` still tell of it.",
    "outcome-unknown": "Whether it was typed is not known. Look at `screen` and `log`"
    " before you do it again.",
    "command-goes-on": "It still runs. `wait`, then `read` from the cursor.",
}
"""By code. What is not here has the next step of the error itself."""


NO_POLICY = (
    "No rule lets agents type on this host yet. Tell the person you work for:"
    " docs/howto/connect-an-ai-agent.md has a policy to begin with. Until then you can"
    " look, and nothing more."
)
"""What a policy that nobody wrote refuses agents."""

UNRULED = "default-agent"
"""The rule that holds for agents where no other does."""


def refusal_facts(error: HoldfastError) -> Facts:
    """Return an error as an agent can use it."""
    return {
        "error": {
            "code": error.code,
            "text": printable(str(error), 1000),
            "facts": {
                name: printable(fact) if isinstance(fact, str) else fact
                for name, fact in error.facts.items()
            },
            "retryable": error.retryable,
            "was_done": "not known" if isinstance(error, Unsettled) else "no",
            "next_step": _next_step(error),
            "notes": [printable(one) for one in getattr(error, "__notes__", ())],
        }
    }


def malformed_facts(tool: str, why: str) -> Facts:
    """Return that the parameters do not fit, before anything was done."""
    return {
        "error": {
            "code": "malformed-argument",
            "text": printable(f"{tool}: {why}", 1000),
            "facts": {},
            "retryable": False,
            "was_done": "no",
            "next_step": "Nothing was done. Correct the parameters by the tool's"
            " schema, and call it again.",
            "notes": [],
        }
    }


def unknown_facts(tool: str) -> Facts:
    """Return that there is no such tool."""
    facts = malformed_facts(printable(tool, 64), "there is no such tool")
    facts["error"]["next_step"] = "tools/list says which there are."
    return facts


def _next_step(error: HoldfastError) -> str:
    if error.facts.get("rule") == UNRULED:
        return NO_POLICY
    return NEXT_STEPS.get(error.code, error.next_step)
