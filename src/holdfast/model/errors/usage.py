"""The request itself is wrong: fix the call."""

from holdfast.model.errors.branches import UsageError


class MalformedId(UsageError):
    """A text was taken for an identifier and is none."""

    code = "malformed-id"
    next_step = "Copy the id as `holdfast ls` prints it."

    def __init__(self, text: str, wanted: str) -> None:
        super().__init__(f"{text!r} is not a {wanted}", text=text, wanted=wanted)


class MalformedName(UsageError):
    """A name has characters or a length that names may not have."""

    code = "malformed-name"
    next_step = (
        "Use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit."
    )

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"{text!r} cannot be a name: {why}", text=text, why=why)


class MalformedKey(UsageError):
    """Bytes were taken for a key and are none."""

    code = "malformed-key"
    next_step = "Use the key as it was made, whole and unchanged."

    def __init__(self, size: int, wanted: int) -> None:
        super().__init__(
            f"a key of this kind has {wanted} bytes, not {size}",
            size=size,
            wanted=wanted,
        )


class SizeOutOfRange(UsageError):
    """A terminal size is smaller or larger than any terminal."""

    code = "size-out-of-range"
    next_step = "Use 1 to 1000 columns and 1 to 1000 rows."

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(
            f"no terminal is {columns} columns by {rows} rows",
            columns=columns,
            rows=rows,
        )


class NoMarks(UsageError):
    """The session's program does not tell where its commands begin and end."""

    code = "no-marks"
    next_step = "Use `send` and `wait`, or start bash, zsh or fish with `new`."

    def __init__(self, command: str) -> None:
        super().__init__(
            f"{command!r} was not started with shell integration", command=command
        )


class KeyUsed(UsageError):
    """The key of a command was used for another one before."""

    code = "key-used"
    next_step = "Take another key; the same line with this key tells how it ended."

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} was used for another command", key=key)


class SessionNotFound(UsageError):
    """No session of that name or id lives here."""

    code = "session-not-found"
    next_step = "`holdfast ls` lists the sessions."

    def __init__(self, session: str) -> None:
        super().__init__(f"no session {session!r} here", session=session)


class OffsetAhead(UsageError):
    """A reader asked to continue from a byte that was never printed."""

    code = "offset-ahead"
    next_step = "Resume from an offset this session has sent you, or from none."

    def __init__(self, offset: int, end: int) -> None:
        super().__init__(
            f"offset {offset} is beyond the stream's end at {end}",
            offset=offset,
            end=end,
        )


class NegativeOffset(UsageError):
    """A reader asked for a byte before the first one."""

    code = "negative-offset"
    next_step = "Offsets count from 0, the first byte the session printed."

    def __init__(self, offset: int) -> None:
        super().__init__(f"no byte has offset {offset}", offset=offset)


class OffsetGone(UsageError):
    """A reader asked for a byte that the window no longer keeps."""

    code = "offset-gone"
    next_step = "Attach again: the answer says how many bytes are gone."

    def __init__(self, offset: int, start: int) -> None:
        super().__init__(
            f"offset {offset} has rolled off; the window starts at {start}",
            offset=offset,
            start=start,
        )


class InputIdReused(UsageError):
    """One input id came with two different payloads."""

    code = "input-id-reused"
    next_step = "Give every input a sequence number of its own."

    def __init__(self, client: str, sequence: int) -> None:
        super().__init__(
            f"input {client}/{sequence} was used for a different payload before",
            client=client,
            sequence=sequence,
        )


class InputGap(UsageError):
    """An input came whose predecessors from the same client never did."""

    code = "input-gap"
    next_step = "Send the missing inputs first, in order."

    def __init__(self, client: str, expected: int, sequence: int) -> None:
        super().__init__(
            f"client {client} sent input {sequence} when {expected} was next",
            client=client,
            expected=expected,
            sequence=sequence,
        )


class InputTooLarge(UsageError):
    """An input holds more bytes than one input may."""

    code = "input-too-large"
    next_step = "Split it into smaller inputs."

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"an input of {size} bytes is over the limit of {limit}",
            size=size,
            limit=limit,
        )


class LineTooLong(UsageError):
    """A line is longer than a canonical terminal takes; it would be cut."""

    code = "line-too-long"
    next_step = "Put the text into a file and name the file instead."

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"a line of {size} bytes is over the terminal's {limit}, and is not cut",
            size=size,
            limit=limit,
        )


class UnwritableMessage(UsageError):
    """A message was to be sent that the specification has no form for."""

    code = "unwritable-message"
    next_step = "Keep to the limits in docs/spec/wire.md."

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"cannot write {kind}: {why}", kind=kind, why=why)


class NotAsked(UsageError):
    """An answer was given to a request for the turn that nobody made."""

    code = "not-asked"
    next_step = "`holdfast who` shows who waits for the turn."

    def __init__(self, asker: str) -> None:
        super().__init__(f"{asker} has not asked for the turn", asker=asker)


class OperatorNotHere(UsageError):
    """An operator was named who is not attached."""

    code = "operator-not-here"
    next_step = "`drop` the turn instead, for whoever comes; `who` shows who is here."

    def __init__(self, operator: str) -> None:
        super().__init__(f"{operator} is not attached", operator=operator)


class NothingPending(UsageError):
    """An approval or denial names no pending request."""

    code = "nothing-pending"
    next_step = "`holdfast gate pending` lists what waits for an answer."

    def __init__(self, ticket: int) -> None:
        super().__init__(f"nothing is pending under {ticket}", ticket=ticket)


class SessionOver(UsageError):
    """The session has exited; there is nothing left to write to."""

    code = "session-over"
    next_step = "`holdfast new` starts another."

    def __init__(self, state: str) -> None:
        super().__init__(f"the session is {state}", state=state)


class StillAlive(UsageError):
    """A session was to be recovered while an earlier life may still run."""

    code = "still-alive"
    next_step = "End it first; a session never has two lives at once."

    def __init__(self, incarnation: int, state: str) -> None:
        super().__init__(
            f"incarnation {incarnation} is {state} and may still have processes",
            incarnation=incarnation,
            state=state,
        )


class PlaceNotOurs(UsageError):
    """A folder that must be ours alone is not."""

    code = "place-not-ours"
    next_step = (
        "Make it yours with mode 0700, or choose another by HOLDFAST_RUNTIME_DIR,"
        " HOLDFAST_CONFIG_DIR or HOLDFAST_STATE_DIR."
    )

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"cannot use {path}: {why}", path=path, why=why)


class SocketPathTooLong(UsageError):
    """A socket's path is longer than the kernel takes."""

    code = "socket-path-too-long"
    next_step = "Set HOLDFAST_RUNTIME_DIR to a shorter path."

    def __init__(self, path: str, limit: int) -> None:
        super().__init__(
            f"{path} is over the {limit} bytes a socket's path may have",
            path=path,
            limit=limit,
        )


class CannotStart(UsageError):
    """The command of a new session could not be started."""

    code = "cannot-start"
    next_step = "Check the command, its path and the folder to start it in."

    def __init__(self, command: str, why: str) -> None:
        super().__init__(f"cannot start {command!r}: {why}", command=command, why=why)


class NameTaken(UsageError):
    """Another session has that name."""

    code = "name-taken"
    next_step = "Choose another name; `holdfast ls` shows which are taken."

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a session named {name!r} already", name=name)


class AmbiguousSession(UsageError):
    """A name or the beginning of an id fits more than one session."""

    code = "ambiguous-session"
    next_step = "Write more letters of the id, as `holdfast ls` prints it."

    def __init__(self, text: str, count: int) -> None:
        super().__init__(f"{text!r} fits {count} sessions", text=text, count=count)


class SessionNotNamed(UsageError):
    """A session was to be picked, and which one is not clear."""

    code = "session-not-named"
    next_step = "Name one that `holdfast ls` lists, or start one with `holdfast new`."

    def __init__(self, count: int) -> None:
        super().__init__(
            f"no session was named, and {count or 'none'} of them are here",
            count=count,
        )


class NotATerminal(UsageError):
    """Something that needs a terminal was run without one."""

    code = "not-a-terminal"
    next_step = (
        "Run it in a terminal; `new --detach`, `read`, `send` and `wait` need none."
    )

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not a terminal", what=what)


class AttachedToItself(UsageError):
    """A session was to be shown inside itself, which would never end."""

    code = "attached-to-itself"
    next_step = "Attach from a terminal outside of this session."

    def __init__(self, session: str) -> None:
        super().__init__(
            f"this terminal is session {session}: shown in itself, it would print"
            " its own output for ever",
            session=session,
        )


class MalformedArgument(UsageError):
    """A word on the command line does not say what it should."""

    code = "malformed-argument"
    next_step = "`--help` after the verb says what it takes."

    def __init__(self, text: str, wanted: str) -> None:
        super().__init__(f"{text!r} is not {wanted}", text=text, wanted=wanted)


class RequestTooLarge(UsageError):
    """A request holds more than fits one packet to the keeper."""

    code = "request-too-large"
    next_step = "Use a shorter command and fewer or shorter variables."

    def __init__(self, size: int) -> None:
        super().__init__(
            f"a request of {size} bytes does not fit one packet", size=size
        )


class NoSuchSignal(UsageError):
    """A number or word was taken for a signal and is none."""

    code = "no-such-signal"
    next_step = "Use a number from 1 to 64; `kill -l` lists them."

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not a signal", text=text)


class MalformedPolicy(UsageError):
    """A policy file cannot be read as one; the policy in force stays."""

    code = "malformed-policy"
    next_step = "`holdfast gate check` lists every problem with its line."

    def __init__(self, count: int, problems: str) -> None:
        super().__init__(
            f"the policy has {count} problem{'' if count == 1 else 's'}: {problems}",
            count=count,
            problems=problems,
        )


class MalformedSize(UsageError):
    """A text was taken for a size and is none."""

    code = "malformed-size"
    next_step = "Write columns x rows, such as 120x40."

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not a size", text=text)


class OperatorTaken(UsageError):
    """An operator of that name is known already."""

    code = "operator-taken"
    next_step = "Choose another name."

    def __init__(self, name: str) -> None:
        super().__init__(f"an operator {name!r} is known already", name=name)


class NoSuchRight(UsageError):
    """A word is not the name of a right."""

    code = "no-such-right"
    next_step = "`holdfast grant --help` lists the rights."

    def __init__(self, right: str) -> None:
        super().__init__(f"there is no right {right!r}", right=right)


class TicketNotNamed(UsageError):
    """Something was to be approved or denied, and what is not clear."""

    code = "ticket-not-named"
    next_step = "`holdfast gate pending` lists what waits, each under its ticket."

    def __init__(self, count: int) -> None:
        super().__init__(
            f"no ticket was named, and {count or 'nothing'} wait{'s' * (not count)} for"
            " approval",
            count=count,
        )


class MalformedInvite(UsageError):
    """A text was taken for the link of an invitation and is none."""

    code = "malformed-invite"
    next_step = "Copy the link whole, from https:// to its last letter."

    def __init__(self, why: str) -> None:
        super().__init__(f"this is no invitation: {why}", why=why)


class PlaintextRefused(UsageError):
    """A relay without TLS is only spoken to, or run, on loopback."""

    code = "plaintext-refused"
    next_step = "Use TLS (https, --cert and --key), or --plain on loopback."

    def __init__(self, address: str) -> None:
        super().__init__(
            f"no plaintext with {address}: it is not loopback", address=address
        )


class HostNotKnown(UsageError):
    """No host in the address book has this name."""

    code = "host-not-known"
    next_step = "`holdfast hosts` lists those you may reach; `join` adds one."

    def __init__(self, name: str) -> None:
        super().__init__(f"no host is called {name!r} here", name=name)


class HostTaken(UsageError):
    """Another host has this name in the address book."""

    code = "host-taken"
    next_step = "Choose another with `holdfast join --name`."

    def __init__(self, name: str) -> None:
        super().__init__(f"another host is called {name!r} here", name=name)


class OnlyHere(UsageError):
    """Something that can only be done on the machine itself was asked from afar."""

    code = "only-here"
    next_step = "Do it on that machine."

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is only done on the machine itself", what=what)


class NotInstalled(UsageError):
    """A part of holdfast is asked for that was left out when it was installed."""

    code = "not-installed"
    next_step = "`pip install 'holdfast[mcp]'` adds what agents need."

    def __init__(self, part: str, why: str) -> None:
        super().__init__(f"{part} is not installed: {why}", part=part, why=why)
