"""Nothing was done: try again later."""

from holdfast.model.errors.branches import Unavailable


class Busy(Unavailable):
    """The program does not read its input, and the queue before it is full."""

    queued: int
    limit: int

    says = "{queued} bytes already wait for the program (limit {limit})"
    next_step = "Wait until the program reads, or seize with --interrupt."


class TooManyClients(Unavailable):
    """One turn was used from more clients than we keep count of."""

    limit: int

    says = "more than {limit} clients wrote under one turn"
    next_step = "Close some, or drop the turn and take it again."


class BudgetSpent(Unavailable):
    """An operator has done as much as its kind may, for now."""

    what: str
    limit: int
    wait_ms: int

    says = "the limit of {limit} {what} is reached: wait {wait_ms} ms"
    next_step = "Wait as long as it says; limits of a policy are in its `[budget]`."


class AskedTooOften(Unavailable):
    """Somebody asks for more at a time than one operator may."""

    what: str
    limit: int

    says = "at most {limit} {what}: ask again later"
    next_step = "Wait a second, and ask for less at a time."


class NotAtPrompt(Unavailable):
    """A command can only be typed at the shell's prompt, and it is not there."""

    why: str

    says = "the shell is not at an empty prompt: {why}"
    next_step = (
        "`holdfast wait NAME --for prompt`; `holdfast keys NAME C-c` gives up what"
        " was typed; `holdfast state NAME` says what it is doing."
    )


class NotWaiting(Unavailable):
    """A secret is only typed while somebody asks for one, and nobody does."""

    state: str

    says = "no program asks for a secret: the session is {state}"
    next_step = "`holdfast wait NAME --for secret` waits for one."


class WouldBeShown(Unavailable):
    """A secret typed now would be on the screen, and in the stream."""

    why: str

    says = "the secret would be shown: {why}"
    next_step = "`holdfast send NAME --enter TEXT` types what may be seen."


class SessionFull(Unavailable):
    """As many clients are attached as may be."""

    whose: str
    limit: int

    says = "{whose} has {limit} clients attached already"
    next_step = "Detach some; `holdfast who` shows who is attached."


class HostFull(Unavailable):
    """As many sessions are kept on this machine as may be."""

    limit: int

    says = "{limit} sessions are kept already"
    next_step = "End sessions that are no longer needed, or raise the limit."


class TooManyPending(Unavailable):
    """An actor has as many requests waiting for approval as it may."""

    limit: int

    says = "{limit} requests are already waiting"
    next_step = "Wait for an answer to those that are pending."


class AskRefused(Unavailable):
    """The turn was asked for, and not given."""

    holder: str
    why: str

    next_step = "Ask again later."

    def _sentence(self) -> str:
        return f"{self.holder or 'nobody'} keeps the turn: {self.why}"


class PolicyUnavailable(Unavailable):
    """The policy crashed, hung or answered nonsense, which means deny."""

    why: str

    says = "denied: the policy {why}"
    next_step = "`holdfast gate check` looks at the policy."


class PolicyMoved(Unavailable):
    """The policy, or what is in force, changed after the difference was shown."""

    why: str

    says = "the policy was not applied: {why}"
    next_step = "Nothing was applied. Run `holdfast gate apply` again, and look anew."


class ApprovalTimeout(Unavailable):
    """Nobody answered a request for approval in time."""

    seconds: int

    says = "nobody answered within {seconds} s"
    next_step = (
        "Nothing was done. Tell an operator with `approve`, then send it again, or"
        " wait longer with `--approval-timeout`."
    )


class AskerGone(Unavailable):
    """The sender of an input that waited for approval has gone for good."""

    ticket: int

    says = "request {ticket} was withdrawn: its sender has left"
    next_step = "Send it again, and stay until it is answered."


class LogbookFailed(Unavailable):
    """The logbook could not be written, so the input was not accepted."""

    why: str

    says = "the logbook cannot be written: {why}"
    next_step = "Free some disk space; `holdfast doctor` says where."


class StoreFailed(Unavailable):
    """A decision could not be made durable, so it was not made."""

    session: str

    says = "nothing can be decided for {session} now"
    next_step = "Free some disk space on the relay, then ask again."


class TooManySessions(Unavailable):
    """The relay keeps leases for as many sessions as it may."""

    limit: int

    says = "leases of {limit} sessions are kept already"
    next_step = "End sessions that are no longer needed, or use another relay."


class SessionLost(Unavailable):
    """The session's processes are gone; its identity and records are not."""

    incarnation: int

    says = "incarnation {incarnation} of the session was lost"
    next_step = "`holdfast recover` starts its next incarnation."


class LeaseLost(Unavailable):
    """The host may not speak for the session now."""

    incarnation: int

    says = "the lease of incarnation {incarnation} has run out"
    next_step = "Wait until the host reaches its relay, or attach through another."


class LeaseHeld(Unavailable):
    """Another host holds the lease, or may still believe it does."""

    holder: str
    incarnation: int
    wait_ms: int

    says = "{holder} may hold incarnation {incarnation} for {wait_ms} ms more"
    next_step = "Wait until the lease has run out, then ask again."


class RolledBack(Unavailable):
    """A relay's store is older than what we have seen of it."""

    seen: int
    offered: int

    says = "the relay offers incarnation {offered}, but {seen} has lived already"
    next_step = "Restore the relay's newer store; until then nothing is decided."


class NoKeeper(Unavailable):
    """The keeper does not answer."""

    why: str

    says = "the keeper does not answer: {why}"
    next_step = "`holdfast up` starts it; `holdfast doctor` says what is wrong."


class NoDescriptorLeft(Unavailable):
    """The keeper may not open as many files as another session needs."""

    limit: int

    says = "the keeper may not have more than {limit} files open"
    next_step = "End some sessions, or raise the limit (ulimit -n) and start it anew."


class NoTerminalLeft(Unavailable):
    """The kernel has no pseudo-terminal to give."""

    why: str

    says = "no terminal is available: {why}"
    next_step = "End some sessions, or raise kernel.pty.max."


class NoExecGate(Unavailable):
    """The machine cannot hold an exec until somebody has judged it."""

    why: str

    says = "the exec gate is not available here: {why}"
    next_step = "`holdfast doctor` says why; start the session without --exec-gate."


class NoCapsule(Unavailable):
    """The machine does not let us make a capsule."""

    why: str

    says = "no capsule can be made here: {why}"
    next_step = "`holdfast doctor` says why; start the session without --capsule."


class SecondName(Unavailable):
    """A file of ours has a hard link, so that covering its folder does not hide it."""

    path: str

    says = "no capsule can be made: {path} has another name, by which it could be read"
    next_step = "Find it with `find -samefile`, and remove it."


class SessionUnreachable(Unavailable):
    """The process that holds the session did not answer, or hung up."""

    session: str
    why: str

    says = "session {session} does not answer: {why}"
    next_step = "Try again; `holdfast ls` says whether the session still runs."


class FreezeIncomplete(Unavailable):
    """The session takes no input, but not all of it stands still."""

    count: int
    pid: int
    why: str

    says = (
        "nothing is written to the session, but {count} of its processes may still"
        " run; process {pid}: {why}"
    )
    next_step = "Freeze it again, or end the processes that are named."


class ThawIncomplete(Unavailable):
    """The kernel still holds the session's cgroup, and so the session stands."""

    says = "the session is still frozen: the kernel holds its cgroup"
    next_step = "Something above it is frozen: thaw that, then thaw it again."


class WaitedInVain(Unavailable):
    """What was waited for did not come in the time given."""

    what: str
    waited_ms: int

    says = "{what} did not happen within {waited_ms} ms"
    next_step = "Look at the session, or wait longer with --timeout."


class PainterDied(Unavailable):
    """The process that draws screens went away, and its screens with it."""

    why: str

    says = "the painter is gone: {why}"
    next_step = "Ask again: another is started, and painted from the window."


class ScreenForgotten(Unavailable):
    """The painter has no screen of the session, or has put it away."""

    session: str

    says = "the painter has no screen of {session}"
    next_step = "Paint it again from the window."


class UpgradeFailed(Unavailable):
    """The new code did not hold what it must, and everything is as it was."""

    session: str
    why: str

    next_step = "Every session keeps running on the old code; see keeper.log for more."

    def _sentence(self) -> str:
        where = f" at {self.session}" if self.session else ""
        return f"not upgraded{where}: {self.why}"


class HostDidNotStart(Unavailable):
    """The host was started, and does not answer."""

    why: str

    says = "the host did not start: {why}"
    next_step = "See host.log in the runtime folder; `holdfast doctor` may know why."


class GraphUnavailable(Unavailable):
    """What runs in a session cannot be told now."""

    why: str

    says = "its processes cannot be listed: {why}"
    next_step = "Ask again when the last answer has been read."


class LinkEnded(Unavailable):
    """The link under a channel ended, and nobody said that all was sent."""

    why: str

    next_step = "Dial again, and go on from the last byte received."

    def _sentence(self) -> str:
        return f"the link ended: {self.why or 'without a reason'}"


class HandshakeTimeout(Unavailable):
    """The other side did not finish the handshake in time."""

    seconds: int

    says = "no handshake within {seconds} s"
    next_step = "Try again; the other side or the way to it is slow."


class ChannelWornOut(Unavailable):
    """A channel has sealed as many messages as it may."""

    says = "this channel has used up its keys"
    next_step = "Open a new channel."


class NotReachable(Unavailable):
    """A relay knows nobody of that id who would have us.

    Whether there is no such host, whether it is away or whether it does not
    admit us is not told apart: an id can be tried by anybody.
    """

    target: str

    says = "the relay has no host {target} that admits you"
    next_step = "Check that the host is up, and that it knows your key."


class HostSilent(Unavailable):
    """The host was told that we wait, and did not come."""

    target: str

    says = "{target} did not answer the relay's knock"
    next_step = "Try again; the host may have lost its link to the relay."


class HostReplaced(Unavailable):
    """Another process registered with this host's key, and the later one counts."""

    host: str

    says = "{host} has since registered from another machine"
    next_step = "Check that this key is used on one machine only; then try again."


class RelayUnreachable(Unavailable):
    """There is no link to the relay."""

    relay: str
    why: str

    says = "the relay {relay} cannot be reached: {why}"
    next_step = "Check its address and that it is running; then try again."


class RelayFull(Unavailable):
    """The relay has as much of something as it may."""

    what: str
    limit: int

    says = "the relay has no room for more than {limit} {what}"
    next_step = "Try again later, or through another relay."


class RelayLeaving(Unavailable):
    """The relay is being stopped and takes nobody in any more."""

    says = "the relay is being stopped"
    next_step = "Try again in a moment, or through another relay."


class SlowPeer(Unavailable):
    """The other end did not take what was sent to it, for too long."""

    seconds: int

    says = "the other side read nothing for {seconds} s"
    next_step = "Connect again; nothing received is sent twice."


class HostUnreachable(Unavailable):
    """None of a host's relays brings us to it."""

    host: str
    why: str

    says = "{host} cannot be reached: {why}"
    next_step = "Try again; `holdfast hosts` says which relays answer."


class CriuFailed(Unavailable):
    """CRIU could not dump or restore a session."""

    why: str

    says = "CRIU could not do it: {why}"
    next_step = "`holdfast doctor` says whether CRIU works here."
