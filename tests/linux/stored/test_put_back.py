import os
from hashlib import sha256
from pathlib import Path

import pytest

from holdfast.core.capsule.open_files import Found
from holdfast.linux.stored.put_back import kept_beside, looked_at, put_back, undo
from holdfast.model.errors import FileNotPutBack
from holdfast.wire.image_manifest import OpenFile

THEN = b"what the session had written\n"


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image's folder with one copy."""
    made = tmp_path / "image"
    (made / "files").mkdir(parents=True)
    (made / "files/0").write_bytes(THEN)
    return made


def opened(path: Path, mode: int = 0o640) -> OpenFile:
    digest = sha256(THEN).digest()
    return OpenFile(str(path), len(THEN), digest, "files/0", "copied", mode, 1)


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_copy_is_put_back_and_what_was_there_is_kept(
    tmp_path: Path, image: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "log").write_bytes(b"since")

    (done,) = put_back(str(image), [opened(work / "log")], (), 3)

    assert (work / "log").read_bytes() == THEN
    assert (work / "log").stat().st_mode & 0o7777 == 0o640
    assert done.kept == "log.before-3"
    assert kept_beside(str(work / "log"), 3) == [str(work / "log.before-3")]
    assert (work / "log.before-3").read_bytes() == b"since"
    assert names_in(work) == ["log", "log.before-3"]


def test_what_does_not_go_on_leaves_everything_as_it_was(
    tmp_path: Path, image: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "log").write_bytes(b"since")
    files = [opened(work / "gone"), opened(work / "log")]

    undo(put_back(str(image), files, (), 3), ())

    assert names_in(work) == ["log"]
    assert (work / "log").read_bytes() == b"since"


def test_what_somebody_has_written_since_is_not_undone(
    tmp_path: Path, image: Path
) -> None:
    log = tmp_path / "log"
    done = put_back(str(image), [opened(log)], (), 3)
    log.write_bytes(b"newer")
    os.utime(log, ns=(1, 1))

    undo(done, ())

    assert log.read_bytes() == b"newer"


def test_nothing_that_was_kept_is_replaced(tmp_path: Path, image: Path) -> None:
    log = tmp_path / "log"
    for content in (b"one", b"two"):
        log.write_bytes(content)
        put_back(str(image), [opened(log)], (), 3)

    kept = kept_beside(str(log), 3)

    assert [Path(one).read_bytes() for one in kept] == [b"one", b"two"]


def test_if_one_cannot_be_put_back_none_is(tmp_path: Path, image: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"since")
    (tmp_path / "other").mkdir()

    with pytest.raises(FileNotPutBack, match="other"):
        put_back(str(image), [opened(log), opened(tmp_path / "other")], (), 3)

    assert log.read_bytes() == b"since"
    assert names_in(tmp_path) == ["image", "log", "other"]


def test_no_link_on_the_way_is_followed(tmp_path: Path, image: Path) -> None:
    """A capsule could lead us so to what it cannot see."""
    ours = tmp_path / "ours"
    ours.mkdir()
    (tmp_path / "work").symlink_to(ours)

    with pytest.raises(FileNotPutBack):
        put_back(str(image), [opened(tmp_path / "work/policy.toml")], (), 3)

    assert names_in(ours) == []


def test_a_link_in_its_place_is_replaced_and_not_followed(
    tmp_path: Path, image: Path
) -> None:
    (tmp_path / "policy.toml").write_bytes(b"ours")
    (tmp_path / "log").symlink_to(tmp_path / "policy.toml")

    put_back(str(image), [opened(tmp_path / "log")], (), 3)

    assert (tmp_path / "policy.toml").read_bytes() == b"ours"
    assert (tmp_path / "log").read_bytes() == THEN
    assert (tmp_path / "log.before-3").is_symlink()


@pytest.mark.parametrize("below", ["", "deeper/"])
def test_nothing_is_put_into_our_own_folders(
    tmp_path: Path, image: Path, below: str
) -> None:
    ours = tmp_path / "ours"
    (ours / "deeper").mkdir(parents=True)
    (tmp_path / "moved").mkdir()

    with pytest.raises(FileNotPutBack, match="a folder of holdfast's"):
        put_back(str(image), [opened(ours / f"{below}x")], (str(ours),), 3)

    assert names_in(ours / below) == ([] if below else ["deeper"])


def test_no_rights_come_back_with_a_copy(tmp_path: Path, image: Path) -> None:
    put_back(str(image), [opened(tmp_path / "tool", 0o6755)], (), 3)

    assert (tmp_path / "tool").stat().st_mode & 0o7777 == 0o755


def test_a_file_is_read_only_if_it_may_be_the_same(tmp_path: Path) -> None:
    same, shorter = tmp_path / "same", tmp_path / "shorter"
    same.write_bytes(THEN)
    shorter.write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(same)
    wanted = [opened(tmp_path / one) for one in ("same", "shorter", "pipe", "link")]

    found = looked_at([*wanted, opened(tmp_path / "none")])

    assert found == {
        str(same): Found(len(THEN), same.stat().st_mtime_ns, sha256(THEN).digest()),
        str(shorter): Found(1, shorter.stat().st_mtime_ns),
    }


def test_a_long_name_can_be_kept_too(tmp_path: Path, image: Path) -> None:
    log = tmp_path / ("é" * 127)
    log.write_bytes(b"since")

    put_back(str(image), [opened(log)], (), 3)

    (kept,) = kept_beside(str(log), 3)
    assert Path(kept).read_bytes() == b"since"


def test_where_there_is_no_folder_nothing_was_kept(tmp_path: Path) -> None:
    assert kept_beside(str(tmp_path / "none/log"), 3) == []
