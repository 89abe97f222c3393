"""What a policy is asked.

A Question holds everything that rules, plug-ins and a webhook may judge by, as
it is at the moment of asking. It is a value: a policy can neither change
it nor look further. `to_object` is the same as a JSON document; its members are
specified in docs/spec/policy.md, section 6.

What is typed while echo is off is a secret: it is judged here, and never put
into the document.
"""

import base64
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.model.actors import Actor
from holdfast.model.ids import NO_EPOCH, ActorId, Epoch, SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.resolutions import Resolution

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""The days of the week, by the number that `LocalTime` has for them."""


_TEXT_KINDS = frozenset(
    {InputKind.KEYS, InputKind.COMMAND, InputKind.ANSWER, InputKind.START}
)


class TurnHold(enum.StrEnum):
    """How the actor came to the turn, if it has it."""

    NONE = "none"
    TAKEN = "taken"
    GRANTED = "granted"
    SEIZED = "seized"


@dataclass(frozen=True, slots=True)
class LocalTime:
    """What a clock on the wall of the host says: no date, no zone."""

    minute: int
    """Minutes since midnight, from 0 to 1439."""

    weekday: int
    """From 0, Monday, to 6."""


class NamedPath(NamedTuple):
    """A path that a line names, seen from a folder that it may have changed to."""

    folder: str
    text: str
    tail: str | None = None
    """If not None, every entry is named that begins with the text and ends like this,
    with no slash between."""


class Place(enum.StrEnum):
    """Where something is judged: when it is typed, or when it is executed."""

    INPUT = "input"
    EXEC = "exec"


@dataclass(frozen=True, slots=True)
class Execution:
    """What a process of the session wants to execute, as far as it could be read."""

    path: str | None
    """The path that it gave, made absolute."""

    real: str | None
    """The file behind that path."""

    words: tuple[str | None, ...]
    """What the program is told, its own name first; None for words not known."""

    is_elsewhere: bool = False
    """Whether the path means another file to the process than to us."""

    variables: tuple[str, ...] = ()
    """Variables that its starter sets, beyond those of this host."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the policy: whether an actor may make an input now."""

    actor: Actor
    kind: InputKind
    payload: bytes
    session: SessionId
    session_name: str
    clock: LocalTime
    turn: TurnHold = TurnHold.NONE
    epoch: Epoch = NO_EPOCH
    cwd: str | None = None
    """Where the foreground program works; None when that is not known."""

    staged: bytes | None = None
    """Bytes of the unfinished line that this input goes on with; None if unknown."""

    secret: bool = False
    """Whether echo is off, so that the payload must not leave this process."""

    execution: Execution | None = None
    """What is to be executed; None if this is about an input."""

    resolution: Resolution | None = None
    """What the line runs as things are now; None if it is no whole line."""

    originators: tuple[Actor, ...] = ()
    """All operators who staged something that the line uses, the actor included."""

    foreground: str | None = None
    """The program that reads what is typed; None when that is not known."""

    shell: str = ""
    """The shell that reads the line, by the name of its program: `bash`, `zsh`,
    `fish`, `dash`; empty if another program reads it or nobody knows."""

    values: Mapping[str, str] = field(default_factory=dict)
    """What variables are in that shell, of those that a line is read with."""

    folders: Mapping[str, str] = field(default_factory=dict)
    """Where paths lead to which the line itself changes, every link followed."""

    shell_reads: bool = True
    """Whether the session's shell, and nobody else, reads what is typed now."""

    paths: Mapping[NamedPath, tuple[str, ...] | None] = field(default_factory=dict)
    """Where what the line names leads to, every link followed; None for what may lead
    anywhere."""

    home: str | None = None
    """The user's home folder, every link followed; None when that is not known."""

    own: tuple[str, ...] = ()
    """Folders that no rule allows anything in which is about paths."""

    interrupts: bool = False
    """Whether the terminal makes an interrupt of it, and no program reads it."""

    started_by: tuple[ActorId, ...] | None = None
    """Who has a hand in the command in the foreground, nobody if there is none; None
    if that is not known. Of a signal or an interrupt only."""

    more: Mapping[str, object] = field(default_factory=dict)
    """Further members of the document, plain JSON. A member by the name of one of
    ours is passed over."""

    @property
    def is_text(self) -> bool:
        """Whether a program reads it as text."""
        return self.kind in _TEXT_KINDS and not self.interrupts

    @property
    def place(self) -> Place:
        """Where it is judged."""
        is_start = self.kind is InputKind.START
        return Place.INPUT if self.execution is None or is_start else Place.EXEC

    def to_object(self) -> dict[str, object]:
        """Return the question as a JSON document."""
        payload = None if self.secret else self.payload
        staged = None if self.secret else self.staged
        resolution = None if self.secret else self.resolution
        return {
            **self.more,
            "version": 1,
            "actor": _actor(self.actor),
            "input": self.kind.value,
            "payload": _base64(payload),
            "size": len(self.payload),
            "staged": _base64(staged),
            "secret": self.secret,
            "cwd": self.cwd,
            "foreground": self.foreground,
            "shell_reads": self.shell_reads,
            "resolution": None if resolution is None else resolution.to_object(),
            "originators": [_actor(one) for one in self.originators],
            "exec": _executed(self.execution),
            "session": {"id": self.session, "name": self.session_name},
            "time": {
                "minute": self.clock.minute,
                "weekday": DAYS[self.clock.weekday % len(DAYS)],
            },
            "turn": {"hold": self.turn.value, "epoch": self.epoch},
        }


def _actor(actor: Actor) -> dict[str, object]:
    return {"id": actor.id, "kind": actor.kind.value, "name": actor.name}


def _executed(execution: Execution | None) -> dict[str, object] | None:
    if execution is None:
        return None
    return {
        "path": execution.path,
        "real": execution.real,
        "words": list(execution.words),
        "variables": list(execution.variables),
    }


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()
