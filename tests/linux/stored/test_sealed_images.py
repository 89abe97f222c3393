import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import CONTENT, WHOLE

from holdfast.core.capsule.manifest import check_machine, sign_manifest
from holdfast.crypto.identity import Identity
from holdfast.crypto.image_seal import CHUNK, SealingStream, sent_by
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store, sealed_images
from holdfast.linux.stored.image_store import ClaimedImage, ImageName
from holdfast.model.errors import (
    HoldfastError,
    ImageBusy,
    ImageDamaged,
    ImageForAnotherHost,
    ImageForged,
    ImageImported,
    ImageMisfit,
    ImageNotFound,
    ImageOfAnotherHost,
    ImageTooLarge,
)
from holdfast.wire.image_manifest import Manifest

MAKER, THERE, THIRD = (Identity.from_seed(bytes([one]) * 32) for one in (1, 2, 3))
KEY = SigningKey.from_seed(b"\1" * 32)
BIG = {**CONTENT, "criu/pages-1.img": os.urandom(3 * CHUNK + 7)}
LIMIT = 1 << 30


def anything(_: Manifest) -> None:
    """Take every machine."""


@pytest.fixture(autouse=True)
def image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ImageName:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))
    with image_store.begin(WHOLE.session) as draft:
        for name, data in BIG.items():
            draft.add(name, data)
        draft.finish(replace(WHOLE, open_files=()), KEY)
        return draft.name


def claimed(image: ImageName) -> ClaimedImage:
    return image_store.claim(image, KEY.public)


@pytest.fixture
def sealed(image: ImageName) -> bytes:
    out = io.BytesIO()
    with claimed(image) as found:
        keys = THERE.public, THERE.static_public
        sealed_images.export(found, keys, MAKER, out)
    return out.getvalue()


def take(
    raw: bytes,
    us: Identity = THERE,
    sender: bytes = MAKER.public,
    check: Callable[[Manifest], None] = anything,
    limit: int = LIMIT,
) -> str:
    return sealed_images.take(io.BytesIO(raw), us, sender, check, limit)


def left() -> list[str]:
    home = Path(image_store.images_folder(), "imported")
    return sorted(one.name for one in home.iterdir()) if home.exists() else []


def test_what_is_exported_for_a_host_arrives_there_whole(sealed: bytes) -> None:
    name = take(sealed)

    assert sealed_images.imported() == [name] == left()
    found = sealed_images.verify(name, MAKER.public)
    assert {one.name: one.size for one in found.files} == {
        name: len(data) for name, data in BIG.items()
    }
    assert BIG["criu/pages-1.img"][:64] not in sealed, "nobody on the way reads it"
    assert WHOLE.session.encode() not in sealed
    folder = Path(image_store.images_folder(), "imported", name)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in folder.rglob("*.img")} == {0o600}


def test_it_is_no_image_of_ours_and_is_imported_once(
    sealed: bytes, image: ImageName
) -> None:
    name = take(sealed)

    with pytest.raises(ImageImported):
        take(sealed)

    assert [one.name for one in image_store.listed(THERE.public)] == [image]
    sealed_images.remove(name)
    assert take(sealed) == name


@pytest.mark.parametrize("kept", [0, 10, 87, 88, 93, 200, CHUNK, -1, -100])
def test_what_is_cut_leaves_nothing(sealed: bytes, kept: int) -> None:
    with pytest.raises(ImageDamaged):
        take(sealed[:kept])
    assert left() == []


def test_what_is_longer_leaves_nothing(sealed: bytes) -> None:
    with pytest.raises(ImageDamaged, match="more of it"):
        take(sealed + b"x")
    assert left() == []


def test_flipped_bits_leave_nothing(sealed: bytes) -> None:
    for place in (*range(0, 400, 3), *range(400, len(sealed), 4001)):
        flipped = bytearray(sealed)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(HoldfastError):
            take(bytes(flipped))
        assert left() == []


def test_it_is_for_one_host_and_from_one_host(sealed: bytes) -> None:
    with pytest.raises(ImageForAnotherHost):
        take(sealed, us=THIRD)
    with pytest.raises(ImageForged):
        take(sealed, sender=THIRD.public)
    assert left() == []


def test_nobody_sends_on_what_was_sent_to_them(image: ImageName) -> None:
    """A host that was sent an image, and can open it, seals it for a third one."""
    out = io.BytesIO()
    with claimed(image) as found:
        keys = THIRD.public, THIRD.static_public
        sealed_images.export(found, keys, THERE, out)

    for sender in (MAKER, THERE):
        with pytest.raises((ImageForged, ImageOfAnotherHost)):
            take(out.getvalue(), us=THIRD, sender=sender.public)
    assert left() == []


def crafted(manifest: bytes, content: bytes, word: bytes | None = None) -> bytes:
    """Return what somebody with the maker's key could send."""
    stream = SealingStream(THERE.public, THERE.static_public, b"e" * 32)
    said = sent_by(MAKER, stream.head, manifest) if word is None else word
    whole = len(manifest).to_bytes(4, "big") + manifest + said + content
    pieces = [whole[at : at + CHUNK] for at in range(0, len(whole), CHUNK)]
    last = len(pieces) - 1
    return stream.head + b"".join(
        stream.seal(one, is_last=number == last) for number, one in enumerate(pieces)
    )


SIGNED = sign_manifest(replace(WHOLE, open_files=()), KEY)
ORDERED = b"".join(CONTENT[one.name] for one in WHOLE.files)


def test_a_crafted_one_that_is_right_arrives() -> None:
    assert take(crafted(SIGNED, ORDERED))


@pytest.mark.parametrize(
    ("manifest", "content"),
    [
        (SIGNED, ORDERED[:-1]),
        (SIGNED, ORDERED + b"x"),
        (SIGNED, ORDERED[:-1] + bytes([ORDERED[-1] ^ 1])),
        (SIGNED[:-1], ORDERED),
        (b"", ORDERED),
        (SIGNED.replace(b"before", b"behind"), ORDERED),
    ],
)
def test_a_crafted_one_that_is_wrong_leaves_nothing(
    manifest: bytes, content: bytes
) -> None:
    with pytest.raises(HoldfastError):
        take(crafted(manifest, content))
    assert left() == []


def test_a_manifest_without_end_is_not_waited_for() -> None:
    stream = SealingStream(THERE.public, THERE.static_public, b"e" * 32)
    first = stream.seal(b"\xff\xff\xff\xff", is_last=False)
    with pytest.raises(ImageDamaged, match="its manifest has over"):
        take(stream.head + first)


def test_what_does_not_fit_or_is_too_large_leaves_nothing(sealed: bytes) -> None:
    def check(manifest: Manifest) -> None:
        here = replace(manifest.machine, architecture="riscv64")
        check_machine(manifest.machine, here)

    with pytest.raises(ImageMisfit, match="architecture"):
        take(sealed, check=check)
    with pytest.raises(ImageTooLarge):
        take(sealed, limit=1000)
    assert left() == []


def test_what_a_killed_import_has_left_is_no_image_and_is_swept(sealed: bytes) -> None:
    name = take(sealed)
    home = Path(image_store.images_folder(), "imported")
    (home / name / "manifest").unlink()
    (home / name).rename(home / f".{name}")
    assert sealed_images.imported() == []

    assert take(sealed) == name

    sealed_images.verify(name, MAKER.public)
    assert left() == [name]


def test_two_at_once_do_not_write_one(sealed: bytes) -> None:
    name = take(sealed)
    sealed_images.remove(name)
    home = Path(image_store.images_folder(), "imported")
    (home / f".{name}").mkdir()
    fd = os.open(home / f".{name}", os.O_RDONLY)
    sealed_images._lock(fd, name)  # noqa: SLF001  # as another process has it

    with pytest.raises(ImageBusy):
        take(sealed)

    os.close(fd)
    assert left() == [f".{name}"], "it is the other's"


def test_what_was_changed_here_since_is_noticed(sealed: bytes) -> None:
    name = take(sealed)
    folder = Path(image_store.images_folder(), "imported", name)
    (folder / "window.bin").write_bytes(b"# ")

    with pytest.raises(ImageDamaged, match=r"window.bin was changed"):
        sealed_images.verify(name, MAKER.public)
    with pytest.raises(ImageOfAnotherHost):
        sealed_images.verify(name, THIRD.public)


@pytest.mark.parametrize("name", ["", "..", "../x", "none"])
def test_a_name_leads_nowhere_else(name: str) -> None:
    for does in (sealed_images.remove, lambda one: sealed_images.verify(one, b"")):
        with pytest.raises(ImageNotFound):
            does(name)


def test_a_damaged_image_is_not_exported(image: ImageName) -> None:
    with claimed(image) as found:
        Path(found.folder, "window.bin").write_bytes(b"# ")
        out = io.BytesIO()
        with pytest.raises(ImageDamaged):
            sealed_images.export(found, (b"", b""), MAKER, out)
    assert out.getvalue() == b""
