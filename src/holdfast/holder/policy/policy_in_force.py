"""The policy in force, and its verdict on an input.

In force is the policy that an operator has applied (core.policy.applied_policy), not
what `policy.toml` says. Its record is checked whenever an input is judged: if its time
stamp, size or inode has changed, it is read and verified again. Where nothing was ever
applied an empty policy is in force, which allows humans and denies all others.

A record that is not as it was applied changes nothing for people: the previous policy
stays in force. All others are denied everything, with the reason, until a policy is
applied. The same goes for a record that this version cannot read.

Reading a policy of 1,000 rules takes a tenth of a second, in which nothing else is
done; only the first input after a change waits for that. A nursery does it before
it forks, so that holders share what it has read and remember what it has seen.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from holdfast.core.book.logbook import EntryKind
from holdfast.core.policy import applied_policy
from holdfast.core.policy.policy import Judgement, Policy, judge
from holdfast.core.policy.policy_file import read_policy
from holdfast.holder.policy.real_folders import placed
from holdfast.linux.stored import host_book, policy_files
from holdfast.model.actors import ActorKind
from holdfast.model.errors import HoldfastError
from holdfast.model.policy_questions import Question
from holdfast.model.verdicts import Verdict

Stamp = tuple[int, int, int]

AGAIN = 1.0
"""Seconds between two looks at a record that was tampered with."""

_SILENT = Policy()
"""What holds where nothing was applied: the same for all sessions, who share it."""

_inherited: "list[PolicyInForce]" = []
"""What the nursery had read when it forked us."""


class PolicyInForce:
    """The policy of this machine, as it is now."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._adopt(_SILENT)
        self.applied: applied_policy.Applied = applied_policy.NOTHING
        self.digest = applied_policy.NOTHING.digest[: applied_policy.SHORT]
        """What the logbook names the policy by that judges now."""

        self.trouble = ""
        """Why nobody but humans may do anything; empty if all is well."""

        self._tell = tell
        self.is_fresh = False
        """Whether it was looked at for the input that is judged now."""

        self._stamp: Stamp | None = None
        self._vouched = _SILENT
        self._floor = 0
        self._again_at = 0.0
        self._written: tuple[tuple[int | str, ...], str] = ((), "")
        self._key = b""
        self._path = policy_files.record_path()
        for before in _inherited:
            vars(self).update(vars(before), _tell=tell)
        self.refresh(is_first=not _inherited)

    def _adopt(self, policy: Policy) -> None:
        self.policy = policy
        others = policy.plugins or policy.webhook or policy.rungs
        self.is_plain = not (policy.rules or others)
        """Whether who asks is all that counts."""

        self._plain = {
            kind: Judgement(verdict, f"default-{kind}", by_default=True)
            for kind, verdict in policy.default.items()
        }

    @contextlib.contextmanager
    def supposing(self, candidate: bytes) -> Iterator[None]:
        """Judge by another policy inside this block only.

        Raises:
            UsageError: It is not valid.

        """
        self.refresh()
        before = self.policy, self.digest
        self._adopt(replace(read_policy(candidate), rungs=self.policy.rungs))
        self.digest = applied_policy.digest_of(candidate)[: applied_policy.SHORT]
        try:
            yield
        finally:
            policy, self.digest = before
            self._adopt(policy)

    def look(self) -> None:
        """Read the record again if it has changed, and was not just looked at."""
        if self.is_fresh:
            self.is_fresh = False
        else:
            self.refresh()

    def refresh(self, *, is_first: bool = False) -> None:
        """Read the record again if it has changed."""
        stamp = self._found()
        is_known = stamp == self._stamp and not is_first
        if is_known and not (self.trouble and time.monotonic() >= self._again_at):
            return
        self._stamp = stamp
        self._load()

    @property
    def is_unchanged(self) -> bool:
        """Whether the record is as it was when it was read, and that was right."""
        return not self.trouble and self._found() == self._stamp

    def _found(self) -> Stamp | None:
        """Return what tells this record from another; None if there is none."""
        path = self._path
        # Where there was none, there is none, and an error takes long to make.
        if self._stamp is None and not os.access(path, os.F_OK, follow_symlinks=False):
            return None
        try:
            found = os.stat(path, follow_symlinks=False)  # noqa: PTH116  # for every key
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _load(self) -> None:
        self._again_at = time.monotonic() + AGAIN
        try:
            self._key = self._key or policy_files.seal_key()
            applied = policy_files.load(self._key, self._floor)
            is_same = applied.digest == self.applied.digest and not self.trouble
            policy = self._vouched if is_same else applied.policy()
        except (HoldfastError, OSError) as error:
            if host_book.is_being_written():
                self._stamp = None  # Half of an apply was seen: look again.
                return
            self._shut(str(error))
            return
        self.trouble = ""
        self.applied, self._vouched = applied, policy
        self._adopt(policy)
        self.digest = applied.digest[: applied_policy.SHORT]
        self._floor = max(self._floor, applied.at_wall_ms)

    def _shut(self, why: str) -> None:
        if why == self.trouble:
            return
        self.trouble = why
        self._adopt(applied_policy.closed(self._vouched, why))
        self._tell(why)
        record_tampering(why)

    def told(self, said: Judgement) -> Judgement:
        """Return a judgement with what people have to know about the policy.

        Only what is not allowed says so: a denied operator may find that the rule
        it waits for is written, and not in force.
        """
        if said.verdict is Verdict.ALLOW:
            return said
        note = self._note()
        if not note:
            return said
        return replace(said, why=f"{said.why}; {note}" if said.why else note)

    def _note(self) -> str:
        """Return what is the matter with the file, if anything; seldom slow."""
        path = policy_files.candidate_path()
        try:
            found = os.stat(path)  # noqa: PTH116  # as above
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            stamp = (0, 0, 0)
        if self._written[0] != (*stamp, self.digest):
            said = policy_files.Standing(self.applied, policy_files.candidate()).told()
            self._written = (*stamp, self.digest), "; ".join(said)
        return self._written[1]

    def plain(self, kind: ActorKind) -> Judgement:
        """Return what a policy without rules says."""
        said = self._plain[kind]
        return said if said.verdict is Verdict.ALLOW else self.told(said)

    def judge(self, question: Question) -> Judgement:
        """Return what the rules say."""
        return judge(self.policy, placed(self.policy, question))

    def is_final(self, said: Judgement) -> bool:
        """Whether nobody else is asked: there is nobody, or a rule denies it."""
        policy = self.policy
        is_denied = said.verdict is Verdict.DENY and not said.by_default
        return is_denied or not (policy.plugins or policy.webhook)


def preload() -> None:
    """Read the policy before holders are forked, or see whether it has changed."""
    with contextlib.suppress(HoldfastError, OSError):
        if _inherited:
            _inherited[0].refresh()
        else:
            _inherited.append(PolicyInForce(lambda _: None))


def record_tampering(why: str) -> None:
    """Record in the host's logbook what was seen, once."""
    with (
        contextlib.suppress(HoldfastError, OSError),
        host_book.writing(patience=0) as book,
    ):
        last = book.last
        seen = last is not None and last.kind is EntryKind.TAMPERED
        if last is None or not seen or last.fields.get("why") != why:
            book.append(EntryKind.TAMPERED, {"what": "policy", "why": why})
