"""The request itself is wrong: fix the call."""

from holdfast.model.errors.branches import UsageError


class MalformedId(UsageError):
    """A text is not a valid identifier."""

    text: str
    wanted: str

    says = "{text!r} is not a {wanted}"
    next_step = "Copy the id as `holdfast ls` prints it."


class MalformedName(UsageError):
    """A name has invalid characters or an invalid length."""

    text: str
    why: str

    says = "{text!r} cannot be a name: {why}"
    next_step = (
        "Use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit."
    )


class MalformedKey(UsageError):
    """Bytes are not a valid key."""

    size: int
    wanted: int

    says = "a key of this kind has {wanted} bytes, not {size}"
    next_step = "Use the key as it was made, complete and unchanged."


class SizeOutOfRange(UsageError):
    """A terminal size is out of range."""

    columns: int
    rows: int

    says = "no terminal is {columns} columns by {rows} rows"
    next_step = "Use 1 to 1000 columns and 1 to 1000 rows."


class NoMarks(UsageError):
    """The session's program does not mark where commands begin and end."""

    command: str

    says = "{command!r} was not started with shell integration"
    next_step = "Use `send` and `wait`, or start bash, zsh or fish with `new`."


class KeyUsed(UsageError):
    """The key of a command was already used for another one."""

    key: str

    says = "the key {key!r} was already used for another command"
    next_step = "Use another key; the same line with this key returns its outcome."


class SessionNotFound(UsageError):
    """There is no session of that name or id here."""

    session: str

    says = "no session {session!r} here"
    next_step = "`holdfast ls` lists the sessions."


class SessionEnded(UsageError):
    """The session of that name has ended."""

    session: str
    end: str

    says = "{session} {end}; `holdfast log {session}`"
    next_step = "`holdfast ls --all` lists sessions that ended in the last day."


class SessionIsLost(UsageError):
    """The session of that name was lost, with all processes that held it."""

    session: str
    ago: str

    says = "{session} was lost {ago} ago; `holdfast recover {session}`"
    next_step = "`holdfast recover` starts it again, with its name, command and output."


class OffsetAhead(UsageError):
    """A reader asked to continue from a byte that was never printed."""

    offset: int
    end: int

    says = "offset {offset} is beyond the stream's end at {end}"
    next_step = "Resume from an offset this session has sent you, or from none."


class NegativeOffset(UsageError):
    """A reader asked for a byte before the first one."""

    offset: int

    says = "no byte has offset {offset}"
    next_step = "Offsets count from 0, the first byte the session printed."


class OffsetGone(UsageError):
    """A reader asked for output that is no longer kept."""

    offset: int
    start: int

    says = "offset {offset} has rolled off; the window starts at {start}"
    next_step = "Attach again: the answer says how many bytes are gone."


class InputIdReused(UsageError):
    """One input id was used for two different payloads."""

    client: str
    sequence: int

    says = "input {client}/{sequence} was already used for a different payload"
    next_step = "Give every input its own sequence number."


class InputGap(UsageError):
    """Earlier inputs from the same client are missing."""

    client: str
    expected: int
    sequence: int

    says = "client {client} sent input {sequence} when {expected} was next"
    next_step = "Send the missing inputs first, in order."


class InputTooLarge(UsageError):
    """An input is larger than the limit."""

    size: int
    limit: int

    says = "an input of {size} bytes is over the limit of {limit}"
    next_step = "Split it into smaller inputs."


class LineTooLong(UsageError):
    """A line is longer than a canonical terminal accepts."""

    size: int
    limit: int

    says = (
        "a line of {size} bytes is over the terminal's limit of {limit}, and is not cut"
    )
    next_step = "Put the text into a file and name the file instead."


class UnwritableMessage(UsageError):
    """A message cannot be encoded under the specification."""

    kind: str
    why: str

    says = "cannot write {kind}: {why}"
    next_step = "Keep to the limits in docs/spec/wire.md."


class NotAsked(UsageError):
    """The operator has not asked for the turn."""

    asker: str

    says = "{asker} has not asked for the turn"
    next_step = "`holdfast who` shows who is waiting for the turn."


class OperatorNotHere(UsageError):
    """The operator is not attached."""

    operator: str

    says = "{operator} is not attached"
    next_step = "`drop` the turn instead; `holdfast who` shows who is attached."


class NothingPending(UsageError):
    """There is no pending request of that number."""

    ticket: int

    says = "there is no request {ticket}"
    next_step = "`holdfast gate pending` lists the requests."


class SessionOver(UsageError):
    """The session has ended; nothing can be written to it."""

    state: str

    says = "the session is {state}"
    next_step = "`holdfast new` starts another."


class StillAlive(UsageError):
    """The session to recover may still have running processes."""

    incarnation: int
    state: str

    says = "incarnation {incarnation} is {state} and may still have processes"
    next_step = "End it first; a session never runs twice at once."


class NotRecoverable(UsageError):
    """The session is not lost, or its records are incomplete."""

    session: str
    why: str

    says = "{session} cannot be recovered: {why}"
    next_step = "`holdfast log` shows what it did; `holdfast new` starts another."


class InsideCapsule(UsageError):
    """A program in a capsule tried to reach holdfast, which is outside."""

    says = "this is a capsule: holdfast cannot be reached from inside"
    next_step = "Run it outside; detach with Ctrl-] d if you are attached."


class PlaceNotOurs(UsageError):
    """A folder that must belong to this user alone does not."""

    path: str
    why: str

    says = "cannot use {path}: {why}"
    next_step = (
        "Own it with mode 0700, or choose another with HOLDFAST_RUNTIME_DIR,"
        " HOLDFAST_CONFIG_DIR or HOLDFAST_STATE_DIR."
    )


class SocketPathTooLong(UsageError):
    """A socket's path is longer than the kernel allows."""

    path: str
    limit: int

    says = "{path} is over the limit of {limit} bytes for a socket's path"
    next_step = "Set HOLDFAST_RUNTIME_DIR to a shorter path."


class CannotStart(UsageError):
    """The command of a new session could not be started."""

    command: str
    why: str

    says = "cannot start {command!r}: {why}"
    next_step = (
        "Check the command, its path and the folder to start it in;"
        " `holdfast new --name NAME` names a session."
    )


class NameTaken(UsageError):
    """Another session has that name."""

    name: str

    says = "a session named {name!r} already exists"
    next_step = "Choose another name; `holdfast ls` shows which are taken."


class AmbiguousSession(UsageError):
    """A name or the start of an id matches more than one session."""

    text: str
    count: int

    says = "{text!r} matches {count} sessions"
    next_step = "Type more letters of the id, as `holdfast ls` prints it."


class SessionNotNamed(UsageError):
    """No session was named, and there is not exactly one to choose."""

    count: int

    next_step = "Name one that `holdfast ls` lists, or start one with `holdfast new`."

    def _sentence(self) -> str:
        return f"no session was named, and there are {self.count or 'none'} here"


class NotATerminal(UsageError):
    """The command needs a terminal."""

    what: str

    says = "{what} is not a terminal"
    next_step = (
        "Run it in a terminal; `new --detach`, `read`, `send` and `wait` need none."
    )


class AttachedToItself(UsageError):
    """A session cannot be attached to its own terminal."""

    session: str

    says = (
        "this terminal belongs to session {session}, which would show its own"
        " output for ever"
    )
    next_step = "Attach from a terminal outside this session."


class MalformedArgument(UsageError):
    """An argument on the command line is invalid."""

    text: str
    wanted: str

    says = "{text!r} is not {wanted}"
    next_step = "See `holdfast VERB --help`."


class InputNotPassedOn(UsageError):
    """There is data on standard input, which the verb does not pass on."""

    verb: str

    says = "`holdfast {verb}` does not pass on standard input, but there is some"
    next_step = "Use `< /dev/null`, or put the data into a file on that host."


class RequestTooLarge(UsageError):
    """A request does not fit into one packet to the keeper."""

    size: int

    says = "a request of {size} bytes does not fit one packet"
    next_step = "Use a shorter command and fewer or shorter variables."


class NoSuchSignal(UsageError):
    """A number or word is not a signal."""

    text: str

    says = "{text!r} is not a signal"
    next_step = "Use a number from 1 to 64; `kill -l` lists them."


class MalformedPolicy(UsageError):
    """A policy file has mistakes; the policy in force stays in force."""

    count: int
    problems: str

    next_step = "`holdfast gate check` lists every problem with its line."

    def _sentence(self) -> str:
        return (
            f"the policy has {self.count} problem{'' if self.count == 1 else 's'}:"
            f" {self.problems}"
        )


class MalformedSize(UsageError):
    """A text is not a valid size."""

    text: str

    says = "{text!r} is not a size"
    next_step = "Write columns x rows, such as 120x40."


class OperatorTaken(UsageError):
    """There is already an operator of that name."""

    name: str

    says = "an operator {name!r} already exists"
    next_step = "Choose another name."


class NoSuchRight(UsageError):
    """There is no right of that name."""

    right: str

    says = "there is no right {right!r}"
    next_step = "`holdfast grant --help` lists the rights."


class TicketNotNamed(UsageError):
    """No request was named, and there is not exactly one pending."""

    count: int

    next_step = "`holdfast gate pending` lists the requests with their numbers."

    def _sentence(self) -> str:
        return f"no request was named, and {self.count or 'none'} are pending"


class MalformedInvite(UsageError):
    """A text is not an invitation link."""

    why: str

    says = "this is not an invitation: {why}"
    next_step = "Copy the whole link, from https:// to its last letter."


class PlaintextRefused(UsageError):
    """A relay without TLS is allowed on loopback only."""

    address: str

    says = "{address} is not loopback, and needs TLS"
    next_step = "Use TLS (https, --cert and --key), or --plain on loopback."


class HostNotKnown(UsageError):
    """No host in the address book has this name."""

    name: str

    says = "no host is called {name!r} here"
    next_step = "`holdfast hosts` lists the hosts you have joined; `join` adds one."


class HostTaken(UsageError):
    """Another host has this name in the address book."""

    name: str

    says = "another host is called {name!r} here"
    next_step = "Choose another with `holdfast join --name`."


class OnlyHere(UsageError):
    """Something can be done only on the machine itself, not remotely."""

    what: str

    says = "{what} can only be done on the machine itself"
    next_step = "Do it on that machine."


class NotInstalled(UsageError):
    """An optional part of holdfast is not installed."""

    part: str
    why: str

    says = "{part} is not installed: {why}"
    next_step = "Install holdfast with its extra `mcp`; `make setup` does."
