"""Branches of sessions: making, naming and identifying them."""

import contextlib
import os
import time
from typing import NamedTuple

from holdfast.client import keeper
from holdfast.client.calls import checkpoint
from holdfast.client.proven_requests import proven_by_us
from holdfast.crypto import branch_token
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store, layer_store
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import (
    HoldfastError,
    ImageBusy,
    LeaseLost,
    NameTaken,
    NoBranch,
    OnlyHere,
    TokenForged,
)
from holdfast.model.session_record import (
    HeldRecord,
    SessionRecord,
    listed_in,
    record_of,
)
from holdfast.model.session_requests import Created, Creation, ListSessions
from holdfast.model.text import MAX_NAME, same_name
from holdfast.wire.checkpoints import Checkpointed

_MOST = 10_000
_DIGITS = len(f"-{_MOST}")
_PATIENCE = 2.0
_CHANCE = 4
_TRIED = len("-try-") + 2 * _CHANCE


class Forked(NamedTuple):
    """A branch, and the image of its parent that it was made from."""

    made: Created
    image: Checkpointed


def fork(parent: SessionRecord, name: str, *, trial: bool = False) -> Forked:
    """Have a branch made of a session that lives; it goes on where that stands.

    What runs in a `trial` is previewed: it is discarded afterwards, and never promoted.

    Raises:
        UsageError: Something is in the way, or the name is taken.
        Forbidden: We may make no branch of it, or not start one.
        Unavailable: CRIU or the disk refused; the session goes on.

    """
    if parent.host:
        raise OnlyHere("making a branch")
    image = checkpoint(parent.id, stop=False, label="", branch=True)
    try:
        return Forked(branch(ImageName.parse(image.image), name, trial=trial), image)
    except BaseException:
        remove_image(image.image)
        raise


def remove_image(image: str) -> None:
    """Remove the image of a branch that was not made.

    Who makes a branch does, unless it was killed, or never asked. What it had forked
    to read the image may have that for a moment longer.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        with contextlib.suppress(HoldfastError, OSError):
            try:
                image_store.remove(ImageName.parse(image))
            except ImageBusy:
                if time.monotonic() < until:
                    time.sleep(_PATIENCE / 100)
                    continue
        return


def branch(image: ImageName, name: str, *, trial: bool = False) -> Created:
    """Have a new session begun that goes on from an image of another.

    Raises:
        UsageError: The image cannot be restored, or the name is taken.
        Forbidden: We may make no branch of that session, or not start one.
        PeerError: The image is damaged.
        Unavailable: Nobody can be asked, or CRIU refuses.

    """
    asked = proven_by_us(Creation(name=name, branches=str(image), trial=trial))
    return record_of(Created, keeper.request(asked))


def free_name(parent: str) -> str:
    """Return a name for a branch of a session that is called so: one that is free.

    Raises:
        UsageError: There is none.

    """
    taken = [one.name for one in keeper.sessions()]
    for number in range(2, _MOST):
        name = f"{parent[: MAX_NAME - _DIGITS]}-{number}"
        if not any(same_name(name, one) for one in taken):
            return name
    raise NameTaken(parent)


def trial_name(parent: str) -> str:
    """Return a name for a branch that is only tried: one that nobody else chooses."""
    return f"{parent[: MAX_NAME - _TRIED]}-try-{os.urandom(_CHANCE).hex()}"


def demand_branch(session: SessionRecord) -> None:
    """Do nothing if a session is a branch, and is here.

    Raises:
        UsageError: It is none, or elsewhere.

    """
    if session.host:
        raise OnlyHere("managing branches")
    if session.parent is None:
        raise NoBranch(session.label)


def remove_files(session: SessionRecord) -> None:
    """Remove what a branch that is over had changed in its files."""
    with contextlib.suppress(HoldfastError, OSError):  # They are swept otherwise.
        layer_store.remove(session.id)


def token_of(session: SessionRecord) -> str:
    """Return the token of a session as it is now.

    Raises:
        UsageError: It is elsewhere.
        Unavailable: Its lease has run out, so that another may be granted its place.

    """
    if session.host:
        raise OnlyHere("the token of a session")
    parent = session.parent.session if session.parent else ""
    branch = branch_token.Branch(
        session.id, session.incarnation, parent, _lease_end(session)
    )
    return branch_token.issue(branch, SigningKey.from_seed(host_seed()))


def _lease_end(session: SessionRecord) -> int:
    """Return when the lease of a session ends, in milliseconds since 1970; 0: never."""
    if not session.authority:
        return 0
    listed = listed_in(keeper.request(ListSessions()))
    held = [HeldRecord.from_facts(one) for one in listed if _is_of(one, session)]
    left = max((one.expires for one in held), default=0.0) - _boottime()
    if left <= 0:
        raise LeaseLost(session.incarnation)
    return time.time_ns() // 1_000_000 + int(left * 1000)


def _is_of(facts: object, session: SessionRecord) -> bool:
    return isinstance(facts, dict) and facts.get("id") == session.id


def _boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def checked_token(token: str, host: bytes | None = None) -> branch_token.Branch:
    """Return which branch a token is of; `host` is the key of another that signed it.

    Raises:
        PeerError: That host has not signed it, or it has run out.

    """
    key = SigningKey.from_seed(host_seed()).public if host is None else host
    branch = branch_token.read(token, key)
    if branch.expires_ms and time.time_ns() // 1_000_000 >= branch.expires_ms:
        raise TokenForged("it has run out with its lease")
    return branch
