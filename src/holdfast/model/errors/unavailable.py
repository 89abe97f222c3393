"""Nothing was done: try again later."""

from holdfast.model.errors.branches import Unavailable


class Busy(Unavailable):
    """The program does not read its input, and the queue before it is full."""

    code = "busy"
    next_step = "Wait until the program reads, or seize with --interrupt."

    def __init__(self, queued: int, limit: int) -> None:
        super().__init__(
            f"{queued} bytes already wait for the program (limit {limit})",
            queued=queued,
            limit=limit,
        )


class TooManyClients(Unavailable):
    """One turn was used from more clients than we keep count of."""

    code = "too-many-clients"
    next_step = "Close some, or drop the turn and take it again."

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} clients wrote under one turn", limit=limit)


class BudgetSpent(Unavailable):
    """An operator has done as much as its kind may, for now."""

    code = "budget-spent"
    next_step = "Wait as long as it says; limits of a policy are in its `[budget]`."

    def __init__(self, what: str, limit: int, wait_ms: int) -> None:
        super().__init__(
            f"the limit of {limit} {what} is reached: wait {wait_ms} ms",
            what=what,
            limit=limit,
            wait_ms=wait_ms,
        )


class AskedTooOften(Unavailable):
    """Somebody asks for more at a time than one operator may."""

    code = "asked-too-often"
    next_step = "Wait a second, and ask for less at a time."

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(
            f"at most {limit} {what}: ask again later", what=what, limit=limit
        )


class NotAtPrompt(Unavailable):
    """A command can only be typed at the shell's prompt, and it is not there."""

    code = "not-at-prompt"
    next_step = (
        "`holdfast wait NAME --for prompt`; `holdfast keys NAME C-c` gives up what"
        " stands typed; `holdfast state NAME` says what it does."
    )

    def __init__(self, why: str) -> None:
        super().__init__(f"the shell is not at an empty prompt: {why}", why=why)


class NotWaiting(Unavailable):
    """A secret is only typed while somebody asks for one, and nobody does."""

    code = "not-waiting"
    next_step = "`holdfast wait NAME --for secret` says when somebody does."

    def __init__(self, state: str) -> None:
        super().__init__(
            f"nothing waits for an answer: the session is {state}", state=state
        )


class WouldBeShown(Unavailable):
    """A secret typed now would be on the screen, and in the stream."""

    code = "would-be-shown"
    next_step = "`holdfast send NAME --enter TEXT` types what may be seen."

    def __init__(self, why: str) -> None:
        super().__init__(f"the answer would not stay a secret: {why}", why=why)


class SessionFull(Unavailable):
    """As many clients are attached as may be."""

    code = "session-full"
    next_step = "Detach some; `holdfast who` says who is here."

    def __init__(self, whose: str, limit: int) -> None:
        super().__init__(
            f"{whose} has {limit} clients attached already",
            whose=whose,
            limit=limit,
        )


class HostFull(Unavailable):
    """As many sessions are kept on this machine as may be."""

    code = "host-full"
    next_step = "End sessions that are no longer needed, or raise the limit."

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} sessions are kept already", limit=limit)


class TooManyPending(Unavailable):
    """An actor has as many requests waiting for approval as it may."""

    code = "too-many-pending"
    next_step = "Wait for an answer to those that are pending."

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} requests already wait", limit=limit)


class AskRefused(Unavailable):
    """The turn was asked for, and not given."""

    code = "ask-refused"
    next_step = "Ask again later."

    def __init__(self, holder: str, why: str) -> None:
        super().__init__(
            f"{holder or 'nobody'} keeps the turn: {why}", holder=holder, why=why
        )


class PolicyUnavailable(Unavailable):
    """The policy crashed, hung or answered nonsense, which means deny."""

    code = "policy-unavailable"
    next_step = "`holdfast gate check` looks at the policy."

    def __init__(self, why: str) -> None:
        super().__init__(f"denied: the policy {why}", why=why)


class PolicyMoved(Unavailable):
    """The policy, or what is in force, changed after the difference was shown."""

    code = "policy-moved"
    next_step = "Nothing was applied. Run `holdfast gate apply` again, and look anew."

    def __init__(self, why: str) -> None:
        super().__init__(f"the policy was not applied: {why}", why=why)


class ApprovalTimeout(Unavailable):
    """Nobody answered a request for approval in time."""

    code = "approval-timeout"
    next_step = (
        "Nothing was done. Tell an operator with `approve`, then send it again, or"
        " wait longer with `--approval-timeout`."
    )

    def __init__(self, seconds: int) -> None:
        super().__init__(f"nobody answered within {seconds} s", seconds=seconds)


class AskerGone(Unavailable):
    """Whoever sent an input that waited for approval has gone for good."""

    code = "asker-gone"
    next_step = "Send it again, and stay until it is answered."

    def __init__(self, ticket: int) -> None:
        super().__init__(
            f"request {ticket} was given up: its sender has left", ticket=ticket
        )


class LogbookFailed(Unavailable):
    """The logbook could not be written, so the input was not accepted."""

    code = "logbook-failed"
    next_step = "Free some disk space; `holdfast doctor` says where."

    def __init__(self, why: str) -> None:
        super().__init__(f"the logbook cannot be written: {why}", why=why)


class StoreFailed(Unavailable):
    """A decision could not be made durable, so it was not made."""

    code = "store-failed"
    next_step = "Free some disk space on the relay, then ask again."

    def __init__(self, session: str) -> None:
        super().__init__(f"nothing can be decided for {session} now", session=session)


class TooManySessions(Unavailable):
    """The relay keeps leases for as many sessions as it may."""

    code = "too-many-sessions"
    next_step = "End sessions that are no longer needed, or use another relay."

    def __init__(self, limit: int) -> None:
        super().__init__(f"leases of {limit} sessions are kept already", limit=limit)


class SessionLost(Unavailable):
    """The session's processes are gone; its identity and records are not."""

    code = "session-lost"
    next_step = "`holdfast recover` starts its next incarnation."

    def __init__(self, incarnation: int) -> None:
        super().__init__(
            f"incarnation {incarnation} of the session was lost",
            incarnation=incarnation,
        )


class LeaseLost(Unavailable):
    """The host may not speak for the session now."""

    code = "lease-lost"
    next_step = "Wait until the host reaches its relay, or attach through another."

    def __init__(self, incarnation: int) -> None:
        super().__init__(
            f"the lease of incarnation {incarnation} has run out",
            incarnation=incarnation,
        )


class LeaseHeld(Unavailable):
    """Another host holds the lease, or may still believe it does."""

    code = "lease-held"
    next_step = "Wait until the lease has run out, then ask again."

    def __init__(self, holder: str, incarnation: int, wait_ms: int) -> None:
        super().__init__(
            f"{holder} may hold incarnation {incarnation} for {wait_ms} ms more",
            holder=holder,
            incarnation=incarnation,
            wait_ms=wait_ms,
        )


class RolledBack(Unavailable):
    """A relay's store is older than what we have seen of it."""

    code = "rolled-back"
    next_step = "Restore the relay's newer store; until then nothing is decided."

    def __init__(self, seen: int, offered: int) -> None:
        super().__init__(
            f"the relay offers incarnation {offered}, but {seen} has lived already",
            seen=seen,
            offered=offered,
        )


class NoKeeper(Unavailable):
    """The keeper does not answer."""

    code = "no-keeper"
    next_step = "`holdfast up` starts it; `holdfast doctor` says what is wrong."

    def __init__(self, why: str) -> None:
        super().__init__(f"the keeper does not answer: {why}", why=why)


class NoDescriptorLeft(Unavailable):
    """The keeper may not open as many files as another session needs."""

    code = "no-descriptor-left"
    next_step = "End some sessions, or raise the limit (ulimit -n) and start it anew."

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the keeper may not have more than {limit} files open", limit=limit
        )


class NoTerminalLeft(Unavailable):
    """The kernel has no pseudo-terminal to give."""

    code = "no-terminal-left"
    next_step = "End some sessions, or raise kernel.pty.max."

    def __init__(self, why: str) -> None:
        super().__init__(f"no terminal can be had: {why}", why=why)


class NoExecGate(Unavailable):
    """The machine cannot hold an exec until somebody has judged it."""

    code = "no-exec-gate"
    next_step = "`holdfast doctor` says why; start the session without --exec-gate."

    def __init__(self, why: str) -> None:
        super().__init__(f"there can be no exec gate here: {why}", why=why)


class SessionUnreachable(Unavailable):
    """The process that holds the session did not answer, or hung up."""

    code = "session-unreachable"
    next_step = "Try again; `holdfast ls` says whether the session still runs."

    def __init__(self, session: str, why: str) -> None:
        super().__init__(
            f"session {session} does not answer: {why}", session=session, why=why
        )


class FreezeIncomplete(Unavailable):
    """The session takes no input, but not all of it stands still."""

    code = "freeze-incomplete"
    next_step = "Freeze it again, or end the processes that are named."

    def __init__(self, count: int, pid: int, why: str) -> None:
        super().__init__(
            f"nothing is written to the session, but {count} of its processes may"
            f" still run; process {pid}: {why}",
            count=count,
            pid=pid,
            why=why,
        )


class ThawIncomplete(Unavailable):
    """The kernel still holds the session's cgroup, and so the session stands."""

    code = "thaw-incomplete"
    next_step = "Something above it is frozen: thaw that, then thaw it again."

    def __init__(self) -> None:
        super().__init__("the session still stands: the kernel holds its cgroup")


class WaitedInVain(Unavailable):
    """What was waited for did not come in the time given."""

    code = "waited-in-vain"
    next_step = "Look at the session, or wait longer with --timeout."

    def __init__(self, what: str, waited_ms: int) -> None:
        super().__init__(
            f"{what} did not come within {waited_ms} ms",
            what=what,
            waited_ms=waited_ms,
        )


class PainterDied(Unavailable):
    """The process that draws screens went away, and its screens with it."""

    code = "painter-died"
    next_step = "Ask again: another is started, and painted from the window."

    def __init__(self, why: str) -> None:
        super().__init__(f"the painter is gone: {why}", why=why)


class ScreenForgotten(Unavailable):
    """The painter has no screen of the session, or has put it away."""

    code = "screen-forgotten"
    next_step = "Paint it again from the window."

    def __init__(self, session: str) -> None:
        super().__init__(f"the painter has no screen of {session}", session=session)


class UpgradeFailed(Unavailable):
    """The new code did not hold what it must, and everything is as it was."""

    code = "upgrade-failed"
    next_step = "Every session goes on under the old code; see keeper.log for more."

    def __init__(self, session: str, why: str) -> None:
        where = f" at {session}" if session else ""
        super().__init__(f"not upgraded{where}: {why}", session=session, why=why)


class HostDidNotStart(Unavailable):
    """The host was started, and does not answer."""

    code = "host-did-not-start"
    next_step = "See host.log in the runtime folder; `holdfast doctor` may know why."

    def __init__(self, why: str) -> None:
        super().__init__(f"the host did not start: {why}", why=why)


class GraphUnavailable(Unavailable):
    """What runs in a session cannot be told now."""

    code = "graph-unavailable"
    next_step = "Ask again when the last answer has been read."

    def __init__(self, why: str) -> None:
        super().__init__(f"what runs there cannot be told: {why}", why=why)


class LinkEnded(Unavailable):
    """The link under a channel ended, and nobody said that all was sent."""

    code = "link-ended"
    next_step = "Dial again, and go on from the last byte received."

    def __init__(self, why: str) -> None:
        super().__init__(f"the link ended: {why or 'without a reason'}", why=why)


class HandshakeTimeout(Unavailable):
    """The other side did not finish the handshake in time."""

    code = "handshake-timeout"
    next_step = "Try again; the other side or the way to it is slow."

    def __init__(self, seconds: int) -> None:
        super().__init__(f"no handshake within {seconds} s", seconds=seconds)


class ChannelWornOut(Unavailable):
    """A channel has sealed as many messages as it may."""

    code = "channel-worn-out"
    next_step = "Open a new channel."

    def __init__(self) -> None:
        super().__init__("this channel has sealed all the messages it may")


class NotReachable(Unavailable):
    """A relay knows nobody of that id who would have us.

    Whether there is no such host, whether it is away or whether it does not
    admit us is not told apart: an id can be tried by anybody.
    """

    code = "not-reachable"
    next_step = "See that the host is up, and that it knows your key."

    def __init__(self, target: str) -> None:
        super().__init__(
            f"the relay knows nobody who answers you for {target}", target=target
        )


class HostSilent(Unavailable):
    """The host was told that we wait, and did not come."""

    code = "host-silent"
    next_step = "Try again; the host may have lost its link to the relay."

    def __init__(self, target: str) -> None:
        super().__init__(f"{target} did not answer the relay's knock", target=target)


class HostReplaced(Unavailable):
    """Another process registered with this host's key, and the later one counts."""

    code = "host-replaced"
    next_step = "See that this key is used on one machine only; then try again."

    def __init__(self, host: str) -> None:
        super().__init__(f"{host} has registered from elsewhere since", host=host)


class RelayUnreachable(Unavailable):
    """There is no link to the relay."""

    code = "relay-unreachable"
    next_step = "See that its address is right and that it runs; then try again."

    def __init__(self, relay: str, why: str) -> None:
        super().__init__(
            f"the relay {relay} cannot be reached: {why}", relay=relay, why=why
        )


class RelayFull(Unavailable):
    """The relay has as much of something as it may."""

    code = "relay-full"
    next_step = "Try again later, or through another relay."

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(
            f"the relay has no room for more than {limit} {what}",
            what=what,
            limit=limit,
        )


class RelayLeaving(Unavailable):
    """The relay is being stopped and takes nobody in any more."""

    code = "relay-leaving"
    next_step = "Try again in a moment, or through another relay."

    def __init__(self) -> None:
        super().__init__("the relay is being stopped")


class SlowPeer(Unavailable):
    """The other end did not take what was sent to it, for too long."""

    code = "slow-peer"
    next_step = "Connect again; nothing that was taken is sent twice."

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the other end took nothing for {seconds} s", seconds=seconds)


class HostUnreachable(Unavailable):
    """None of a host's relays brings us to it."""

    code = "host-unreachable"
    next_step = "Try again; `holdfast hosts` says which relays answer."

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"{host} cannot be reached: {why}", host=host, why=why)
