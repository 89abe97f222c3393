"""The request itself is wrong: fix the call."""

from holdfast.model.errors.branches import UsageError


class MalformedId(UsageError):
    """A text was taken for an identifier and is none."""

    text: str
    wanted: str

    says = "{text!r} is not a {wanted}"
    next_step = "Copy the id as `holdfast ls` prints it."


class MalformedName(UsageError):
    """A name has characters or a length that names may not have."""

    text: str
    why: str

    says = "{text!r} cannot be a name: {why}"
    next_step = (
        "Use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit."
    )


class MalformedKey(UsageError):
    """Bytes were taken for a key and are none."""

    size: int
    wanted: int

    says = "a key of this kind has {wanted} bytes, not {size}"
    next_step = "Use the key as it was made, whole and unchanged."


class SizeOutOfRange(UsageError):
    """A terminal size is smaller or larger than any terminal."""

    columns: int
    rows: int

    says = "no terminal is {columns} columns by {rows} rows"
    next_step = "Use 1 to 1000 columns and 1 to 1000 rows."


class NoMarks(UsageError):
    """The session's program does not tell where its commands begin and end."""

    command: str

    says = "{command!r} was not started with shell integration"
    next_step = "Use `send` and `wait`, or start bash, zsh or fish with `new`."


class KeyUsed(UsageError):
    """The key of a command was used for another one before."""

    key: str

    says = "the key {key!r} was used for another command"
    next_step = "Use another key; the same line with this key returns its outcome."


class SessionNotFound(UsageError):
    """No session of that name or id lives here."""

    session: str

    says = "no session {session!r} here"
    next_step = "`holdfast ls` lists the sessions."


class SessionEnded(UsageError):
    """The session of that name was here, and is over."""

    session: str
    end: str

    says = "{session} {end}; `holdfast log {session}`"
    next_step = "`holdfast ls --all` lists what ended in the last day."


class SessionIsLost(UsageError):
    """The session of that name was lost with all processes that held it."""

    session: str
    ago: str

    says = "{session} was lost {ago} ago; `holdfast recover {session}`"
    next_step = "`holdfast recover` starts it again: its name, command and output."


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
    """A reader asked for a byte that the window no longer keeps."""

    offset: int
    start: int

    says = "offset {offset} has rolled off; the window starts at {start}"
    next_step = "Attach again: the answer says how many bytes are gone."


class InputIdReused(UsageError):
    """One input id came with two different payloads."""

    client: str
    sequence: int

    says = "input {client}/{sequence} was used for a different payload before"
    next_step = "Give every input a sequence number of its own."


class InputGap(UsageError):
    """An input came whose predecessors from the same client never did."""

    client: str
    expected: int
    sequence: int

    says = "client {client} sent input {sequence} when {expected} was next"
    next_step = "Send the missing inputs first, in order."


class InputTooLarge(UsageError):
    """An input holds more bytes than one input may."""

    size: int
    limit: int

    says = "an input of {size} bytes is over the limit of {limit}"
    next_step = "Split it into smaller inputs."


class LineTooLong(UsageError):
    """A line is longer than a canonical terminal takes; it would be cut."""

    size: int
    limit: int

    says = "a line of {size} bytes is over the terminal's {limit}, and is not cut"
    next_step = "Put the text into a file and name the file instead."


class UnwritableMessage(UsageError):
    """A message was to be sent that the specification has no form for."""

    kind: str
    why: str

    says = "cannot write {kind}: {why}"
    next_step = "Keep to the limits in docs/spec/wire.md."


class NotAsked(UsageError):
    """An answer was given to a request for the turn that nobody made."""

    asker: str

    says = "{asker} has not asked for the turn"
    next_step = "`holdfast who` shows who waits for the turn."


class OperatorNotHere(UsageError):
    """An operator was named who is not attached."""

    operator: str

    says = "{operator} is not attached"
    next_step = "`drop` the turn instead; `holdfast who` shows who is attached."


class NothingPending(UsageError):
    """An approval or denial names no pending request."""

    ticket: int

    says = "there is no request {ticket}"
    next_step = "`holdfast gate pending` lists the requests."


class SessionOver(UsageError):
    """The session has exited; there is nothing left to write to."""

    state: str

    says = "the session is {state}"
    next_step = "`holdfast new` starts another."


class StillAlive(UsageError):
    """A session was to be recovered while an earlier life may still run."""

    incarnation: int
    state: str

    says = "incarnation {incarnation} is {state} and may still have processes"
    next_step = "End it first; a session never has two lives at once."


class NotRecoverable(UsageError):
    """A session was to be recovered that is not lost, or too little of it is kept."""

    session: str
    why: str

    says = "{session} cannot be recovered: {why}"
    next_step = "`holdfast log` shows what it did; `holdfast new` starts another."


class InsideCapsule(UsageError):
    """Something in a capsule wants to speak to holdfast, which is outside."""

    says = "this is a capsule: holdfast cannot be reached from inside"
    next_step = "Run it outside; detach with Ctrl-] d if you are attached."


class PlaceNotOurs(UsageError):
    """A folder that must be ours alone is not."""

    path: str
    why: str

    says = "cannot use {path}: {why}"
    next_step = (
        "Own it with mode 0700, or choose another with HOLDFAST_RUNTIME_DIR,"
        " HOLDFAST_CONFIG_DIR or HOLDFAST_STATE_DIR."
    )


class SocketPathTooLong(UsageError):
    """A socket's path is longer than the kernel takes."""

    path: str
    limit: int

    says = "{path} is over the {limit} bytes a socket's path may have"
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

    says = "a session named {name!r} exists already"
    next_step = "Choose another name; `holdfast ls` shows which are taken."


class AmbiguousSession(UsageError):
    """A name or the beginning of an id fits more than one session."""

    text: str
    count: int

    says = "{text!r} matches {count} sessions"
    next_step = "Write more letters of the id, as `holdfast ls` prints it."


class SessionNotNamed(UsageError):
    """A session was to be picked, and which one is not clear."""

    count: int

    next_step = "Name one that `holdfast ls` lists, or start one with `holdfast new`."

    def _sentence(self) -> str:
        return f"no session was named, and {self.count or 'none'} of them are here"


class NotATerminal(UsageError):
    """Something that needs a terminal was run without one."""

    what: str

    says = "{what} is not a terminal"
    next_step = (
        "Run it in a terminal; `new --detach`, `read`, `send` and `wait` need none."
    )


class AttachedToItself(UsageError):
    """A session was to be shown inside itself, which would never end."""

    session: str

    says = (
        "this terminal is session {session}: shown in itself, it would print its own"
        " output for ever"
    )
    next_step = "Attach from a terminal outside of this session."


class MalformedArgument(UsageError):
    """A word on the command line does not say what it should."""

    text: str
    wanted: str

    says = "{text!r} is not {wanted}"
    next_step = "See `holdfast VERB --help`."


class InputNotPassedOn(UsageError):
    """Something stands on standard input, and the verb would not pass it on."""

    verb: str

    says = "`holdfast {verb}` passes no standard input on, and there is some"
    next_step = "Give it `< /dev/null`, or put what it should read into a file there."


class RequestTooLarge(UsageError):
    """A request holds more than fits one packet to the keeper."""

    size: int

    says = "a request of {size} bytes does not fit one packet"
    next_step = "Use a shorter command and fewer or shorter variables."


class NoSuchSignal(UsageError):
    """A number or word was taken for a signal and is none."""

    text: str

    says = "{text!r} is not a signal"
    next_step = "Use a number from 1 to 64; `kill -l` lists them."


class MalformedPolicy(UsageError):
    """A policy file cannot be read as one; the policy in force stays."""

    count: int
    problems: str

    next_step = "`holdfast gate check` lists every problem with its line."

    def _sentence(self) -> str:
        return (
            f"the policy has {self.count} problem{'' if self.count == 1 else 's'}:"
            f" {self.problems}"
        )


class MalformedSize(UsageError):
    """A text was taken for a size and is none."""

    text: str

    says = "{text!r} is not a size"
    next_step = "Write columns x rows, such as 120x40."


class OperatorTaken(UsageError):
    """An operator of that name is known already."""

    name: str

    says = "an operator {name!r} exists already"
    next_step = "Choose another name."


class NoSuchRight(UsageError):
    """A word is not the name of a right."""

    right: str

    says = "there is no right {right!r}"
    next_step = "`holdfast grant --help` lists the rights."


class TicketNotNamed(UsageError):
    """Something was to be approved or denied, and what is not clear."""

    count: int

    next_step = "`holdfast gate pending` lists what waits, each under its ticket."

    def _sentence(self) -> str:
        return (
            f"no ticket was named, and {self.count or 'nothing'}"
            f" wait{'s' * (not self.count)} for approval"
        )


class MalformedInvite(UsageError):
    """A text was taken for the link of an invitation and is none."""

    why: str

    says = "this is not an invitation: {why}"
    next_step = "Copy the link whole, from https:// to its last letter."


class PlaintextRefused(UsageError):
    """A relay without TLS is only spoken to, or run, on loopback."""

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
    """Something that can only be done on the machine itself was asked from afar."""

    what: str

    says = "{what} can only be done on the machine itself"
    next_step = "Do it on that machine."


class NotInstalled(UsageError):
    """A part of holdfast is asked for that was left out when it was installed."""

    part: str
    why: str

    says = "{part} is not installed: {why}"
    next_step = "Install holdfast with its extra `mcp`; `make setup` does."
