"""What another host brings: counted, checked, and put in place as a whole."""

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import CONTENT, KEY, OTHER, SESSION, WHOLE, listed

from holdfast.core.capsule.manifest import MANIFEST, read_manifest, sign_manifest
from holdfast.linux.stored import parcels
from holdfast.linux.stored.image_store import ImageName, images_folder
from holdfast.linux.stored.parcels import Brought, Papers, Parcel
from holdfast.model.errors import (
    ImageBusy,
    ImageImported,
    ImageTooLarge,
    ImageUnwritten,
    MalformedMessage,
    ParcelRefused,
    PeerError,
)
from holdfast.model.ids import Incarnation, actor_id

NAME = ImageName(SESSION, WHOLE.number)
BOOK = {"log": b"entry one\n", "head": b"", "state0": b"x" * 10}
BOT = Brought(actor_id(b"k"), "bot", "agent", b"k" * 32, ("observe",))
MANIFEST_OF_ALL = replace(WHOLE, files=listed(CONTENT))
SIGNED = sign_manifest(MANIFEST_OF_ALL, KEY)
PAPERS = Papers(
    "web",
    "alpha",
    len(SIGNED),
    tuple((name, len(data)) for name, data in BOOK.items()),
    (SESSION, b"n" * 16, b"s" * 32),
    (BOT,),
)
STREAM = b"".join(data for _, data in sorted(CONTENT.items())) + b"".join(BOOK.values())
LIMIT = 1 << 20


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def begun(papers: Papers = PAPERS, signed: bytes = SIGNED) -> Parcel:
    return parcels.receive(NAME, KEY.public, papers.to_bytes(), signed, LIMIT)


def brought() -> Parcel:
    made = begun()
    made.received()
    made.write(STREAM)
    made.finish()
    return made


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Have the kernel refuse files of more than 300 bytes, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_papers_are_read_as_they_were_written() -> None:
    assert parcels.read_papers(PAPERS.to_bytes()) == PAPERS


@pytest.mark.parametrize(
    "odd",
    [
        PAPERS._replace(book=(("../log", 1),)),
        PAPERS._replace(book=(("log", -1),)),
        PAPERS._replace(book=(("log", 1), ("log", 1))),
        PAPERS._replace(manifest=0),
        PAPERS._replace(operators=(BOT._replace(actor="nobody"),)),
    ],
)
def test_papers_that_are_out_of_bounds_are_refused(odd: Papers) -> None:
    with pytest.raises(MalformedMessage):
        parcels.read_papers(odd.to_bytes())


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b"[" * 5000])
def test_papers_that_are_nonsense_are_refused(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        parcels.read_papers(raw)


@pytest.mark.parametrize("cut", [0, 1, 9, 10, 600, len(STREAM) - 1, len(STREAM)])
def test_after_a_cut_it_goes_on_from_the_byte_that_is_missing(cut: int) -> None:
    with begun() as first:
        assert first.received() == 0
        first.write(STREAM[:cut])

    with begun() as again:
        assert again.received() == cut
        assert not again.is_whole
        again.write(STREAM[cut:])
        again.finish()
        assert again.is_whole
        assert again.received() == again.size == len(STREAM)
        again.finish()


def test_more_bytes_than_it_should_have_are_refused() -> None:
    with begun() as made:
        made.received()
        with pytest.raises(MalformedMessage, match="more than"):
            made.write(STREAM + b"!")


def test_a_byte_that_was_changed_on_the_way_costs_all_of_it() -> None:
    with begun() as made:
        made.received()
        made.write(b"X" + STREAM[1:])
        with pytest.raises(PeerError):
            made.finish()
        assert not Path(made.folder).exists()


def test_what_is_not_whole_is_not_taken() -> None:
    with begun() as made:
        made.received()
        made.write(STREAM[:-1])
        with pytest.raises((ParcelRefused, OSError)):
            made.finish()
        assert not made.is_whole


def test_a_disk_that_is_full_takes_nothing_and_is_told() -> None:
    with full_disk(), pytest.raises(ImageUnwritten):
        begun()
    with pytest.raises(ParcelRefused, match="nothing of it"):
        parcels.find(NAME, KEY.public)


def test_a_disk_that_fills_up_on_the_way_is_told_and_can_go_on() -> None:
    with begun() as made:
        made.received()
        with full_disk(), pytest.raises(ImageUnwritten):
            made.write(STREAM)

    with begun() as again:
        here = again.received()
        assert 0 < here < len(STREAM)
        again.write(STREAM[here:])
        again.finish()


def test_only_what_its_host_has_signed_is_received() -> None:
    with pytest.raises(PeerError):
        parcels.receive(NAME, OTHER.public, PAPERS.to_bytes(), SIGNED, LIMIT)
    other = ImageName(SESSION, 8)
    with pytest.raises(MalformedMessage, match="another image"):
        parcels.receive(other, KEY.public, PAPERS.to_bytes(), SIGNED, LIMIT)
    with pytest.raises(ImageTooLarge):
        parcels.receive(NAME, KEY.public, PAPERS.to_bytes(), SIGNED, 10)


def test_two_do_not_bring_the_same_at_once() -> None:
    with begun(), pytest.raises(ImageBusy):
        begun()


def test_another_image_of_the_same_number_begins_anew() -> None:
    with begun() as made:
        made.received()
        made.write(STREAM[:50])
    other = sign_manifest(replace(MANIFEST_OF_ALL, label="another"), KEY)

    with begun(PAPERS._replace(manifest=len(other)), other) as made:
        assert made.received() == 0


def test_what_was_granted_is_remembered() -> None:
    with begun() as made:
        assert made.granted() is None
        made.grant(Incarnation(4))
    with parcels.find(NAME, KEY.public) as found:
        assert found.granted() == 4
        Path(found.folder, "life").write_bytes(b"nonsense")
        assert found.granted() is None


def test_nothing_is_found_of_what_has_not_come() -> None:
    with pytest.raises(ParcelRefused, match="nothing of it"):
        parcels.find(NAME, KEY.public)
    begun().close()
    with pytest.raises(PeerError):
        parcels.find(NAME, OTHER.public)


def test_it_is_put_in_place_once_and_signed_by_this_host() -> None:
    with brought() as made:
        made.install(OTHER)
        made.install(OTHER)

        home = Path(images_folder(), SESSION)
        signed = (home / str(NAME.number) / MANIFEST).read_bytes()
        assert read_manifest(signed, OTHER.public) == MANIFEST_OF_ALL
        assert (home / "last").read_bytes() == b"7"
        book = dict(parcels.book_files(SESSION))
        assert {name: Path(path).read_bytes() for name, path in book.items()} == BOOK
        made.uninstall()
        assert parcels.book_files(SESSION) == []
        assert not (home / str(NAME.number)).exists()
        assert not Path(made.folder).exists()


def test_an_image_of_that_number_is_not_replaced() -> None:
    there = Path(images_folder(), SESSION, str(NAME.number))
    there.mkdir(parents=True, mode=0o700)
    there.parent.chmod(0o700)

    with brought() as made, pytest.raises(ImageImported):
        made.install(OTHER)


@pytest.mark.parametrize(
    ("here", "goes_on"), [(b"entry", True), (b"entry one\n", True), (b"other", False)]
)
def test_a_logbook_that_comes_back_begins_with_the_one_here(
    here: bytes, *, goes_on: bool
) -> None:
    with brought() as made:
        Path(parcels._book_path(SESSION, "log")).write_bytes(here)  # noqa: SLF001  # where it is

        assert parcels.continues(made) is goes_on


def test_a_file_with_too_many_bytes_is_none_of_ours() -> None:
    with begun() as made:
        made.received()
        made.write(STREAM[:20])
        name = min(CONTENT)
        with Path(made.folder, "image", name).open("ab") as file:
            file.write(b"more")
        with pytest.raises(ParcelRefused, match="more bytes"):
            made.received()
