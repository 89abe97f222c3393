"""The manifest of an image: whether it is genuine, and can be restored here.

Theory of operation
-------------------
An image is a folder of files that become processes: a changed file can run anything
with our rights. So it is read as hostile. Its manifest says what belongs
to it, and the host that made it signs the manifest:

    line  what
    1     "holdfast image 1"
    2     the host's public key, 64 hexadecimal digits
    3     signature by that key, 128 hexadecimal digits
    4     the manifest, as wire.image_manifest writes it; no newline follows

The signature is over the text "holdfast image 1", a newline and line 4. It is verified
before anything is made of line 4, and by a key that we know already, never by one
that only the image names. Then the manifest has to agree with itself; then the files
with the manifest; then the machine. The first thing that is wrong is the answer, and
nothing of an image runs before all of it was found right. Of the programs' memory,
which is nearly all of it, nothing but memory is made meanwhile; all else was found
right before CRIU sees any of it.

A file's name is one to four plain words with slashes between them. A plain word has
letters, digits, dot, dash and underscore, and does not begin with a dot or a dash: no
name leads out of the image, hides, or is taken for an option.

Invariants, checked by tests/core/capsule/test_manifest.py and its properties:

I1  What `sign_manifest` wrote, `read_manifest` reads with that host's key.
I2  No other bytes are read with that key: none added, cut or changed.
I3  Every name in a manifest that was read stays inside the image's folder, is there
    once, and is no folder of another.
I4  `check_files` accepts exactly the files that are listed, as they were.
I5  A processor that lacks an ability of the image's is refused, whatever else fits.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.crypto.keys import PUBLIC, SIGNATURE, SigningKey, verify
from holdfast.model import errors
from holdfast.model.ids import Incarnation, host_id
from holdfast.model.text import printable
from holdfast.wire.image_manifest import (
    MAX_MANIFEST,
    ImageFile,
    Machine,
    Manifest,
    MappedFile,
    OpenFile,
    decode_manifest,
    encode_manifest,
    version_of,
)

VERSION = 1
"""The version of manifests that is written and read here."""

MAX_SIGNED = len("holdfast image 1\n") + 2 * (PUBLIC + SIGNATURE) + 2 + MAX_MANIFEST
"""Bytes of a signed manifest: more are not read."""

PASSING = "passing"
"""A file of an image that was made for one branch, and is removed with that."""

MANIFEST = "manifest"
"""The file of an image with its manifest; no listed file has this name."""

_TITLE = b"holdfast image 1"
_LINES = 4
_DEPTH = 4
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A thing found in an image's folder; `digest` is empty if it is no plain file."""

    name: str
    is_plain: bool
    size: int
    digest: bytes


def sign_manifest(manifest: Manifest, key: SigningKey) -> bytes:
    """Write down a manifest and this host's word for it.

    Raises:
        UsageError: A field is out of its bounds.
        PeerError: It does not agree with itself, and nobody could read it.

    """
    body = encode_manifest(manifest)
    _check_agreement(manifest)
    signature = key.sign(_signed(body))
    return b"\n".join(
        (_TITLE, key.public.hex().encode(), signature.hex().encode(), body)
    )


def read_manifest(raw: bytes, host: bytes) -> Manifest:
    """Return the manifest that `host`, a public key, signed.

    Raises:
        PeerError: It is cut, changed, forged, of another host or version, or does
            not agree with itself.

    """
    if len(raw) > MAX_SIGNED:
        raise errors.ImageDamaged(f"its manifest has over {MAX_SIGNED} bytes")
    lines = raw.split(b"\n", _LINES - 1)
    if lines[0] != _TITLE or len(lines) != _LINES:
        raise errors.ImageDamaged("its manifest does not begin as one")
    maker = _digits(lines[1], PUBLIC, "the key of its host")
    if maker != host:
        raise errors.ImageOfAnotherHost(host_id(maker))
    signature = _digits(lines[2], SIGNATURE, "its signature")
    if not verify(host, _signed(lines[3]), signature):
        raise errors.ImageForged(host_id(host))
    return _believed(lines[3])


def check_files(manifest: Manifest, found: Iterable[FoundFile]) -> None:
    """Refuse an image whose files are not those that its manifest lists.

    Raises:
        PeerError: One is missing, changed, added, or not a plain file.

    """
    listed = {one.name: one for one in manifest.files}
    for one in found:
        wanted = listed.pop(one.name, None)
        shown = printable(one.name)
        if wanted is None:
            raise errors.ImageDamaged(f"{shown} does not belong to it")
        if not one.is_plain:
            raise errors.ImageDamaged(f"{shown} is not a plain file")
        if one.size != wanted.size:
            raise errors.ImageDamaged(
                f"{shown} has {one.size} bytes, not {wanted.size}"
            )
        if one.digest != wanted.digest:
            raise errors.ImageDamaged(f"{shown} was changed")
    for name in listed:
        raise errors.ImageDamaged(f"{name} is missing")


def check_machine(made_on: Machine, here: Machine) -> None:
    """Refuse an image that this machine cannot carry on.

    A newer kernel or CRIU is no reason to refuse. An older CRIU is: it does not know
    what a newer one writes.

    Raises:
        UsageError: Architecture, processor or CRIU do not fit.

    """
    _demand("the architecture", made_on.architecture, here.architecture)
    theirs, ours = made_on.processor, here.processor
    _demand("a processor by", theirs.vendor, ours.vendor)
    lacking = sorted(set(theirs.flags) - set(ours.flags))
    if lacking:
        raise errors.ImageMisfit(
            "a processor with", printable(" ".join(lacking)), "without"
        )
    if here.criu < made_on.criu:
        raise errors.ImageMisfit("CRIU", criu_text(made_on.criu), criu_text(here.criu))


def check_mapped(manifest: Manifest, found: Mapping[str, MappedFile]) -> None:
    """Refuse an image whose programs and libraries are no longer what they were.

    `found` has what is on disk now, by path; what is not there is not in it.

    Raises:
        UsageError: One is gone, or is another.

    """
    for wanted in manifest.mapped:
        now = found.get(wanted.path)
        shown = printable(wanted.path)
        if now is None:
            raise errors.MappedFileChanged(shown, "is gone")
        if (now.size, now.build_id) != (wanted.size, wanted.build_id):
            raise errors.MappedFileChanged(shown, "is another version now")


def is_spent(*, once: bool, tried: Incarnation | None, lived: Incarnation) -> bool:
    """Tell whether an image may not be restored as its session any more.

    `tried` is the incarnation that a restore was to begin with it, noted before the
    restore's commit; `lived` the newest incarnation of the session that was
    committed. A restore that died in between has spent nothing.
    """
    return once and tried is not None and tried <= lived


def check_unspent(
    manifest: Manifest, tried: Incarnation | None, lived: Incarnation
) -> None:
    """Refuse to restore an image as its session a second time, if it is for once.

    Raises:
        UsageError: It was restored.

    """
    if tried is not None and is_spent(once=manifest.once, tried=tried, lived=lived):
        raise errors.ImageSpent(image_name(manifest), tried)


def is_passing(manifest: Manifest) -> bool:
    """Tell whether an image was made for one branch, and goes with that."""
    return any(one.name == PASSING for one in manifest.files)


def image_name(manifest: Manifest) -> str:
    """Return what an image is called: its session, and its number there."""
    return f"{manifest.session}.{manifest.number}"


def is_file_name(name: str) -> bool:
    """Tell whether a file of an image may have this name."""
    words = name.split("/")
    return (
        len(words) <= _DEPTH
        and words[0] != MANIFEST
        and all(_WORD.fullmatch(word) for word in words)
    )


def is_plain_path(path: str) -> bool:
    """Tell whether a path is one from the root on, without detours."""
    words = path.split("/")
    is_detour = any(word in {"", ".", ".."} for word in words[1:])
    return words[0] == "" and len(words) > 1 and not is_detour and "\0" not in path


def criu_text(version: int) -> str:
    """Return a version of CRIU as people write it."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def _believed(body: bytes) -> Manifest:
    try:
        version = version_of(body)
        if version != VERSION:
            raise errors.ImageVersionUnknown(version)
        manifest = decode_manifest(body)
    except errors.MalformedMessage as error:
        raise errors.ImageDamaged(str(error)) from None
    _check_agreement(manifest)
    return manifest


def _check_agreement(manifest: Manifest) -> None:
    """Refuse a manifest whose fields are right one by one, and wrong together."""
    names = [one.name for one in manifest.files]
    _check_names(names)
    _check_order("the files", names)
    _check_order("the stopped processes", manifest.stopped)
    _check_order("the starters", [one.pid for one in manifest.starters])
    _check_order("the programs in memory", [one.path for one in manifest.mapped])
    _check_order("the open files", [one.path for one in manifest.open_files])
    _check_order("the processor's abilities", manifest.machine.processor.flags)
    if manifest.label != printable(manifest.label):
        raise errors.ImageDamaged("its label cannot be shown")
    if manifest.capsule.root_pid == manifest.capsule.leader_pid:
        raise errors.ImageDamaged("its leader is its init")
    for name in manifest.capsule.layers:
        if not is_file_name(name):
            raise errors.ImageDamaged(f"a layer cannot be called {printable(name)}")
    _check_open(manifest)


def _check_open(manifest: Manifest) -> None:
    files = {one.name: one for one in manifest.files}
    for one in manifest.open_files:
        shown = printable(one.path)
        if not is_plain_path(one.path):
            raise errors.ImageDamaged(f"{shown} is not a path")
        copy = files.get(one.copy)
        is_copied = one.how == "copied"
        if is_copied != bool(one.copy) or (is_copied and not _is_copy(one, copy)):
            raise errors.ImageDamaged(f"it lacks its copy of {shown}")
        if one.how == "sized" and any(one.digest):
            raise errors.ImageDamaged(f"it does not know the content of {shown}")


def _is_copy(one: OpenFile, copy: ImageFile | None) -> bool:
    return copy is not None and (copy.size, copy.digest) == (one.size, one.digest)


def _check_names(names: list[str]) -> None:
    folders = set()
    for name in names:
        if not is_file_name(name):
            raise errors.ImageDamaged(f"a file cannot be called {printable(name)}")
        words = name.split("/")
        folders |= {"/".join(words[:depth]) for depth in range(1, len(words))}
    for name in names:
        if name in folders:
            raise errors.ImageDamaged(f"{name} is a file and a folder")


def _check_order(what: str, keys: Iterable[str] | Iterable[int]) -> None:
    listed = list(keys)
    if listed != sorted(set(listed)):  # type: ignore[type-var]  # of one kind
        raise errors.ImageDamaged(f"{what} are not in order, each once")


def _demand(what: str, theirs: str, ours: str) -> None:
    if theirs != ours:
        raise errors.ImageMisfit(what, printable(theirs), printable(ours))


def _digits(text: bytes, size: int, what: str) -> bytes:
    try:
        raw = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        raw = b""
    if len(raw) != size or raw.hex().encode() != text:
        raise errors.ImageDamaged(f"{what} is not {size} bytes in hexadecimal")
    return raw


def _signed(body: bytes) -> bytes:
    return _TITLE + b"\n" + body
