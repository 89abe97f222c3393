"""Whether a logbook is consistent, who signed its end, and who signed its inputs."""

import json
import sys
import time
from collections import deque
from collections.abc import Iterator

from holdfast.cli.log_tail import LogTail, newest_head
from holdfast.core.book.logbook import Head
from holdfast.core.book.signed_head import SignedHead
from holdfast.core.input.signed_inputs import Coverage, InputCheck
from holdfast.model import errors
from holdfast.model.text import printable

MAX_LISTED = 20
"""Inputs that are listed individually; --json lists all of them."""

SIGNING = 4.0
"""Seconds in which a running holder signs what it wrote last."""

STEP = 0.05

RECENT = 10_000
"""Hashes of entries that are kept, any of which the host may have signed: it signs an
entry within a second."""

EXIT_CHANGED = 65
"""The logbook does not verify; the number is EX_DATAERR of sysexits(3)."""


def vouched_head(tail: LogTail, *, is_strict: bool) -> SignedHead | None:
    """Return the signed head of a logbook that was read to its end.

    A holder signs an entry a moment after writing it, so this waits. Entries still
    unsigned then are reported, or refused if that was asked for.

    Raises:
        PeerError: The head is another book's, or `is_strict` and it is not the end's.

    """
    deadline = time.monotonic() + SIGNING
    while True:
        signed = newest_head(tail.session)
        upto = -1 if signed is None else signed.receipt.head.index
        if upto >= tail.head.index:
            return signed
        if time.monotonic() >= deadline:
            break
        time.sleep(STEP)
    left = tail.head.index - upto
    if is_strict:
        raise errors.LogNotVouched(upto, left)
    print(f"holdfast: no host signed the last {left} entries", file=sys.stderr)
    return signed


def verify(tail: LogTail, *, as_json: bool, is_strict: bool = False) -> int:
    """Print whether a logbook verifies; return the exit status."""
    found: errors.HoldfastError | None = None
    vouched: Head | None = None
    host = ""
    inputs = Coverage()
    try:
        before = newest_head(tail.session)
        reader = _Reader(tail, before)
        reader.read()
        signed = newest_head(tail.session)
        if is_strict:
            signed = vouched_head(tail, is_strict=True)
        if signed is not None:
            if not reader.read(signed.receipt.head.index):
                signed = before or signed
            vouched, host = signed.receipt.head, signed.host.hex()
            reader.check(vouched)
        inputs = reader.inputs.coverage()
    except (errors.PeerError, errors.LogbookWithheld) as error:
        found = error
    if as_json:
        print(json.dumps(_facts(tail, found, vouched, host) | _counted(inputs)))
    else:
        _report(tail, found, vouched, host)
        if found is None:
            print(*_sentences(inputs), sep="\n")
    return 0 if found is None else EXIT_CHANGED


class _Reader:
    """A logbook read for verification, without keeping it in memory."""

    def __init__(self, tail: LogTail, known: SignedHead | None) -> None:
        self.inputs = InputCheck(tail.session)
        self._tail = tail
        self._known = -1 if known is None else known.receipt.head.index
        self._hash = b""
        """Of the entry that the host had signed before we began."""

        self._recent: deque[bytes] = deque(maxlen=RECENT)

    def read(self, upto: int | None = None) -> bool:
        """Read on, to the end or to that index; tell whether it can be checked."""
        while upto is None or self._tail.head.index < upto:
            fresh = self._tail.read()
            if not fresh:
                break
            for entry in fresh:
                self._recent.append(entry.hash)
                self.inputs.read(entry)
                if entry.index == self._known:
                    self._hash = entry.hash
        head = self._tail.head.index
        return upto is None or upto == self._known or upto > head - len(self._recent)

    def check(self, vouched: Head) -> None:
        """Do nothing if the logbook contains what the host signed."""
        behind = self._tail.head.index - vouched.index
        if behind < 0:
            raise errors.LogbookWithheld(vouched.index)
        if vouched.index < 0:
            return  # Every logbook begins with that.
        found = self._hash
        if vouched.index != self._known:
            if behind >= len(self._recent):
                why = "an older signed head was put there during reading"
                raise errors.LogTampered(vouched.index, why)
            found = self._recent[-1 - behind]
        if found != vouched.hash:
            raise errors.LogTampered(vouched.index, "the host signed a different entry")


def _counted(inputs: Coverage) -> dict[str, object]:
    return {
        "inputs_signed": inputs.signed + inputs.hidden,
        "inputs_unsigned": len(inputs.unsigned),
        "unsigned": list(inputs.unsigned),
        "void": list(inputs.void),
    }


def _sentences(inputs: Coverage) -> Iterator[str]:
    """Say how many inputs are signed, and which are not."""
    signed, others = inputs.signed + inputs.hidden, len(inputs.unsigned)
    if signed:
        yield f"{signed} of {signed + others} inputs are signed by their operators"
    else:
        yield "no input is signed by its operator: only the host vouches for them"
    if signed and others:
        yield f"only the host vouches for the others: {_listed(inputs.unsigned)}"
    if inputs.void:
        yield f"signatures that are not valid: {_listed(inputs.void)}"


def _listed(indices: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, indices[:MAX_LISTED]))
    more = len(indices) - MAX_LISTED
    word = "entry" if len(indices) == 1 else "entries"
    return f"{word} {shown}" + (f" and {more} more" if more > 0 else "")


def _facts(
    tail: LogTail, found: errors.HoldfastError | None, vouched: Head | None, host: str
) -> dict[str, object]:
    head = tail.head
    return {
        "session": tail.session,
        "holds": found is None,
        "count": head.index + 1,
        "head": head.hash.hex(),
        "torn": tail.torn,
        "signed": None if vouched is None else vouched.index,
        "host": host or None,
        "error": None
        if found is None
        else {"code": found.code, "text": str(found), "facts": found.facts},
    }


def _report(
    tail: LogTail, found: errors.HoldfastError | None, vouched: Head | None, host: str
) -> None:
    head = tail.head
    print(f"{tail.session}: {head.index + 1} entries verified")
    print(f"head {head.index} {head.hash.hex()}")
    if found is not None:
        print(f"does not verify: {printable(str(found))}")
    elif vouched is not None:
        print(f"signed by host {host} up to entry {vouched.index}")
    else:
        print("no host signed the end: entries cut off there would not be noticed")
    if tail.torn and found is None:
        print(f"{tail.torn} bytes of an unfinished entry follow")
