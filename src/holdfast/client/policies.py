"""Puts a changed policy in force.

    candidate read, valid ──▶ difference shown, confirmed ──▶ operator proven
        ──▶ under the lock of the host's logbook: nothing moved meanwhile
        ──▶ the record written aside ──▶ an entry in the book ──▶ the record in place

The entry is what counts. A process that dies before it has changed nothing; after it,
the record that was written aside is the one that the book names, and is taken for it.
"""

import time

from holdfast.client.authority import record_refusal
from holdfast.core.book.host_book import policy_after
from holdfast.core.book.logbook import EntryKind
from holdfast.core.policy.applied_policy import NOTHING, Applied
from holdfast.core.policy.policy_file import read_policy
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import host_book, policy_files
from holdfast.linux.stored.host_book import HostBook
from holdfast.linux.stored.operators import Enrolled
from holdfast.linux.stored.policy_files import Standing
from holdfast.model import errors

_STATEMENT = b"holdfast apply 1\n"
REQUEST = "gate apply"
"""What a refusal is on record as."""


def apply(us: Enrolled, seen: Standing) -> Applied:
    """Put in force what was seen; return it.

    Raises:
        UsageError: It is not valid.
        Unavailable: It was changed meanwhile, or cannot be written down.
        PeerError: The host's logbook was changed.
        Forbidden: Our key is not here.

    """
    try:
        _demand_valid(seen)
        with host_book.writing() as book:
            _demand_unmoved(seen)
            return _put_in_force(us, seen, book)
    except (errors.MalformedPolicy, errors.PolicyMoved) as error:
        record_refusal(us.actor.id, REQUEST, error)
        raise
    except OSError as error:
        raise errors.LogbookFailed(error.strerror or str(error)) from error


def statement(book: str, digest: str, before: str) -> bytes:
    """Return what an operator signs to put a policy in the place of another."""
    return _STATEMENT + "".join(f"{part}\n" for part in (book, digest, before)).encode()


def _demand_valid(seen: Standing) -> None:
    found = seen.candidate
    if found.problems:
        named = "; ".join(map(str, found.problems[:5]))
        raise errors.MalformedPolicy(len(found.problems), f"{found.path}: {named}")
    read_policy(found.text or b"")


def _demand_unmoved(seen: Standing) -> None:
    now = policy_files.standing()
    if now.candidate.digest != seen.candidate.digest:
        raise errors.PolicyMoved(
            "the file, or a plug-in, was changed since it was shown"
        )
    if now.applied != seen.applied or bool(now.tampered) != bool(seen.tampered):
        raise errors.PolicyMoved("another policy was applied since it was shown")


def _put_in_force(us: Enrolled, seen: Standing, book: HostBook) -> Applied:
    if book.last is None:
        book.append(EntryKind.OPENED, {})
    assert book.last is not None  # noqa: S101  # it was just written
    found, before = seen.candidate, policy_after(book.last) or NOTHING.digest
    now_ms = max(time.time_ns() // 1_000_000, seen.applied.at_wall_ms + 1)
    text = found.text or b""
    index, ladder = book.last.index + 1, seen.applied.ladder
    applied = Applied(text, found.plugins, us.actor.id, now_ms, index, ladder)
    key = SigningKey.from_seed(us.seed())
    said = statement(book.id, applied.digest, before)
    fields = {
        "by": us.actor.id,
        "before": before,
        "plugins": applied.plugins,
        "key": key.public.hex(),
        "signature": key.sign(said).hex(),
    }
    policy_files.put_in_force(book, applied, EntryKind.APPLIED, fields)
    return applied


def troubles() -> list[str]:
    """Return what people have to know about the policy of this host now."""
    try:
        return policy_files.standing().told()
    except (errors.HoldfastError, OSError) as error:
        return [f"the policy cannot be looked at: {error}"]
