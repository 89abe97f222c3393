"""Copies of other hosts' sessions: kept within bounds, and restored from a twin."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import CONTENT, WHOLE

from holdfast.core.capsule.manifest import sign_manifest
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store, kept_copies, parcels
from holdfast.linux.stored.image_store import ImageName
from holdfast.linux.stored.parcels import Papers, Parcel
from holdfast.model.errors import (
    HoldfastError,
    ImageForged,
    ImageNotFound,
    ImageTooLarge,
)
from holdfast.model.ids import SessionId, host_id
from holdfast.wire.image_manifest import Manifest

KEY, OTHER = (SigningKey.from_seed(bytes([one]) * 32) for one in (1, 2))
SESSION = WHOLE.session
LIMIT = 1 << 30
BOOK = b'{"index":3,"kind":"opened"}\n{"index":9,"kind":"left"}\n'


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))


def manifest(number: int = 1, **facts: object) -> Manifest:
    made: Manifest = replace(WHOLE, open_files=(), number=number, **facts)
    return made


def papers(signed: bytes, name: str = "web") -> bytes:
    secrets = (SESSION, b"n", b"k")
    book = (("log", len(BOOK)), ("head", 0))
    return Papers(name, "alpha", len(signed), book, secrets, ()).to_bytes()


def begun(
    found: Manifest, key: SigningKey = KEY, limit: int = LIMIT, name: str = "web"
) -> Parcel:
    signed = sign_manifest(found, key)
    image = ImageName(found.session, found.number)
    told = papers(signed, name)
    return kept_copies.receive(image, key.public, told, signed, limit)


def kept(
    found: Manifest, key: SigningKey = KEY, limit: int = LIMIT, name: str = "web"
) -> None:
    with begun(found, key, limit, name) as parcel:
        assert parcel.received() == 0
        for one in found.files:
            parcel.write(CONTENT[one.name])
        parcel.write(BOOK)
        parcel.finish()
    kept_copies.trim(limit)


def all_here() -> list[str]:
    """Return what lies there, whole or not."""
    return [one.name for one in Path(image_store.images_folder(), "copies").iterdir()]


def test_a_copy_is_listed_with_its_session_age_origin_and_what_is_lost() -> None:
    kept(manifest(4, log_index=5, made_ms=1234))

    [one] = kept_copies.listed()

    assert (one.image, one.session, one.name) == (f"{SESSION}.4", SESSION, "web")
    assert (one.host, one.host_name) == (host_id(KEY.public), "alpha")
    assert (one.made_ms, one.through, one.known) == (1234, 5, 9)
    assert one.size == sum(map(len, CONTENT.values()))


@pytest.mark.parametrize("text", [SESSION, f"{SESSION}.2", "web"])
def test_a_copy_is_found_by_its_name_its_session_and_its_number(text: str) -> None:
    kept(manifest(1, made_ms=1))
    kept(manifest(2, made_ms=2))

    assert kept_copies.find(text).name == ImageName(SESSION, 2)


def test_the_later_life_is_the_newer_copy_whatever_the_clocks_say() -> None:
    kept(manifest(7, made_ms=9, incarnation=1))
    kept(manifest(3, made_ms=1, incarnation=2), OTHER)

    assert kept_copies.find("web").sender == OTHER.public


def test_what_is_not_here_is_not_found() -> None:
    with pytest.raises(ImageNotFound):
        kept_copies.find("web")


def test_only_the_newest_two_of_a_session_are_kept() -> None:
    for number in (1, 2, 3, 4):
        kept(manifest(number, made_ms=number))

    found = [one.image for one in kept_copies.listed()]

    assert found == [f"{SESSION}.4", f"{SESSION}.3"]


def test_what_has_no_room_is_refused_and_leaves_nothing() -> None:
    size = sum(map(len, CONTENT.values()))
    kept(manifest(1))
    other = SessionId("s_" + "b" * len(SESSION[2:]))

    with pytest.raises(ImageTooLarge):
        begun(manifest(1, session=other), limit=2 * size - 1)

    assert len(all_here()) == 1


def test_a_cut_one_goes_on_and_the_next_image_clears_it_away() -> None:
    found = manifest(1)
    with begun(found) as parcel:
        parcel.received()
        parcel.write(CONTENT[found.files[0].name][:1])
    with begun(found) as parcel:
        assert parcel.received() == 1
    assert kept_copies.listed() == []

    kept(manifest(2))

    assert [name.rpartition(".")[2] for name in all_here()] == ["2"]


def test_a_copy_that_its_host_has_not_signed_is_refused() -> None:
    signed = sign_manifest(manifest(), OTHER)
    told = papers(signed)

    with pytest.raises(HoldfastError) as refused:
        kept_copies.receive(ImageName(SESSION, 1), KEY.public, told, signed, LIMIT)

    assert refused.value.code == "image-of-another-host"
    assert kept_copies.listed() == []


@pytest.mark.parametrize("name", ["manifest", "papers", "sender", "whole"])
def test_a_copy_that_was_tampered_with_is_not_listed(name: str) -> None:
    kept(manifest())
    path = Path(kept_copies.find("web").folder, name)
    if name == "whole":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"\x00")

    assert kept_copies.listed() == []


def test_a_copy_is_restored_from_a_twin_and_stays_as_it_is() -> None:
    kept(manifest(4))
    found = kept_copies.find("web")

    with kept_copies.stage(found) as parcel:
        assert parcel.is_whole
        assert parcel.granted() is None
        log = Path(parcel.folder, "book", "log")
        log.write_bytes(BOOK + b"more")
        # Who was killed in between goes on with what is there.
        parcel.close()
        with kept_copies.stage(found) as again:
            assert again.folder == parcel.folder
            again.remove()

    assert Path(found.folder, "book", "log").read_bytes() == BOOK
    assert kept_copies.find("web") == found


def test_a_twin_that_was_cut_is_made_anew() -> None:
    kept(manifest(4))
    found = kept_copies.find("web")
    kept_copies.stage(found).close()
    Path(parcels.arriving(found.name), "whole").unlink()

    with kept_copies.stage(found) as parcel:
        assert parcel.is_whole
        assert Path(parcel.folder, "image").is_dir()


def test_copies_of_lives_before_the_one_that_goes_on_are_forgotten() -> None:
    kept(manifest(4, incarnation=1))
    kept(manifest(6, incarnation=3), OTHER)
    found = kept_copies.find(f"{SESSION}.4")

    kept_copies.forget(found, 2)

    assert [one.image for one in kept_copies.listed()] == [f"{SESSION}.6"]


def test_a_copy_that_is_used_is_not_removed() -> None:
    kept(manifest(4))
    found = kept_copies.find("web")
    with parcels.find(found.name, found.sender, found.folder):
        kept_copies.remove(found)
    assert kept_copies.listed()

    kept_copies.remove(found)

    assert kept_copies.listed() == []


def test_a_forged_manifest_is_refused() -> None:
    signed = sign_manifest(manifest(), KEY)
    forged = signed[:-2] + b" }"

    with pytest.raises(ImageForged):
        kept_copies.receive(
            ImageName(SESSION, 1), KEY.public, papers(forged), forged, LIMIT
        )
