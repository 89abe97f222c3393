"""Stored form of an image's manifest: its files, session and machine.

A manifest is JSON on one line, with every field every time, in this order, and there
is one way to write each. Every field has a bound, so that what a hostile manifest can
make us hold is known beforehand. Nothing is checked here that needs a second field or
the world: core.capsule.manifest does that, and verifies the signature first.

Bytes are base64, as msgspec writes them. Paths that hold the session's own bytes are
texts, and a path that is none has no place in an image.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from holdfast.model.errors import MalformedMessage, UnwritableMessage
from holdfast.model.text import printable
from holdfast.wire import messages

MAX_MANIFEST: Final = 16 * 1024 * 1024
"""Bytes of one manifest: MAX_FILES of them with long names, and everything else."""

MAX_FILES: Final = 32 * 1024
"""Files of one image: CRIU writes about five for each process."""

MAX_FILE_NAME: Final = 256
"""Characters of a file's name inside an image, with its folders."""

MAX_PATH: Final = 4096
"""Bytes of a path that Linux takes."""

MAX_MAPPED: Final = 4096
"""Programs and libraries that one session has in its memory."""

MAX_OPEN: Final = 4096
"""Files that one session has open."""

MAX_PROCESSES: Final = 32 * 1024
"""Processes that are listed: as many as a pid namespace has by default."""

MAX_CUT: Final = 1024
"""Connections that a checkpoint cut."""

MAX_LAYERS: Final = 128
"""Layers of files: an overlay takes about a hundred in one page of options."""

MAX_FLAGS: Final = 512
"""Abilities of one processor."""

MAX_SECRET: Final = 64
"""Bytes of a secret of the shell's channel."""

MAX_HANDS: Final = 64
"""Operators who have a hand in one line."""

MAX_CONTROL: Final = 64
"""Control characters of a terminal."""

_END: Final = r"$(?!\n)"
_FLAG: Final = "^[a-z0-9_.:-]+" + _END

FileName = Annotated[str, Meta(min_length=1, max_length=MAX_FILE_NAME)]
Path = Annotated[str, Meta(min_length=1, max_length=MAX_PATH)]
Fact = Annotated[str, Meta(max_length=128)]
Pid = Annotated[int, Meta(ge=1, le=2**22)]
Flags = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Secret = Annotated[bytes, Meta(max_length=MAX_SECRET)]
Phase = Literal["unmarked", "prompt", "between", "running"]
"""Where the shell is, as core.provenance.commands has it."""

PHASES: Final[tuple[Phase, ...]] = ("unmarked", "prompt", "between", "running")
Nanoseconds = Annotated[
    int, Meta(ge=-messages.MAX_NUMBER * 1000, le=messages.MAX_NUMBER * 1000)
]


class ImageFile(messages.Part, frozen=True):
    """One file of the image, by its name inside it."""

    name: FileName
    size: messages.Number
    digest: messages.Digest


class OpenFile(messages.Part, frozen=True):
    """A file of the machine's that the session had open, as it was then."""

    path: Path
    size: messages.Number
    digest: messages.Digest
    """Of its content; zeros if only size and time of change are known of it."""
    copy: Annotated[str, Meta(max_length=MAX_FILE_NAME)]
    """Its copy in the image; empty if there is none."""
    how: Literal["copied", "hashed", "sized"]
    mode: Annotated[int, Meta(ge=0, le=0o7777)]
    changed_ns: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    """When it was last written to, in nanoseconds since 1970."""


class MappedFile(messages.Part, frozen=True):
    """A program or library in memory; an empty build id is one that has none."""

    path: Path
    size: messages.Number
    build_id: Annotated[str, Meta(pattern="^([0-9a-f]{2}){0,64}" + _END)]


class Terminal(messages.Part, frozen=True):
    """The session's terminal: CRIU's name for it, and how it was set."""

    key: Annotated[
        str, Meta(pattern=r"^tty\[[0-9a-f]{1,8}:[0-9a-f]{1,16}\]" + _END, max_length=32)
    ]
    size: messages.Cells
    modes: Annotated[tuple[Flags, ...], Meta(min_length=6, max_length=6)]
    """Input, output, control and local modes; input and output speed."""
    control: Annotated[bytes, Meta(max_length=MAX_CONTROL)]


class ShellChannel(messages.Part, frozen=True):
    """By what the shell's marks and state are known to be the shell's."""

    nonce: Secret
    key: Secret
    phase: Phase
    command: messages.Number
    """The last command that had begun; 0 before the first."""
    hands: Annotated[tuple[messages.Actor, ...], Meta(max_length=MAX_HANDS)]
    """Who had a hand in what stood typed at its prompt; nobody, if nothing did."""


class Starter(messages.Part, frozen=True):
    """Who started a process, which is named by its pid inside the capsule."""

    pid: Pid
    actor: messages.Actor


class Connection(messages.Part, frozen=True):
    """A connection that the restored session will not have any more."""

    pid: Pid
    program: Fact
    peer: Fact


class Capsule(messages.Part, frozen=True):
    """The capsule that the session was in, as far as a restore has to make one."""

    files: Literal["shared", "own"]
    net: Literal["host", "own"]
    rootless: bool
    exec_gate: bool
    root_pid: Pid
    leader_pid: Pid
    last_pid: Pid
    """The last pid given out in the capsule (`ns_last_pid`)."""
    layers: Annotated[tuple[FileName, ...], Meta(max_length=MAX_LAYERS)]
    """With files of its own: its layers, the lowest first."""
    trees: Annotated[tuple[Path, ...], Meta(max_length=MAX_LAYERS)]
    """And the folders of the machine that they lie over."""


class Processor(messages.Part, frozen=True):
    """The processor, by what a program may have found out about it."""

    vendor: Fact
    family: messages.Number
    model: messages.Number
    flags: Annotated[
        tuple[Annotated[str, Meta(pattern=_FLAG, max_length=64)], ...],
        Meta(max_length=MAX_FLAGS),
    ]


class Machine(messages.Part, frozen=True):
    """Where the image was made."""

    architecture: Annotated[str, Meta(pattern="^[a-z0-9_]{1,32}" + _END)]
    kernel: Fact
    criu: Annotated[int, Meta(ge=0, le=10**9)]
    """CRIU's version as one number: 40201 is 4.2.1."""
    processor: Processor


class Manifest(messages.Part, frozen=True, kw_only=True):
    """All that is known of an image."""

    version: Literal[1]
    session: messages.Session
    incarnation: messages.Life
    number: messages.Positive
    """Which image of its session it is."""
    label: messages.Name
    made_ms: messages.Number
    """Milliseconds since 1970."""
    kind: Literal["memory", "sealed"]
    """Whether the files of the session are sealed with its memory."""
    once: bool
    """Whether it may be restored as its session one time only."""
    log_index: messages.LogIndex
    log_hash: messages.Digest
    monotonic_ns: Nanoseconds
    boottime_ns: Nanoseconds
    capsule: Capsule
    terminal: Terminal
    shell: ShellChannel
    machine: Machine
    stopped: Annotated[tuple[Pid, ...], Meta(max_length=MAX_PROCESSES)]
    """Processes that stood still before the dump made all of them do so: a restored
    tree stands still, and these stay so when it goes on."""
    starters: Annotated[tuple[Starter, ...], Meta(max_length=MAX_PROCESSES)]
    cut: Annotated[tuple[Connection, ...], Meta(max_length=MAX_CUT)]
    open_files: Annotated[tuple[OpenFile, ...], Meta(max_length=MAX_OPEN)]
    mapped: Annotated[tuple[MappedFile, ...], Meta(max_length=MAX_MAPPED)]
    files: Annotated[tuple[ImageFile, ...], Meta(min_length=1, max_length=MAX_FILES)]


class _AnyVersion(msgspec.Struct, frozen=True):
    """As much of a manifest as every version has."""

    version: int


_WHAT = "manifest"
_MISFITS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
_write = msgspec.json.Encoder(order="deterministic").encode
_read = msgspec.json.Decoder(Manifest).decode
_read_version = msgspec.json.Decoder(_AnyVersion).decode


def version_of(written: bytes) -> int:
    """Return the version of a manifest, which may be one that we do not know.

    Raises:
        PeerError: It is no manifest of any version.

    """
    try:
        return _read_version(written).version
    except _MISFITS as error:
        raise MalformedMessage(_WHAT, printable(str(error))) from None


def encode_manifest(manifest: Manifest) -> bytes:
    """Write a manifest down.

    Raises:
        UsageError: A field is out of its bounds.

    """
    try:
        written = _write(manifest)
        _read(written)
    except _MISFITS as error:
        raise UnwritableMessage(_WHAT, printable(str(error))) from None
    return written


def decode_manifest(written: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        PeerError: It is none, or it is not written the one way it can be.

    """
    try:
        manifest = _read(written)
        is_canonical = _write(manifest) == written
    except _MISFITS as error:
        raise MalformedMessage(_WHAT, printable(str(error))) from None
    if not is_canonical:
        raise MalformedMessage(_WHAT, "not written the one way it can be")
    return manifest
