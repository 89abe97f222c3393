"""An image as a test wants it: whole, small, and with something of everything."""

from hashlib import sha256

from holdfast.crypto.keys import SigningKey
from holdfast.model.ids import ActorId, Incarnation, Index, SessionId
from holdfast.wire.image_manifest import (
    Capsule,
    Connection,
    ImageFile,
    Machine,
    Manifest,
    MappedFile,
    OpenFile,
    Processor,
    ShellChannel,
    Starter,
    Terminal,
)
from holdfast.wire.messages import Cells

KEY = SigningKey.from_seed(b"k" * 32)
OTHER = SigningKey.from_seed(b"o" * 32)
SESSION = SessionId("s_" + "a" * 16)
ACTOR = ActorId("a_" + "b" * 32)
CONTENT = {
    "criu/core-2.img": b"registers",
    "criu/pages-1.img": b"memory" * 100,
    "files/0": b"half a line",
    "window.bin": b"$ ",
}
PROCESSOR = Processor("GenuineIntel", 6, 143, ("avx2", "fpu", "xsave"))
MACHINE = Machine("x86_64", "6.18.0", 40201, PROCESSOR)
DIGEST = sha256(b"half a line").digest()
LIBC = MappedFile("/usr/lib/libc.so.6", 1900, "ab" * 20)


def digest_of(name: str, data: bytes) -> bytes:
    """Return the hash of a small file: memory is hashed in pieces, and then those."""
    made = sha256(data).digest()
    return sha256(made).digest() if "pages-" in name else made


def listed(content: dict[str, bytes]) -> tuple[ImageFile, ...]:
    return tuple(
        ImageFile(name, len(data), digest_of(name, data))
        for name, data in sorted(content.items())
    )


WHOLE = Manifest(
    version=1,
    session=SESSION,
    incarnation=Incarnation(3),
    number=7,
    label="before the upgrade",
    made_ms=1_790_000_000_000,
    kind="sealed",
    once=True,
    log_index=Index(41),
    log_hash=b"h" * 32,
    monotonic_ns=5_000_000_000,
    boottime_ns=6_000_000_000,
    capsule=Capsule("own", "own", True, False, 2, 100, 150, ("1", "2"), ("/home",)),  # noqa: FBT003  # in the order of the manifest
    terminal=Terminal(
        "tty[8800:1b]", Cells(80, 24), (1, 2, 3, 4, 15, 15), b"\x03\x1c\x7f"
    ),
    shell=ShellChannel(b"n" * 32, b"s" * 32, "prompt", 4, (ACTOR,)),
    machine=MACHINE,
    stopped=(120,),
    starters=(Starter(100, ACTOR), Starter(120, ACTOR)),
    cut=(Connection(120, "ssh", "192.0.2.1:22"),),
    open_files=(
        OpenFile("/home/u/log", 11, DIGEST, "files/0", "copied", 0o600, 5),
        OpenFile("/home/u/other", 3, sha256(b"abc").digest(), "", "hashed", 0o644, 6),
        OpenFile("/home/u/vast", 1 << 40, bytes(32), "", "sized", 0o644, 7),
    ),
    mapped=(LIBC,),
    files=listed(CONTENT),
)
