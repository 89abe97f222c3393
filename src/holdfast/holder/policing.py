"""Which policy holds now, and what does it say to this input?

The file is looked at when an input is judged: another time stamp, size or inode
means that it is read again. A file that cannot be read or makes no sense changes
nothing: the policy that held goes on holding, and whoever watches is told why.
No file is an empty policy, which allows humans and denies everybody else.

Reading a file of 1,000 rules takes a tenth of a second, in which nothing else is
done; only the first input after a change waits for that.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from holdfast.core.policy import Judgement, Policy, judge
from holdfast.core.policy_file import MAX_FILE, read_policy
from holdfast.linux import folders
from holdfast.model.actors import Actor
from holdfast.model.errors import HoldfastError
from holdfast.model.questions import LocalTime, Question
from holdfast.model.verdicts import Verdict

Stamp = tuple[int, int, int]

_SILENT = Policy()
"""What holds where no file is: the same for all sessions, so that they share it."""


class Policing:
    """The policy of this machine, as it is now."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.policy = _SILENT
        self._path = folders.policy_file()
        self._stamp: Stamp | None = None
        self._tell = tell
        self._is_fresh = False
        self.refresh()

    @contextlib.contextmanager
    def looked_at(self) -> Iterator[None]:
        """Take the file, for what is judged first in here, for just looked at."""
        self._is_fresh = True
        try:
            yield
        finally:
            self._is_fresh = False

    def look(self) -> None:
        """Read the file again if it has changed, and was not just looked at."""
        if self._is_fresh:
            self._is_fresh = False
        else:
            self.refresh()

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        try:
            found = os.stat(self._path)  # noqa: PTH116  # for every key that is typed
        except OSError:
            if self._stamp is not None:
                self._stamp, self.policy = None, _SILENT
            return
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self.policy = read_policy(_read(self._path))
        except (HoldfastError, OSError) as error:
            self._tell(f"the policy is left as it was: {error}")

    def is_plain(self) -> bool:
        """Whether who asks is all that counts."""
        policy = self.policy
        return not (policy.rules or policy.plugins or policy.webhook)

    def plain(self, actor: Actor) -> Judgement:
        """Return what a policy without rules says."""
        verdict = self.policy.default[actor.kind]
        return Judgement(verdict, f"default-{actor.kind}", by_default=True)

    def judge(self, question: Question) -> Judgement:
        """Return what the rules say."""
        return judge(self.policy, question)

    def is_final(self, said: Judgement) -> bool:
        """Whether nobody else is asked: there is nobody, or a rule denies it."""
        policy = self.policy
        is_denied = said.verdict is Verdict.DENY and not said.by_default
        return is_denied or not (policy.plugins or policy.webhook)


def local_time() -> LocalTime:
    """Return what a clock on the wall says."""
    now = time.localtime()
    return LocalTime(now.tm_hour * 60 + now.tm_min, now.tm_wday)


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.read(fd, MAX_FILE + 1)
    finally:
        os.close(fd)
