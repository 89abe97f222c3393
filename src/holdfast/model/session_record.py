"""The facts about a session, typed, in the one form that every process shares.

`SessionRecord` is what everyone who may see a session is told of it: keeper, holder,
host, command line, SDK, the tools for agents and the web page read it here, and a
field added to it is in all of them. `HeldRecord` is what else a holder leaves with
the keeper for its successor.

Facts are what JSON can say. Processes of two versions talk during an upgrade: what
is unknown is ignored, and what is missing has its default. A value of another type
is refused. The standard library is all that the keeper may use, and NamedTuple all
of it that `holdfast ls` has the time to load.
"""

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from types import UnionType
from typing import Any, NamedTuple, Self, TypeVar, get_args, get_origin

from holdfast.model.ids import FIRST_INCARNATION, SessionId, parse_session_id
from holdfast.model.limits import Limits
from holdfast.model.text import printable, shown_name

MAX_ID = 32
"""Letters of an id that are shown; a host elsewhere may send anything."""

Facts = dict[str, object]
Kind = TypeVar("Kind", bound=tuple[object, ...])


class Cells(NamedTuple):
    """A terminal's size; zeros if it is not known."""

    columns: int
    rows: int


BELL, MESSAGE, NEEDS_INPUT = "bell", "message", "needs-input"
"""How a session calls for attention: the bell, a notification that the program printed,
or an operator's word."""

PROGRAM = "program"
"""The source of what was printed: any program in the session may have done it."""


class Attention(NamedTuple):
    """A session's call for attention, until someone types."""

    what: str = ""
    """bell, message or needs-input; empty if nobody is called for."""

    text: str = ""
    """What was said, safe to print; the program or operator that calls chose it."""

    since_ms: int = 0
    """Milliseconds since 1970."""

    source: str = ""
    """`program`, or the id of the operator who called."""


NO_ATTENTION = Attention()


class HeldStart(NamedTuple):
    """A command that has not begun: who asked for it, and what would run."""

    client: str = ""
    text: str = ""
    program: str = ""
    variables: tuple[str, ...] = ()


PLAIN, CAPSULE = "plain", "capsule"
"""How a session runs: as the user's other programs do, or behind walls."""


class CapsuleRecord(NamedTuple):
    """A session's capsule: its processes and what it sees, for who enters it."""

    first: int = 0
    """Its pid 1, as the machine numbers it."""

    space: int = 0
    """Its pid namespace, by the number of its inode."""

    init: int = 0
    """The process that adopts orphans: the root of what can be dumped."""

    parent: int = 0
    """The leader's parent."""

    inner_init: int = 0
    inner_leader: int = 0
    """The same and the leader, as they are numbered inside."""

    terminal: str = ""
    """What CRIU calls the leader's terminal: tty[rdev:dev]."""

    rootless: bool = False
    net: str = "host"
    """host or own."""

    files: str = "shared"
    """shared or own."""

    pipe: str = ""
    """Where the shell's state pipe is inside; empty if it has none."""

    trees: tuple[str, ...] = ()
    """With files of its own: the folders whose changes are its own."""

    layers: tuple[str, ...] = ()
    """With files of its own: the folders that keep the changes, the newest last."""

    limited: tuple[str, ...] = ()
    """The cgroups that keep its limits: controller:version:folder."""


class ParentRecord(NamedTuple):
    """The session that a branch was made from, and where that was then."""

    session: str = ""
    image: int = 0
    """Which image of it the branch went on from."""

    incarnation: int = 0
    entry: int = 0
    """The last entry of its logbook, when the image was made."""

    trial: bool = False
    """Whether the branch is there to try something out, and is discarded then."""


class SessionRecord(NamedTuple):
    """One session, as everyone who may see it is told."""

    id: SessionId
    name: str = ""
    pid: int = 0
    """The leader's."""

    state: str = ""
    """starting, running, frozen, fenced, stalled or exited."""

    exit: int | None = None
    """None while it lives; below zero, the signal that ended it."""

    command: tuple[str, ...] = ()
    cwd: str = ""
    """Where it was started."""

    created_ms: int = 0
    """Milliseconds since 1970."""

    size: Cells = Cells(0, 0)
    keep: bool = False
    """Whether it is never reaped, and stays listed after it has ended."""

    dozing: bool = False
    """Whether no process holds it, because nothing happens in it."""

    idle_ms: int = 0
    """Since when, in milliseconds since 1970; 0 while it does not doze."""

    doing: str = ""
    """What `state` says of it, such as at-prompt; empty if its holder was not asked."""

    turn_of: str = ""
    """What the operator who has the turn is called; empty if nobody has it, or its
    holder was not asked."""

    attached: tuple[str, ...] = ()
    """Whose clients are attached, one name for each; empty if that is not known."""

    output_ms: int = 0
    """When it last printed something, in milliseconds since 1970; 0 if not known."""

    attention: Attention = NO_ATTENTION
    """Its call for attention, if any."""

    incarnation: int = FIRST_INCARNATION
    """Which life of it this is."""

    recovered_ms: int = 0
    """When this life was begun from what was kept of an earlier one, in milliseconds
    since 1970; 0 if it is the life that the session was started with."""

    runtime: str = PLAIN
    """plain, or capsule if it has a view of the machine that is its own."""

    no_capsule: str = ""
    """Why it is plain, if it was to be a capsule and none could be made."""

    memory: int = 0
    """Bytes that it may have in memory; 0 if there is no limit, here and below."""

    millicpus: int = 0
    """Thousandths of a processor that it may use."""

    pids: int = 0
    """Processes that it may have."""

    authority: str = ""
    """Of a movable session: the relay that says which host may speak for it."""

    fenced: str = ""
    """Why it stands still without a lease; empty if it does not."""

    imaged_ms: int = 0
    """When the last image of it was made, in milliseconds since 1970; 0 if there is
    none of this life."""

    reaps_ms: int = 0
    """When it is going to be reaped because nobody uses it, in milliseconds since
    1970; 0 if it is not."""

    host: str = ""
    """What we call the host it lives at; empty if that is here."""

    parent: ParentRecord | None = None
    """Of a branch: the session that it was made from."""

    @property
    def limits(self) -> Limits:
        """How much of the machine it may use."""
        return Limits(self.memory, self.millicpus, self.pids)

    @property
    def label(self) -> str:
        """What people call it, safe to print: an address, if it is elsewhere."""
        own = shown_name(self.name) if self.name else printable(self.id, MAX_ID)
        return f"{self.host}/{own}" if self.host else own

    @classmethod
    def from_facts(cls, facts: object, host: str = "") -> Self:
        """Read what `facts` wrote, perhaps in another version.

        Raises:
            UsageError: It has no id.
            PeerError: Something in it has the wrong type.

        """
        found = identified(SessionRecord, facts, host)
        if found.get("exit") is not None:
            found["state"] = "exited"
        return cls(**found)

    def facts(self) -> Facts:
        """Return it as what JSON can say; `host` only if it is elsewhere."""
        found = self._asdict()
        found["attention"] = self.attention._asdict() if self.attention.what else None
        found["parent"] = None if self.parent is None else self.parent._asdict()
        if not self.host:
            del found["host"]
        return found


class HeldRecord(NamedTuple):
    """What a holder leaves for its successor, besides what everyone may know."""

    first_name: str = ""
    """What its creator called it, by which rules know it."""

    holder: int = 0
    version: str = ""
    creator: str = ""
    starter: str = ""
    """Who began this life of it, if that is not its creator: who recovered it."""

    cgroup: str = ""
    """Its own cgroup's folder; empty if it has none."""

    integration: str = ""
    """The shell that tells of its commands; empty if none does."""

    exec_gate: bool = False
    """Whether every exec in it is judged."""

    no_new_privs: bool = False
    consents: bool = False
    """Whether its holder is asked about changes."""

    start: HeldStart | None = None
    """Its command, until that begins."""

    capsule: CapsuleRecord | None = None
    """Its capsule, if it has one."""

    expires: float = 0.0
    """Of a movable session: when its lease runs out, by CLOCK_BOOTTIME."""

    leased: bool = False
    """Whether a relay has ever granted it, in this life."""

    ended_ms: int | None = None
    left: int = 0
    """Descriptors that a holder has left, beyond those of every deposit, so that the
    session can doze."""

    shell_of: str = ""
    """Of a branch: the session whose secrets its shell knows; it was started there."""

    met: dict[str, int] | None = None
    """How often it was told that a limit was met, by its controller."""

    starters: tuple[str, ...] = ()
    """Of a restored life: pid, start and starter of what the image had."""

    since: int = 0
    """Of a life that was moved here: the first whose inputs it owes an answer, with
    nothing but moves between; 0 if it was not."""

    @property
    def begun_by(self) -> str:
        """Who asked for the command that it runs."""
        return self.starter or self.creator

    @classmethod
    def from_facts(cls, facts: object) -> Self:
        """Read what `facts` wrote, perhaps in another version.

        Raises:
            PeerError: Something in it has the wrong type.

        """
        return cls(**fields_of(cls, facts))

    def facts(self) -> Facts:
        """Return what is known, as what JSON can say."""
        found = self._asdict()
        if self.start is not None:
            found["start"] = self.start._asdict()
        if self.capsule is not None:
            found["capsule"] = self.capsule._asdict()
        return {name: value for name, value in found.items() if value is not None}


def listed_in(answer: Mapping[str, object]) -> list[object]:
    """Return the facts of each session that an answer lists.

    Raises:
        PeerError: It lists something else.

    """
    found = answer.get("sessions") or []
    if not isinstance(found, list):
        raise _malformed("list of sessions", "it is none")
    return found


def unknown_in(facts: Facts) -> Facts:
    """Return the facts that neither record has a field for."""
    known = {*SessionRecord._fields, *HeldRecord._fields}
    return {name: value for name, value in facts.items() if name not in known}


def identified(
    kind: type[tuple[object, ...]], facts: object, host: str
) -> dict[str, Any]:
    """Return the fields of a record about a session at a host, its id checked.

    Raises:
        UsageError: It has no id.
        PeerError: Something in it has the wrong type.

    """
    found = fields_of(kind, facts)
    found["id"] = parse_session_id(str(found.get("id")))
    found["host"] = host
    return found


def fields_of(kind: type[tuple[object, ...]], facts: object) -> dict[str, Any]:
    """Return what facts say of a record's fields; what is null says nothing.

    Raises:
        PeerError: They are no facts, or one of them has the wrong type.

    """
    if not isinstance(facts, Mapping):
        raise _malformed(kind.__name__, "it is no set of facts")
    types = kind.__annotations__
    return {
        name: value_of(kind.__name__, key, types[name], facts[key])
        for name in types
        if facts.get(key := key_of(name)) is not None
    }


def record_of(kind: type[Kind], facts: object) -> Kind:
    """Return what facts say, as a record.

    Raises:
        PeerError: They are no facts, or one of them has the wrong type.

    """
    return kind(**fields_of(kind, facts))


def as_facts(value: object) -> Any:  # noqa: ANN401  # as JSON says it
    """Return a record, and all records in it, as JSON says it."""
    match value:
        case Cells():
            return [*value]
        case tuple() if isinstance(named := getattr(value, "_fields", None), tuple):
            pairs = zip(named, value, strict=True)
            return {key_of(name): as_facts(one) for name, one in pairs}
        case tuple():
            return [as_facts(one) for one in value]
        case _:
            return value


def key_of(name: str) -> str:
    """Return a field's name in JSON: `from_` stands for `from`, a Python keyword."""
    return name.rstrip("_")


def sound_fields(kind: type[NamedTuple], facts: Mapping[str, object]) -> dict[str, Any]:
    """Return what `fields_of` would, without what has the wrong type."""
    from holdfast.model.errors import MalformedMessage  # noqa: PLC0415  # slow to load

    found: dict[str, Any] = {}
    for name in kind.__annotations__:
        with contextlib.suppress(MalformedMessage):
            found |= fields_of(kind, {name: facts.get(name)})
    return found


def value_of(what: str, name: str, kind: object, value: object) -> object:
    """Return a value as its field has it.

    Raises:
        PeerError: It is of another type.

    """
    fits, made = _reader_of(kind)
    if not fits(value):
        raise _malformed(what, f"{name} is of the wrong type")
    return made(value)


def _malformed(what: str, why: str) -> Exception:
    from holdfast.model.errors import MalformedMessage  # noqa: PLC0415  # slow to load

    return MalformedMessage(what, why)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_mark(value: object) -> bool:
    return isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _is_words(value: Any) -> bool:  # noqa: ANN401  # what JSON may hold
    return _is_list(value) and all(map(_is_text, value))


def _is_numbers(value: Any) -> bool:  # noqa: ANN401  # ditto
    return _is_list(value) and all(map(_is_number, value))


def _is_size(value: Any) -> bool:  # noqa: ANN401  # ditto
    return _is_numbers(value) and len(value) == len(Cells._fields)


def _is_facts(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_variables(value: Any) -> bool:  # noqa: ANN401  # ditto
    return _is_facts(value) and all(map(_is_text, value.values()))


def _is_counts(value: Any) -> bool:  # noqa: ANN401  # ditto
    return _is_facts(value) and all(map(_is_number, value.values()))


def _same(value: object) -> object:
    return value


Reader = tuple[Callable[[Any], bool], Callable[[Any], object]]

_READERS: dict[object, Reader] = {
    str: (_is_text, _same),
    int: (_is_number, _same),
    float: (lambda value: _is_number(value) or isinstance(value, float), float),
    bool: (_is_mark, _same),
    dict[str, str]: (_is_variables, _same),
    dict[str, int]: (_is_counts, _same),
    dict[str, object]: (_is_facts, _same),
    tuple[str, ...]: (_is_words, tuple),
    tuple[int, ...]: (_is_numbers, tuple),
    Cells: (_is_size, lambda value: Cells(*value)),
}


def _reader_of(kind: Any) -> Reader:  # noqa: ANN401  # an annotation
    """Return how a field of this type is read: all others are records, or several."""
    bare = get_args(kind)[0] if isinstance(kind, UnionType) else kind
    if bare in _READERS:
        return _READERS[bare]
    if get_origin(bare) is not tuple:
        return _is_facts, partial(record_of, bare)
    one = get_args(bare)[0]
    return _is_list, lambda values: tuple(record_of(one, value) for value in values)
