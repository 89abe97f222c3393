"""Nothing was done: try again later."""

from holdfast.model.errors.branches import Unavailable


class Busy(Unavailable):
    """The program does not read its input, and the input queue is full."""

    queued: int
    limit: int

    says = "{queued} bytes already wait to be read by the program (limit {limit})"
    next_step = "Wait until the program reads, or seize with --interrupt."


class TooManyClients(Unavailable):
    """Too many clients wrote under one turn."""

    limit: int

    says = "more than {limit} clients wrote under one turn"
    next_step = "Close some, or drop the turn and take it again."


class BudgetSpent(Unavailable):
    """An operator has reached the limit for its kind."""

    what: str
    limit: int
    wait_ms: int

    says = "the limit of {limit} {what} is reached: wait {wait_ms} ms"
    next_step = "Wait as long as it says; a policy sets limits in `[budget]`."


class AskedTooOften(Unavailable):
    """An operator has too many requests at a time."""

    what: str
    limit: int

    says = "at most {limit} {what}: ask again later"
    next_step = "Wait a second, and send fewer requests at a time."


class NotAtPrompt(Unavailable):
    """A command can be typed only at an empty shell prompt."""

    why: str

    says = "the shell is not at an empty prompt: {why}"
    next_step = (
        "`holdfast wait NAME --for prompt`; `holdfast keys NAME C-c` discards"
        " unsubmitted input; `holdfast state NAME` shows what the session is doing."
    )


class NotWaiting(Unavailable):
    """No program is asking for a secret."""

    state: str

    says = "no program is asking for a secret: the session is {state}"
    next_step = "`holdfast wait NAME --for secret` waits for one."


class WouldBeShown(Unavailable):
    """A secret typed now would appear on the screen and in the output."""

    why: str

    says = "the secret would be shown: {why}"
    next_step = "`holdfast send NAME --enter TEXT` types text that may be seen."


class SessionFull(Unavailable):
    """The maximum number of clients is attached."""

    whose: str
    limit: int

    says = "{whose} already has {limit} clients attached"
    next_step = "Detach some; `holdfast who` shows who is attached."


class HostFull(Unavailable):
    """The machine has the maximum number of sessions."""

    limit: int

    says = "there are already {limit} sessions"
    next_step = "End sessions that are no longer needed, or raise the limit."


class TooManyPending(Unavailable):
    """An operator has the maximum number of pending approvals."""

    limit: int

    says = "{limit} requests are already pending"
    next_step = "Wait until some of them are answered."


class AskRefused(Unavailable):
    """A request for the turn was refused."""

    holder: str
    why: str

    next_step = "Ask again later."

    def _sentence(self) -> str:
        return f"{self.holder or 'nobody'} keeps the turn: {self.why}"


class PolicyUnavailable(Unavailable):
    """The policy crashed, hung or gave an invalid answer, so it is denied."""

    why: str

    says = "denied: the policy {why}"
    next_step = "`holdfast gate check` checks the policy."


class StepRefused(Unavailable):
    """A step on the ladder cannot be made from where things stand now."""

    why: str

    says = "the step was not made: {why}"
    next_step = "`holdfast autonomy` shows where things stand."


class PolicyMoved(Unavailable):
    """The policy changed after the difference was shown."""

    why: str

    says = "the policy was not applied: {why}"
    next_step = (
        "Nothing was applied. Run `holdfast gate apply` again, and review the"
        " difference."
    )


class ApprovalTimeout(Unavailable):
    """A request for approval was not answered in time."""

    seconds: int

    says = "no one answered within {seconds} s"
    next_step = (
        "Nothing was done. Tell an operator with `approve`, then send it again, or"
        " wait longer with `--approval-timeout`."
    )


class AskerGone(Unavailable):
    """The sender of a pending input has disconnected for good."""

    ticket: int

    says = "request {ticket} was withdrawn: its sender has left"
    next_step = "Send it again, and stay until it is answered."


class LogbookFailed(Unavailable):
    """The logbook could not be written, so the input was not accepted."""

    why: str

    says = "the logbook cannot be written: {why}"
    next_step = "Free some disk space; `holdfast doctor` says where."


class StoreFailed(Unavailable):
    """A decision could not be stored durably, so it was not made."""

    session: str

    says = "nothing can be decided for {session} now"
    next_step = "Free some disk space on the relay's machine, then ask again."


class TooManySessions(Unavailable):
    """The relay has the maximum number of leases."""

    limit: int

    says = "the relay already has leases for {limit} sessions"
    next_step = "End sessions that are no longer needed, or use another relay."


class SessionLost(Unavailable):
    """The session's processes are gone; its identity and records are kept."""

    incarnation: int

    says = "incarnation {incarnation} of the session was lost"
    next_step = "`holdfast recover` starts its next incarnation."


class LeaseLost(Unavailable):
    """The host does not have the session's lease now."""

    incarnation: int

    says = "the session is fenced: the lease of incarnation {incarnation} has run out"
    next_step = "`holdfast leases`, on its host, says why and what it waits for."


class LeaseHeld(Unavailable):
    """Another host has the lease, or may still believe that it does."""

    holder: str
    incarnation: int
    wait_ms: int

    says = (
        "{holder} may have the lease of incarnation {incarnation} for {wait_ms} ms more"
    )
    next_step = "Wait until the lease has run out, then ask again."


class RolledBack(Unavailable):
    """The relay's store is older than what this host has seen of it."""

    seen: int
    offered: int

    says = "the relay offers incarnation {offered}, but {seen} has already existed"
    next_step = "Restore the relay's newer store; until then nothing is decided."


class NoKeeper(Unavailable):
    """The keeper does not answer."""

    why: str

    says = "the keeper does not answer: {why}"
    next_step = "`holdfast up` starts it; `holdfast doctor` says what is wrong."


class NoDescriptorLeft(Unavailable):
    """The keeper cannot open enough files for another session."""

    limit: int

    says = "the keeper cannot have more than {limit} files open"
    next_step = (
        "End some sessions, or raise the limit (ulimit -n) and restart the keeper."
    )


class NoTerminalLeft(Unavailable):
    """The kernel has no pseudo-terminal left."""

    why: str

    says = "no terminal is available: {why}"
    next_step = "End some sessions, or raise kernel.pty.max."


class NoExecGate(Unavailable):
    """The machine does not support the exec gate."""

    why: str

    says = "the exec gate is not available here: {why}"
    next_step = "`holdfast doctor` says why; start the session without --exec-gate."


class NoCapsule(Unavailable):
    """The machine does not support capsules."""

    why: str

    says = "no capsule can be made here: {why}"
    next_step = "`holdfast doctor` says why; start the session without --capsule."


class NoOwnFiles(Unavailable):
    """A session cannot have its own files, or those it had cannot be used."""

    why: str

    says = "the session cannot have its own files: {why}"
    next_step = "`holdfast doctor` says whether overlays work here; use --files shared."


class FilesBusy(Unavailable):
    """The changes of the session are already being applied."""

    says = "its changes are already being applied"
    next_step = "Try again when that is done."


class CannotLimit(Unavailable):
    """The machine cannot enforce limits for a session."""

    why: str

    says = "the session was not started: {why}"
    next_step = "Omit --memory, --cpus and --pids, or see `holdfast doctor`."


class NotMovable(Unavailable):
    """The session could not be fenced, so it cannot be movable."""

    why: str

    says = "a session started here cannot be movable: {why}"
    next_step = "Start it without --movable, or see `holdfast doctor`."


class SecondName(Unavailable):
    """A file of holdfast's has a hard link, which a capsule could read."""

    path: str

    says = (
        "no capsule can be made: {path} has a second hard link, through which it"
        " could be read"
    )
    next_step = "Find it with `find -samefile`, and remove it."


class SessionUnreachable(Unavailable):
    """The process that holds the session did not answer, or hung up."""

    session: str
    why: str

    says = "session {session} does not answer: {why}"
    next_step = "Try again; `holdfast ls` says whether the session still runs."


class FreezeIncomplete(Unavailable):
    """The session takes no input, but some of its processes may still run."""

    count: int
    pid: int
    why: str

    says = (
        "nothing is written to the session, but {count} of its processes may still"
        " run; process {pid}: {why}"
    )
    next_step = "Freeze it again, or end the processes that are named."


class ThawIncomplete(Unavailable):
    """The session's cgroup is still frozen."""

    says = "the session is still frozen: the kernel keeps its cgroup frozen"
    next_step = (
        "A cgroup above it is frozen: thaw that one, then thaw the session again."
    )


class WaitedInVain(Unavailable):
    """The awaited event did not happen in time."""

    what: str
    waited_ms: int

    says = "{what} did not happen within {waited_ms} ms"
    next_step = "Look at the session, or wait longer with --timeout."


class PainterDied(Unavailable):
    """The painter process died, and its screens with it."""

    why: str

    says = "the painter died: {why}"
    next_step = "Ask again: a new one is started, and draws the screen from the window."


class ScreenForgotten(Unavailable):
    """The painter has no screen of the session, or has dropped it."""

    session: str

    says = "the painter has no screen of {session}"
    next_step = "Draw it again from the window."


class UpgradeFailed(Unavailable):
    """The new code failed its check, and everything was moved back."""

    session: str
    why: str

    next_step = "Every session keeps running on the old code; see keeper.log for more."

    def _sentence(self) -> str:
        where = f" at {self.session}" if self.session else ""
        return f"not upgraded{where}: {self.why}"


class HostDidNotStart(Unavailable):
    """The host was started, but does not answer."""

    why: str

    says = "the host did not start: {why}"
    next_step = "See host.log in the runtime folder; `holdfast doctor` may know why."


class GraphUnavailable(Unavailable):
    """The session's processes cannot be listed now."""

    why: str

    says = "its processes cannot be listed: {why}"
    next_step = "Ask again when the last answer has been read."


class LinkEnded(Unavailable):
    """The connection ended before the other side closed the channel."""

    why: str

    next_step = "Connect again, and continue from the last byte received."

    def _sentence(self) -> str:
        return f"the link ended: {self.why or 'without a reason'}"


class HandshakeTimeout(Unavailable):
    """The other side did not finish the handshake in time."""

    seconds: int

    says = "no handshake within {seconds} s"
    next_step = "Try again; the other side or the network is slow."


class ChannelWornOut(Unavailable):
    """A channel has encrypted the maximum number of messages."""

    says = "this channel has used up its keys"
    next_step = "Open a new channel."


class NotReachable(Unavailable):
    """The relay knows no host of that id that admits this operator.

    Whether there is no such host, whether it is away or whether it does not
    admit us is not told apart, since anyone can try an id.
    """

    target: str

    says = "the relay has no host {target} that admits you"
    next_step = "Check that the host is up, and that it knows your key."


class HostSilent(Unavailable):
    """The relay told the host about this operator, but the host did not connect."""

    target: str

    says = "{target} did not respond to the relay"
    next_step = "Try again; the host may have lost its link to the relay."


class HostReplaced(Unavailable):
    """Another process registered with this host's key; the later one counts."""

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
    """The relay has reached one of its limits."""

    what: str
    limit: int

    says = "the relay has reached its limit of {limit} {what}"
    next_step = "Try again later, or through another relay."


class RelayLeaving(Unavailable):
    """The relay is being stopped and accepts no more connections."""

    says = "the relay is being stopped"
    next_step = "Try again in a moment, or through another relay."


class SlowPeer(Unavailable):
    """The other side did not read what was sent to it for too long."""

    seconds: int

    says = "the other side read nothing for {seconds} s"
    next_step = "Connect again; nothing that arrived is sent twice."


class HostUnreachable(Unavailable):
    """The host cannot be reached through any of its relays."""

    host: str
    why: str

    says = "{host} cannot be reached: {why}"
    next_step = "Try again; `holdfast hosts` says which relays answer."


class CriuFailed(Unavailable):
    """CRIU could not dump or restore a session."""

    why: str

    says = "CRIU failed: {why}"
    next_step = "`holdfast doctor` says whether CRIU works here."


class ImageBusy(Unavailable):
    """The image is in use by another restore or removal."""

    image: str

    says = "{image} is being restored or removed"
    next_step = "Try again when that is done."


class SessionInUse(Unavailable):
    """A session is not reaped, because it is in use after all."""

    why: str

    says = "the session is in use: {why}"
    next_step = "It is looked at again when it has been idle for as long as before."


class ImageUnwritten(Unavailable):
    """The image could not be written completely, so there is none."""

    why: str

    says = "the image cannot be written: {why}"
    next_step = "Free some disk space; `holdfast images` shows the size of each image."


class CheckpointUnderWay(Unavailable):
    """A checkpoint of the session is already running."""

    says = "a checkpoint of the session is already running"
    next_step = "Try again when that is done."
