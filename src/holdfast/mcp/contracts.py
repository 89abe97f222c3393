"""The parameters of each tool: what an agent has to say before anything is done.

One frozen Struct for each tool: its fields are the tool's parameters, their bounds and
descriptions its JSON Schema, and a call that does not fit is refused before anything
runs. Every tool that changes a session takes a small contract: why it is done
(`intent`), what is done (the parameters), and what should change (`expected_effect`).
All three are recorded in the session's logbook.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from holdfast.model.expectations import Expectation, expectation_from
from holdfast.sdk.exported import MAX_EFFECT, MAX_INTENT

MAX_SESSION = 192
"""Characters that name a session: a host's name, a slash, and its own."""

MAX_COMMAND = 4094
"""Characters of a line for a shell: what a terminal accepts, without Enter."""

MAX_SENT = 16 * 1024
"""Characters typed at once: an agent that pastes more should write a file."""

MAX_KEYS = 64
"""Keys pressed at once."""

MAX_BUDGET = 256 * 1024
"""Bytes of output in one answer: more than a model reads at once."""

USUAL_BUDGET = 32 * 1024
"""Bytes of output in one answer by default."""

MAX_WAIT = 3600
"""Seconds that one call waits at most."""

USUAL_APPROVAL = 120.0
"""Seconds to wait for approval by default: a person nearby answers by then, and most
clients give up on a call later."""

MAX_CALL = 200
"""Characters of a call: as many as are shown."""

MAX_RETRIES = 3
"""Repeats of a command that is declared idempotent."""

MAX_ENTRIES = 500
"""Entries of the logbook in one answer."""

UNKEPT = frozenset(
    {"session", "intent", "expected_effect", "expects", "secret", "text", "keys"}
)
"""Parameters that the contract omits: typed text is in the entry of its input, unless
the terminal hides it."""

Session = Annotated[
    str,
    Meta(max_length=MAX_SESSION, description="Name, id or HOST/NAME."),
]
Intent = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=MAX_INTENT,
        description="Why, in one sentence.",
    ),
]
Effect = Annotated[str, Meta(max_length=MAX_EFFECT)]
Seconds = Annotated[float, Meta(gt=0, le=MAX_WAIT)]
Approval = Seconds
Budget = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_BUDGET,
        description="The most bytes of output to return.",
    ),
]
Offset = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Pattern = Annotated[
    str, Meta(max_length=1024, description="A regular expression over the output.")
]


class Contract(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    omit_defaults=True,
):
    """The parameters of one tool; the logbook keeps those that were given."""


class OnHost(Contract, frozen=True, kw_only=True):
    """About a host."""

    host: Annotated[
        str,
        Meta(
            max_length=64,
            description="Name of a remote host; empty for this machine.",
        ),
    ] = ""


class OnSession(Contract, frozen=True, kw_only=True):
    """About a session."""

    session: Session


class Act(OnSession, frozen=True, kw_only=True):
    """Something that changes a session."""

    intent: Intent
    expected_effect: Effect = ""


class Create(OnHost, frozen=True, kw_only=True):
    """Start a session."""

    intent: Intent
    expected_effect: Effect = ""
    name: Annotated[str, Meta(max_length=64, description="Letters, digits, . _ -")] = ""
    command: Annotated[
        list[Annotated[str, Meta(max_length=MAX_COMMAND)]],
        Meta(
            max_length=256,
            description="The program and its arguments; by default a shell, which"
            " `run` needs.",
        ),
    ] = []
    cwd: Annotated[str, Meta(max_length=4096, description="Folder to start in.")] = ""
    recover: Annotated[str, Meta(max_length=64, description="Restart a lost one.")] = ""
    restore: Annotated[
        str,
        Meta(max_length=64, description="From an image, or a session's newest."),
    ] = ""
    timeout: Seconds = 120.0


class Checkpoint(Act, frozen=True, kw_only=True):
    """Save a session to disk."""

    label: Annotated[str, Meta(max_length=64)] = ""
    stop: Annotated[bool, Meta(description="End it; `restore` continues it.")] = False


class Fork(Act, frozen=True, kw_only=True):
    """Make a branch of a session, or see to one."""

    discard: Annotated[
        bool, Meta(description="`session` is a branch: end it, with its changes.")
    ] = False
    name: Annotated[str, Meta(max_length=64, description="Of a new branch.")] = ""
    timeout: Seconds = 120.0


class Preview(Act, frozen=True, kw_only=True):
    """Try a line out."""

    command: Annotated[str, Meta(min_length=1, max_length=MAX_COMMAND)]
    timeout: Annotated[Seconds, Meta(description="It is stopped then.")] = 60.0
    keep: Annotated[bool, Meta(description="Keep the branch.")] = False


class Attach(OnSession, frozen=True, kw_only=True):
    """Attach to a session."""

    observe: Annotated[
        bool,
        Meta(description="Only watch, until you call a tool that acts."),
    ] = False


class Read(OnSession, frozen=True, kw_only=True):
    """Read the stream."""

    cursor: Annotated[
        Offset | None,
        Meta(
            description="The byte to start at; without it, the last `max_bytes`.",
        ),
    ] = None
    max_bytes: Budget = USUAL_BUDGET


class Run(Act, frozen=True, kw_only=True):
    """Run a line."""

    command: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_COMMAND,
            description="One line for the shell, as you would type it.",
        ),
    ]
    timeout: Annotated[
        Seconds,
        Meta(description="Seconds to wait; the command is not stopped then."),
    ] = 120.0
    until_input: Annotated[
        bool,
        Meta(description="Stop waiting once it waits for input."),
    ] = True
    until_printed: Annotated[
        Pattern | None,
        Meta(description="Stop waiting once this was printed."),
    ] = None
    key: Annotated[
        str,
        Meta(
            max_length=256,
            description="Makes a repeat safe: the same key never runs twice.",
        ),
    ] = ""
    expects: Annotated[
        dict[str, Any],
        Meta(
            description='Its effects: {"files": ["build"], "ports": [80],'
            ' "processes": ["node"], "status": 0}; compared with what it does.',
        ),
    ] = {}
    retries: Annotated[
        int, Meta(ge=0, le=MAX_RETRIES, description="If it is idempotent.")
    ] = 0
    max_bytes: Budget = USUAL_BUDGET
    approval_timeout: Approval = USUAL_APPROVAL


class Send(Act, frozen=True, kw_only=True):
    """Type text."""

    text: Annotated[
        str, Meta(min_length=1, max_length=MAX_SENT, description="What to type.")
    ]
    enter: Annotated[bool, Meta(description="Press Enter after it.")] = False
    approval_timeout: Approval = USUAL_APPROVAL


class Keys(Act, frozen=True, kw_only=True):
    """Press keys."""

    keys: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=32)]],
        Meta(
            min_length=1,
            max_length=MAX_KEYS,
            description="Names of keys, also Enter, or single characters.",
        ),
    ]
    approval_timeout: Approval = USUAL_APPROVAL


class Signal(Act, frozen=True, kw_only=True):
    """Send a signal."""

    signal: Annotated[
        Literal["INT", "TERM", "QUIT", "HUP", "KILL", "STOP", "CONT", "USR1", "USR2"],
        Meta(description="TERM asks it to end; KILL ends it."),
    ] = "INT"
    approval_timeout: Approval = USUAL_APPROVAL


class Answer(Act, frozen=True, kw_only=True):
    """Type a secret."""

    secret: Annotated[
        str,
        Meta(
            max_length=4094,
            description="Without Enter.",
        ),
    ]
    approval_timeout: Approval = USUAL_APPROVAL


class Wait(OnSession, frozen=True, kw_only=True):
    """Wait for something."""

    condition: Annotated[
        Literal["prompt", "input", "secret", "output", "quiet", "port", "exit"],
        Meta(
            description="prompt: the shell is ready; input: a program waits for it;"
            " secret: it asks for a password; output: `pattern` was printed; quiet:"
            " nothing was printed for `seconds`; port: something listens on `port`;"
            " exit: the session has ended."
        ),
    ]
    pattern: Pattern = ""
    cursor: Annotated[
        Offset | None,
        Meta(
            description="With output: search from this byte, else from where you"
            " last typed.",
        ),
    ] = None
    port: Annotated[int, Meta(ge=0, le=65535, description="With port.")] = 0
    seconds: Annotated[
        float, Meta(gt=0, le=MAX_WAIT, description="With quiet: for how long.")
    ] = 1.0
    timeout: Annotated[Seconds, Meta(description="Seconds to wait at most.")] = 60.0


class AskTurn(Act, frozen=True, kw_only=True):
    """Ask for the turn."""

    timeout: Annotated[Seconds, Meta(description="Seconds to wait for it.")] = 60.0


class GiveTurn(OnSession, frozen=True, kw_only=True):
    """Give the turn to another operator."""

    to: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=64,
            description="Name of an attached operator; `who` lists them.",
        ),
    ]


class Notify(OnSession, frozen=True, kw_only=True):
    """Report that the session needs a person."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_CALL,
            description="What you need, in one sentence.",
        ),
    ]


class Log(OnSession, frozen=True, kw_only=True):
    """Read the logbook."""

    since: Annotated[
        Offset | None,
        Meta(
            description="The first entry wanted; else the last `max_entries`.",
        ),
    ] = None
    max_entries: Annotated[int, Meta(ge=1, le=MAX_ENTRIES)] = 30


class Blame(OnSession, frozen=True, kw_only=True):
    """Ask who is behind something."""

    what: Annotated[
        Literal[
            "variable", "alias", "function", "option", "trap", "path-entry", "line"
        ],
        Meta(description="What has that `name`; or line: the unsubmitted line."),
    ]
    name: Annotated[
        str, Meta(max_length=256, description="Its name; empty for a line.")
    ] = ""


def schema_of(shape: type[Contract]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's parameters, self-contained."""
    (_,), found = msgspec.json.schema_components([shape])
    schema = dict(found[shape.__name__])
    # Each field describes itself; class docstrings are for readers of the code.
    schema.pop("title", None)
    schema.pop("description", None)
    fields = {name: _told(one) for name, one in schema["properties"].items()}
    return {**schema, "properties": fields, "additionalProperties": False}


def _told(field: dict[str, Any]) -> dict[str, Any]:
    """Return a field's schema; that something is empty by default goes without saying.

    Every conversation of an agent begins with all of these.
    """
    is_empty = not field.get("default", True)
    return {
        name: one for name, one in field.items() if name != "default" or not is_empty
    }


def expectation_of(given: Run) -> Expectation | None:
    """Return what is expected of a command, in the form that can be compared.

    Raises:
        UsageError: It is not valid.

    """
    if not given.expects:
        return None
    return expectation_from(msgspec.json.encode(given.expects).decode())


def parameters_of(given: Contract) -> str:
    """Return a call's parameters for the logbook, without those it must not keep."""
    kept = {
        name: value
        for name, value in msgspec.to_builtins(given).items()
        if name not in UNKEPT
    }
    return msgspec.json.encode(kept).decode()
