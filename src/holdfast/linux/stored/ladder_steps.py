"""Steps on the ladder of this host: read, and made.

A step is a change of the policy in force, made as one: an entry of the host's logbook
first, then the record with the same text and another ladder (stored.policy_files).
"""

import time
from pathlib import Path

from holdfast.core.autonomy.ladder import MAX_LADDER, Key, Step, ladder_from, may_step
from holdfast.core.book.host_book import book_of, policy_after
from holdfast.core.book.logbook import Entry, EntryKind, read_entries
from holdfast.core.policy.applied_policy import Applied
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import host_book, policy_files
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.errors import LogbookFailed, StepRefused
from holdfast.model.ids import host_id

_STATEMENT = b"holdfast step 1\n"


def statement(book: str, digest: str, before: str) -> bytes:
    """Return what an operator signs to make a step."""
    return _STATEMENT + "".join(f"{part}\n" for part in (book, digest, before)).encode()


def make(step: Step, by: Enrolled | None) -> Applied:
    """Make a step, as an operator who has the right, or as nobody; return the policy.

    Raises:
        Unavailable: It is no step from where things stand now, or not one for whoever
            makes it, or cannot be written down.
        PeerError: The policy or the host's logbook was tampered with.

    """
    try:
        with host_book.writing() as book:
            now = policy_files.load(book.key)
            ladder = ladder_from(now.ladder)
            if not may_step(step, None if by is None else by.actor.kind, ladder):
                raise StepRefused("the ladder has changed, or the step is not yours")
            text = ladder.stepped(step).to_text()
            if book.last is None or not policy_after(book.last):
                raise StepRefused("no policy was ever applied")
            if len(text.encode()) > MAX_LADDER:
                raise StepRefused("the ladder is full")
            wall_ms = max(time.time_ns() // 1_000_000, now.at_wall_ms + 1)
            who = now.by if by is None else by.actor.id
            place = book.last.index + 1
            after = Applied(now.text, now.plugins, who, wall_ms, place, text)
            key = None if by is None else SigningKey.from_seed(by.seed())
            said = statement(book.id, after.digest, now.digest)
            fields = {
                "actor": step.actor,
                "action": step.action,
                "from": step.before.value,
                "to": step.after.value,
                "why": step.why,
                "by": "" if by is None else by.actor.id,
                "before": now.digest,
                "key": "" if key is None else key.public.hex(),
                "signature": "" if key is None else key.sign(said).hex(),
            }
            policy_files.put_in_force(book, after, EntryKind.STEPPED, fields)
            return after
    except OSError as error:
        raise LogbookFailed(error.strerror or str(error)) from error


def history() -> list[tuple[Key | None, str]]:
    """Return what was stepped in each entry of the host's logbook, if anything.

    Beside it is the digest of the policy after it, as `core.autonomy.steps` wants it.

    Raises:
        PeerError: The logbook was tampered with.

    """
    return [(_stepped(entry), policy_after(entry)) for entry in entries()]


def entries() -> list[Entry]:
    """Return the host's logbook.

    Raises:
        PeerError: It was tampered with.

    """
    try:
        raw = Path(host_book.book_path()).read_bytes()
    except FileNotFoundError:
        return []
    book = book_of(host_id(SigningKey.from_seed(host_seed()).public))
    return [*read_entries(raw.split(b"\n")[:-1], book)]


def _stepped(entry: Entry) -> Key | None:
    if entry.kind is not EntryKind.STEPPED:
        return None
    return str(entry.fields["actor"]), str(entry.fields["action"])
