"""The other side broke the protocol: hang up."""

from holdfast.model.errors.branches import PeerError


class FrameTooLarge(PeerError):
    """A frame header announced more bytes than the limit."""

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
    """A message came that is not allowed at this point."""

    kind: str
    state: str

    says = "{kind} is not allowed while {state}"


class NoCommonVersion(PeerError):
    """The two sides have no protocol version in common."""

    ours: str
    theirs: str

    says = "we speak protocol {ours}, the other side {theirs}"
    next_step = "Upgrade the older side."


class LogTampered(PeerError):
    """The logbook does not verify: it was changed."""

    index: int
    why: str

    says = "the logbook does not verify at entry {index}: {why}"
    next_step = "Do not trust entries from this one on."


class LogNotVouched(PeerError):
    """No host has signed the end of the logbook, and --strict requires that."""

    index: int
    left: int

    says = "no host signed the last {left} entries, after {index}"
    next_step = (
        "Without --strict it is accepted, but a truncated end would go unnoticed."
    )


class PolicyTampered(PeerError):
    """The stored policy is not the one an operator applied."""

    why: str

    says = "the applied policy was tampered with: {why}"
    next_step = (
        "`holdfast log --host` shows what was applied; `holdfast gate apply`"
        " repairs it."
    )


class WindowDamaged(PeerError):
    """The memory of a session's output window is damaged."""

    why: str

    says = "this is not a stream window: {why}"
    next_step = "Make a new window; the output in the old one is gone."


class OperatorFileDamaged(PeerError):
    """An operator's folder is damaged."""

    name: str
    why: str

    says = "the record of operator {name!r} is damaged: {why}"
    next_step = "Remove the folder, and add the operator again."


class HandshakeFailed(PeerError):
    """A handshake message is invalid, or was changed on the way."""

    why: str

    says = "the channel could not be opened: {why}"
    next_step = (
        "Nothing was sent to the other side; check its key if this keeps happening."
    )


class WeakKey(PeerError):
    """The other side's key is weak: it leads to a secret that anyone can know."""

    says = "the other side's key is weak"
    next_step = "Do not trust its sender."


class WrongIdentity(PeerError):
    """The other side did not prove the expected identity."""

    wanted: str
    why: str

    says = "this is not {wanted}: {why}"
    next_step = "Compare fingerprints before trusting this key."


class SealBroken(PeerError):
    """An encrypted message was changed, replayed, dropped or reordered."""

    number: int

    says = "encrypted message {number} cannot be opened"
    next_step = "Open a new channel and continue from the last byte received."


class RotationRefused(PeerError):
    """A key change is not signed by the key that the host knows."""

    why: str

    says = "the key was not changed: {why}"
    next_step = "Rotate from the key that the host knows."


class ImageDamaged(PeerError):
    """The image is truncated, changed or malformed."""

    why: str

    says = "the image is damaged: {why}"
    next_step = "Restore another image of the session; this one cannot be repaired."


class ImageForged(PeerError):
    """The image is not signed by the host that it names as its maker."""

    host: str

    says = "the image is not signed by {host}, which it names as its maker"
    next_step = "Do not restore it; it was changed or forged."


class ImageOfAnotherHost(PeerError):
    """The image was made by another host, and not exported for this one."""

    host: str

    says = "the image was made by {host}, not by this host"
    next_step = "Restore it on the host that made it."


class ImageForAnotherHost(PeerError):
    """The exported image was encrypted for another host."""

    host: str

    says = "the image is encrypted for {host}, not for this host"
    next_step = (
        "Export it again, with `--to` and the key that `holdfast images key` prints"
        " here."
    )


class ImageVersionUnknown(PeerError):
    """The image has a format that this version does not know."""

    version: int

    says = "image format {version} is not known here"
    next_step = "Upgrade holdfast, then try again."


class TokenForged(PeerError):
    """The branch token is invalid, was changed, or is from another host."""

    why: str

    says = "the token is not genuine: {why}"
    next_step = "`holdfast token` prints the token of a session on this host."
