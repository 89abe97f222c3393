import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import CONTENT, KEY, OTHER, SESSION, WHOLE

from holdfast.linux.stored import image_store as store
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import (
    HoldfastError,
    ImageBusy,
    ImageDamaged,
    ImageNotFound,
    ImageOfAnotherHost,
    ImageUnwritten,
    MalformedId,
)
from holdfast.model.ids import Incarnation

FIRST = ImageName(SESSION, 1)
FORMED = Path(__file__).with_name("image_process.py")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path))
    return tmp_path / "images" / SESSION


@pytest.fixture
def other_process() -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Start a process that does something with images, and stays until it is killed."""
    begun = []

    def start(what: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, FORMED, what],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def made(label: str = "", content: dict[str, bytes] = CONTENT) -> ImageName:
    with store.begin(SESSION) as draft:
        for name, data in content.items():
            draft.add(name, data)
        draft.finish(replace(WHOLE, label=label), KEY)
        return draft.name


def found() -> list[ImageName]:
    return [one.name for one in store.listed(KEY.public)]


def test_a_finished_image_is_listed_claimed_and_found_whole() -> None:
    name = made("before the upgrade")

    assert name == FIRST
    assert str(name) == f"{SESSION}.1"
    (listed,) = store.listed(KEY.public)
    assert listed.manifest is not None
    assert (listed.name, listed.manifest.label) == (FIRST, "before the upgrade")
    with store.claim(FIRST, KEY.public) as image:
        image.verify()
        assert [one.name for one in image.manifest.files] == sorted(CONTENT)
        assert Path(image.folder, "window.bin").read_bytes() == b"$ "


def test_everything_in_an_image_is_for_us_alone(home: Path) -> None:
    with store.begin(SESSION) as draft:
        criu = Path(draft.folder, "criu")
        criu.mkdir(mode=0o755)
        criu.chmod(0o755)
        (criu / "pages-1.img").write_bytes(b"every secret in memory")
        (criu / "pages-1.img").chmod(0o644)
        draft.finish(replace(WHOLE, open_files=()), KEY)

    modes = {
        str(path.relative_to(home)): stat.S_IMODE(path.stat().st_mode)
        for path in (home / "1", *(home / "1").rglob("*"))
    }
    assert modes == {
        "1": 0o700,
        "1/criu": 0o700,
        "1/criu/pages-1.img": 0o600,
        "1/manifest": 0o600,
    }


def test_an_image_that_is_not_finished_leaves_nothing(home: Path) -> None:
    with store.begin(SESSION) as draft:
        draft.add("criu/core-1.img", b"x")

    assert [one.name for one in home.iterdir()] == ["last"]
    assert found() == []


def test_no_number_is_given_twice() -> None:
    first, second = made(), made()
    store.remove(second)

    third = made()

    assert [one.number for one in (first, second, third)] == [1, 2, 3]


def test_two_make_images_of_one_session_at_once() -> None:
    with store.begin(SESSION) as one, store.begin(SESSION) as other:
        assert [one.name.number, other.name.number] == [1, 2]


def test_what_a_killed_maker_left_is_swept(
    other_process: Callable[[str], subprocess.Popen[str]], home: Path
) -> None:
    whole = made()
    maker = other_process("draft")

    assert store.sweep() == [], "it is being written"
    assert (home / "2" / "criu" / "core-1.img").exists()
    maker.send_signal(signal.SIGKILL)
    maker.wait()

    assert found() == [whole], "a draft is no image"
    assert store.sweep() == [ImageName(SESSION, 2)]
    assert not (home / "2").exists()
    assert found() == [whole]


def test_a_claim_ends_with_its_process(
    other_process: Callable[[str], subprocess.Popen[str]],
) -> None:
    made()
    restorer = other_process("claim")

    with pytest.raises(ImageBusy):
        store.claim(FIRST, KEY.public, alone=True)
    with pytest.raises(ImageBusy):
        store.claim(FIRST, KEY.public)
    with pytest.raises(ImageBusy):
        store.remove(FIRST)
    restorer.send_signal(signal.SIGKILL)
    restorer.wait()

    store.claim(FIRST, KEY.public, alone=True).close()


def test_many_read_an_image_at_once_and_nobody_removes_it_then() -> None:
    made()

    with store.claim(FIRST, KEY.public) as one, store.claim(FIRST, KEY.public) as other:
        one.verify()
        other.verify()
        with pytest.raises(ImageBusy):
            store.remove(FIRST)
        with pytest.raises(ImageBusy):
            store.claim(FIRST, KEY.public, alone=True)
    store.remove(FIRST)
    assert found() == []
    with pytest.raises(ImageNotFound):
        store.claim(FIRST, KEY.public)


def test_a_removal_that_was_cut_short_leaves_no_image(home: Path) -> None:
    made()
    (home / "1" / "manifest").unlink()  # what is removed first

    assert found() == []
    with pytest.raises(ImageNotFound):
        store.claim(FIRST, KEY.public)
    assert store.sweep() == [FIRST]


def _cut(image: Path) -> None:
    os.truncate(image / "criu/pages-1.img", 599)


def _flip(image: Path) -> None:
    (image / "criu/pages-1.img").write_bytes(b"Memory" + b"memory" * 99)


def _grow(image: Path) -> None:
    os.truncate(image / "criu/pages-1.img", 2**40)


def _lose(image: Path) -> None:
    (image / "window.bin").unlink()


def _add(image: Path) -> None:
    (image / "criu/core-9.img").write_bytes(b"")


def _link(image: Path) -> None:
    (image / "window.bin").rename(image.parent / "elsewhere")
    (image / "window.bin").symlink_to(image.parent / "elsewhere")


def _link_folder(image: Path) -> None:
    (image / "criu").rename(image.parent / "elsewhere")
    (image / "criu").symlink_to(image.parent / "elsewhere")


def _pipe(image: Path) -> None:
    (image / "window.bin").unlink()
    os.mkfifo(image / "window.bin")


def _deepen(image: Path) -> None:
    (image / "1/2/3/4/5").mkdir(parents=True)


@pytest.mark.parametrize(
    "harm", [_cut, _flip, _grow, _lose, _add, _link, _link_folder, _pipe, _deepen]
)
def test_an_image_that_was_changed_is_refused_and_can_be_removed(
    harm: Callable[[Path], None], home: Path
) -> None:
    made()
    harm(home / "1")

    with store.claim(FIRST, KEY.public) as image, pytest.raises(ImageDamaged):
        image.verify()
    store.remove(FIRST)
    assert not (home / "1").exists()


def test_memory_that_was_changed_is_refused_before_anything_runs(home: Path) -> None:
    pages = "criu/pages-1.img"
    made(content={**CONTENT, pages: bytes(store.LARGE)})
    with store.claim(FIRST, KEY.public) as image:
        image.verify()
    with Path(home, "1", pages).open("r+b") as file:
        file.seek(store.LARGE // 2)
        file.write(b"x")

    with store.claim(FIRST, KEY.public) as image:
        image.begin_verifying()
        with pytest.raises(ImageDamaged, match="was changed"):
            image.end_verifying()


def test_an_image_in_the_place_of_another_is_refused(home: Path) -> None:
    made()
    shutil.copytree(home / "1", home / "2")

    with pytest.raises(ImageDamaged, match="another's place"):
        store.claim(ImageName(SESSION, 2), KEY.public)
    assert [one.problem[:20] for one in store.listed(KEY.public)] == [
        "",
        "the image is damaged",
    ]


def test_an_image_of_another_host_is_listed_with_its_problem() -> None:
    made()

    (listed,) = store.listed(OTHER.public, SESSION)
    assert listed.manifest is None
    assert "was made by h_" in listed.problem
    with pytest.raises(ImageOfAnotherHost):
        store.claim(FIRST, OTHER.public)


@pytest.mark.parametrize("what", ["link", "folder", "pipe"])
def test_a_manifest_that_is_no_file_is_refused(what: str, home: Path) -> None:
    made()
    manifest = home / "1" / "manifest"
    manifest.rename(home / "moved")
    if what == "link":
        manifest.symlink_to(home / "moved")
    elif what == "folder":
        manifest.mkdir()
    else:
        os.mkfifo(manifest)

    with pytest.raises(ImageDamaged):
        store.claim(FIRST, KEY.public)
    assert [one.manifest for one in store.listed(KEY.public)] == [None]


def test_a_draft_with_something_that_is_no_file_is_not_finished(home: Path) -> None:
    with store.begin(SESSION) as draft:
        Path(draft.folder, "parent").symlink_to("/etc")
        with pytest.raises(ImageDamaged, match="not a plain file"):
            draft.finish(WHOLE, KEY)

    assert not (home / "1").exists()


def test_a_file_whose_name_leads_elsewhere_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ImageDamaged), store.begin(SESSION) as draft:
        draft.add("../../../out", b"x")

    assert not (tmp_path / "out").exists()


def test_a_disk_that_is_full_at_the_manifest_leaves_no_image(home: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with store.begin(SESSION) as draft:
        draft.add("criu/core-1.img", b"x" * 100)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            with pytest.raises(ImageUnwritten):
                draft.finish(replace(WHOLE, open_files=()), KEY)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert not (home / "1").exists()


def test_which_incarnation_a_restore_was_to_begin_is_noted(home: Path) -> None:
    made()

    with store.claim(FIRST, KEY.public, alone=True) as image:
        assert image.tried() is None
        image.try_as(Incarnation(4))
        assert image.tried() == 4
        image.verify()
    (home / "1.restored").write_bytes(b"4; rm")
    with store.claim(FIRST, KEY.public) as image, pytest.raises(ImageDamaged):
        image.tried()
    store.remove(FIRST)
    assert [one.name for one in home.iterdir()] == ["last"]


@pytest.mark.parametrize(
    "text", ["", "7", f"{SESSION}.", f"{SESSION}.07", "s_x.1", "x"]
)
def test_what_names_no_image_is_refused(text: str) -> None:
    with pytest.raises((ImageNotFound, MalformedId)):
        ImageName.parse(text)


def test_an_image_is_named_by_session_and_number() -> None:
    assert ImageName.parse(f"{SESSION}.7") == ImageName(SESSION, 7)


def test_what_is_no_session_and_no_number_is_not_looked_at(home: Path) -> None:
    made()
    (home / "notes").mkdir()
    (home.parent / "lost+found").mkdir()

    assert found() == [FIRST]
    assert store.sweep() == []


def test_a_disk_that_is_full_or_cannot_be_written() -> None:
    in_namespace = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*in_namespace, "true"], check=False).returncode:
        pytest.skip("this kernel allows no user namespaces")

    done = subprocess.run(
        [*in_namespace, sys.executable, FORMED, "disks"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.split(), done.stderr) == (
        ["full", "swept", "whole", "read", "unwritten", "unremoved"],
        "",
    )


def test_every_refusal_says_what_to_do_next() -> None:
    for kind in (ImageBusy, ImageDamaged, ImageNotFound, ImageUnwritten):
        assert issubclass(kind, HoldfastError)
        assert kind.next_step
