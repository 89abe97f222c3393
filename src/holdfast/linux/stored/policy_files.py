"""The files of the policy: the candidate, and what was applied.

    CONFIG/policy.toml       the candidate: whatever an editor has written
    CONFIG/plugins           plug-ins that the policy may name
    CONFIG/host/policy      the record of what is in force (core.policy.applied_policy)
    CONFIG/host/policy.next   the next record, until the host's logbook names it

Reading never blocks and never writes; `client.policies` applies, and
`stored.ladder_steps` makes steps.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.core.book.host_book import seal_key as seal_key_of
from holdfast.core.book.logbook import EntryKind
from holdfast.core.policy import applied_policy
from holdfast.core.policy.applied_policy import MAX_RECORD, Applied
from holdfast.core.policy.policy_file import MAX_FILE, examine
from holdfast.linux.stored import folders, host_book
from holdfast.linux.stored.host_book import HostBook
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.plugin_files import plugins_digest
from holdfast.linux.stored.small_files import sync_folder, write_file
from holdfast.model.errors import MalformedArgument, PeerError, PolicyTampered
from holdfast.model.toml_text import Problem
from holdfast.wire.lines import Value

WAITS = "a changed policy is not applied yet: run `holdfast gate apply`"
"""What operators are told while the file differs from the policy in force."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an editor has written, and what is wrong with it."""

    path: str
    text: bytes | None
    """None if there is no file."""

    problems: tuple[Problem, ...] = ()
    plugins: str = ""

    @property
    def digest(self) -> str:
        """What it will be known by if it is applied."""
        return applied_policy.digest_of(self.text or b"", self.plugins)


@dataclass(frozen=True, slots=True)
class Standing:
    """How things are with the policy of this host."""

    applied: Applied
    """What is in force; nothing if it was tampered with."""

    candidate: Candidate
    tampered: str = ""
    """Why nothing that is there counts; empty if all is well."""

    @property
    def waits(self) -> bool:
        """Whether something was changed and not applied."""
        return self.candidate.digest != self.applied.file_digest

    def told(self) -> list[str]:
        """Return what people have to know, the worst first."""
        said = []
        if self.tampered:
            said.append(
                f"{self.tampered}; agents are denied everything until"
                " `holdfast gate apply` is run"
            )
        if self.waits and self.candidate.problems:
            first = self.candidate.problems[0]
            more = len(self.candidate.problems) - 1
            rest = f" (and {more} more: `holdfast gate check`)" if more else ""
            said.append(
                f"the policy file is not valid and not in force:"
                f" {self.candidate.path}: {first}{rest}"
            )
        elif self.waits and not self.tampered:
            said.append(WAITS)
        return said


def standing() -> Standing:
    """Return how things are now. Slow where the policy is long.

    Raises:
        UsageError: A place is not ours.

    """
    found = candidate()
    try:
        applied = load(seal_key())
    except PolicyTampered as error:
        return Standing(applied_policy.NOTHING, found, str(error))
    return Standing(applied, found)


def load(key: bytes, floor: int = 0) -> Applied:
    """Return what is in force.

    Raises:
        PeerError: It was tampered with.

    """
    record = _read(record_path(), MAX_RECORD)
    if record is None and not os.path.lexists(host_book.book_path()) and not floor:
        return applied_policy.NOTHING
    try:
        last = host_book.newest(key)
    except PeerError as error:
        raise PolicyTampered(f"the host's logbook: {error}") from None
    return applied_policy.in_force(
        record, _read(f"{record_path()}.next", MAX_RECORD), last, key, floor
    )


def put_in_force(
    book: HostBook, applied: Applied, kind: EntryKind, fields: Mapping[str, Value]
) -> None:
    """Replace the record of what is in force, once the host's logbook says so.

    Raises:
        Unavailable: It cannot be written down.
        OSError: Likewise.

    """
    path = record_path()
    write_file(f"{path}.next", applied.to_bytes(book.key))
    sync_folder(host_book.host_folder())
    book.append(kind, {**fields, "policy": applied.digest})
    os.rename(f"{path}.next", path)  # noqa: PTH104  # a string, as holders have it
    sync_folder(host_book.host_folder())


def candidate_path() -> str:
    """Return where an editor writes the policy, whether or not the place is ours."""
    return f"{folders.config_path()}/policy.toml"


def candidate() -> Candidate:
    """Return what is written, and what is wrong with it."""
    path = folders.policy_file()
    try:
        text = _read(path, MAX_FILE + 1)
    except PolicyTampered as error:
        return Candidate(path, None, (Problem(None, "", str(error.facts["why"])),))
    policy, problems = examine(text or b"")
    if policy is None or not policy.plugins:
        return Candidate(path, text, problems)
    try:
        return Candidate(path, text, problems, plugins_digest())
    except MalformedArgument as error:
        return Candidate(path, text, (Problem(None, "plugins", str(error)),))


def seal_key() -> bytes:
    """Return the key of this host's seals.

    Raises:
        UsageError: The place for it is not ours.

    """
    return seal_key_of(host_seed())


def record_path() -> str:
    """Return where the record of what is in force is."""
    return f"{host_book.host_folder()}/policy"


def _read(path: str, limit: int) -> bytes | None:
    """Return a file's bytes; None if there is none.

    Raises:
        PeerError: It is not a holdfast file.

    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PolicyTampered(f"{path}: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise PolicyTampered(f"{path} is not a file")
        return os.read(fd, limit)
    except OSError as error:
        raise PolicyTampered(f"{path}: {error.strerror}") from error
    finally:
        os.close(fd)
