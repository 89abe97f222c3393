"""The other side broke the protocol: hang up."""

from holdfast.model.errors.branches import PeerError


class FrameTooLarge(PeerError):
    """A frame header announced more bytes than we are willing to hold."""

    code = "frame-too-large"

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"a frame of {size} bytes is over the limit of {limit}",
            size=size,
            limit=limit,
        )


class UnknownFrameKind(PeerError):
    """A frame has a kind that this version does not know."""

    code = "unknown-frame-kind"

    def __init__(self, kind: int) -> None:
        super().__init__(f"frame kind 0x{kind:02x} is unknown", kind=kind)


class MalformedMessage(PeerError):
    """A frame's payload is not the message its kind announces."""

    code = "malformed-message"

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"malformed {kind}: {why}", kind=kind, why=why)


class UnexpectedMessage(PeerError):
    """A message came that may not come at this point."""

    code = "unexpected-message"

    def __init__(self, kind: str, state: str) -> None:
        super().__init__(f"{kind} may not come while {state}", kind=kind, state=state)


class NoCommonVersion(PeerError):
    """The two sides speak no version of the protocol in common."""

    code = "no-common-version"
    next_step = "Upgrade the older side."

    def __init__(self, ours: str, theirs: str) -> None:
        super().__init__(
            f"we speak protocol {ours}, the other side {theirs}",
            ours=ours,
            theirs=theirs,
        )


class LogTampered(PeerError):
    """A logbook does not verify: somebody changed it."""

    code = "log-tampered"
    next_step = "Do not trust entries from this one on."

    def __init__(self, index: int, why: str) -> None:
        super().__init__(
            f"the log does not verify at entry {index}: {why}", index=index, why=why
        )


class LogNotVouched(PeerError):
    """No host vouches for the end of a logbook, where that was demanded."""

    code = "log-not-vouched"
    next_step = "Without --strict it is taken as it is; a tail cut off would not show."

    def __init__(self, index: int, left: int) -> None:
        super().__init__(
            f"no host vouches for the last {left} entries, after {index}",
            index=index,
            left=left,
        )


class PolicyTampered(PeerError):
    """What is kept of the applied policy is not what an operator applied."""

    code = "policy-tampered"
    next_step = (
        "`holdfast log --host` says what was applied; `holdfast gate apply` mends it."
    )

    def __init__(self, why: str) -> None:
        super().__init__(f"the applied policy was tampered with: {why}", why=why)


class WindowDamaged(PeerError):
    """Memory that should hold a session's output does not."""

    code = "window-damaged"
    next_step = "Make a new window; what the old one kept is gone."

    def __init__(self, why: str) -> None:
        super().__init__(f"this is no stream window: {why}", why=why)


class OperatorFileDamaged(PeerError):
    """An operator's folder does not hold what it must."""

    code = "operator-file-damaged"
    next_step = "Remove the folder, and make the operator known anew."

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            f"what is known of operator {name!r} is damaged: {why}", name=name, why=why
        )


class HandshakeFailed(PeerError):
    """A message of the handshake is not what it must be, or was changed on the way."""

    code = "handshake-failed"
    next_step = "Nothing was told to the other side; check its key if this goes on."

    def __init__(self, why: str) -> None:
        super().__init__(f"the channel could not be opened: {why}", why=why)


class WeakKey(PeerError):
    """A key of the other side makes a secret that anybody could know."""

    code = "weak-key"
    next_step = "Do not trust whoever sent it."

    def __init__(self) -> None:
        super().__init__("a key of the other side keeps no secret")


class WrongIdentity(PeerError):
    """The other side has not shown that it is who it must be."""

    code = "wrong-identity"
    next_step = "Compare fingerprints before trusting this key."

    def __init__(self, wanted: str, why: str) -> None:
        super().__init__(f"this is not {wanted}: {why}", wanted=wanted, why=why)


class SealBroken(PeerError):
    """A sealed message does not open: changed, replayed, missing or reordered."""

    code = "seal-broken"
    next_step = "Open a new channel and go on from the last byte received."

    def __init__(self, number: int) -> None:
        super().__init__(f"sealed message {number} does not open", number=number)


class RotationRefused(PeerError):
    """A statement about a changed key does not follow from the key that is known."""

    code = "rotation-refused"
    next_step = "Rotate from the key that the host knows."

    def __init__(self, why: str) -> None:
        super().__init__(f"the key stays as it was: {why}", why=why)
