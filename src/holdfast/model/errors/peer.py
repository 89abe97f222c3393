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
