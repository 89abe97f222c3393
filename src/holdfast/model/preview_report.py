"""What a command did in a branch that was made to try it out.

It is found out from outside the branch, and bounded: what is left out is counted.
Texts are as the programs wrote them; who shows them makes them safe to print.
"""

import hashlib
import json
from typing import NamedTuple, Self

from holdfast.model.session_record import Facts, as_facts, record_of

MADE, CHANGED, DELETED = "made", "changed", "deleted"
"""What became of a file."""


class FileChange(NamedTuple):
    """One file or folder that is not as it was."""

    what: str
    """made, changed or deleted."""

    path: str
    before: int = 0
    after: int = 0
    """Bytes."""


class LeftProcess(NamedTuple):
    """A process that the command left running."""

    pid: int
    """As it is numbered in the branch."""

    command: str


class Tried(NamedTuple):
    """Something outside that was to be reached, and how often."""

    how: str
    """tcp, udp, icmp, name if it was looked up, or the number of a protocol."""

    to: str
    """An address and a port, or a name."""

    times: int = 1


class PreviewReport(NamedTuple):
    """What one preview showed."""

    problem: str = ""
    """Why there was no preview; then nothing else counts."""

    made_ms: int = 0
    """When it was over, in milliseconds since 1970."""

    ended: bool = False
    """Whether the command ended before its time was up."""

    exit: int | None = None
    duration_ms: int = 0
    output: str = ""
    """How its output ended."""

    output_left_out: int = 0
    """Bytes that were printed before that."""

    files: tuple[FileChange, ...] = ()
    files_left_out: int = 0
    diff: str = ""
    diff_is_cut: bool = False
    processes: tuple[LeftProcess, ...] = ()
    processes_left_out: int = 0
    ports: tuple[str, ...] = ()
    """What is listened to that was not before."""

    ports_left_out: int = 0
    tried: tuple[Tried, ...] = ()
    tried_left_out: int = 0
    unseen: tuple[str, ...] = ()
    """What could not be observed, each in a sentence."""

    branch: str = ""
    """What the branch is called, if it was kept."""

    @classmethod
    def from_facts(cls, facts: object) -> Self:
        """Read what `facts` wrote.

        Raises:
            PeerError: Something in it has the wrong type.

        """
        return record_of(cls, facts)

    def facts(self) -> Facts:
        """Return it as what JSON can say."""
        found: Facts = as_facts(self)
        return found

    def digest(self) -> bytes:
        """Return what the logbook names it by."""
        written = json.dumps(self.facts(), sort_keys=True).encode()
        return hashlib.sha256(written).digest()
