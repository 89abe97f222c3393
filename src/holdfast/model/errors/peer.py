"""The other side broke the protocol: hang up."""

from holdfast.model.errors.branches import PeerError


class FrameTooLarge(PeerError):
    """A frame header announced more bytes than we are willing to hold."""

    size: int
    limit: int

    says = "a frame of {size} bytes is over the limit of {limit}"


class UnknownFrameKind(PeerError):
    """A frame has a kind that this version does not know."""

    kind: int

    says = "frame kind 0x{kind:02x} is unknown"


class MalformedMessage(PeerError):
    """A frame's payload is not the message its kind announces."""

    kind: str
    why: str

    says = "malformed {kind}: {why}"


class UnexpectedMessage(PeerError):
    """A message came that may not come at this point."""

    kind: str
    state: str

    says = "{kind} may not come while {state}"


class NoCommonVersion(PeerError):
    """The two sides speak no version of the protocol in common."""

    ours: str
    theirs: str

    says = "we speak protocol {ours}, the other side {theirs}"
    next_step = "Upgrade the older side."


class LogTampered(PeerError):
    """A logbook does not verify: somebody changed it."""

    index: int
    why: str

    says = "the log does not verify at entry {index}: {why}"
    next_step = "Do not trust entries from this one on."


class LogNotVouched(PeerError):
    """No host vouches for the end of a logbook, where that was demanded."""

    index: int
    left: int

    says = "no host signed the last {left} entries, after {index}"
    next_step = "Without --strict it is accepted; a cut tail would not be noticed."


class PolicyTampered(PeerError):
    """What is kept of the applied policy is not what an operator applied."""

    why: str

    says = "the applied policy was tampered with: {why}"
    next_step = (
        "`holdfast log --host` says what was applied; `holdfast gate apply` repairs it."
    )


class WindowDamaged(PeerError):
    """Memory that should hold a session's output does not."""

    why: str

    says = "this is not a stream window: {why}"
    next_step = "Make a new window; what the old one kept is gone."


class OperatorFileDamaged(PeerError):
    """An operator's folder does not hold what it must."""

    name: str
    why: str

    says = "the record of operator {name!r} is damaged: {why}"
    next_step = "Remove the folder, and add the operator again."


class HandshakeFailed(PeerError):
    """A message of the handshake is not what it must be, or was changed on the way."""

    why: str

    says = "the channel could not be opened: {why}"
    next_step = "Nothing was told to the other side; check its key if this goes on."


class WeakKey(PeerError):
    """A key of the other side makes a secret that anybody could know."""

    says = "a key of the other side is weak"
    next_step = "Do not trust its sender."


class WrongIdentity(PeerError):
    """The other side has not shown that it is who it must be."""

    wanted: str
    why: str

    says = "this is not {wanted}: {why}"
    next_step = "Compare fingerprints before trusting this key."


class SealBroken(PeerError):
    """A sealed message does not open: changed, replayed, missing or reordered."""

    number: int

    says = "sealed message {number} does not open"
    next_step = "Open a new channel and go on from the last byte received."


class RotationRefused(PeerError):
    """A statement about a changed key does not follow from the key that is known."""

    why: str

    says = "the key stays as it was: {why}"
    next_step = "Rotate from the key that the host knows."
