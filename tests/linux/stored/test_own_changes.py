import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.linux.stored import overlaid
from tests.linux.stored.overlaid import SESSION, begin

from holdfast.linux.stored import layer_store, own_changes
from holdfast.linux.stored.layer_apply import DRAFT
from holdfast.model.errors import FilesBusy, FilesConflict, FilesUnfit
from holdfast.model.ids import session_id


def told(tree: Path) -> list[tuple[str, str]]:
    found = own_changes.changes(SESSION)
    return [(one.path.removeprefix(f"{tree}/"), one.kind.value) for one in found]


def test_what_is_made_changed_and_deleted_is_told_and_applied(tree: Path) -> None:
    (tree / "kept").write_text("old\n")
    (tree / "gone").mkdir()
    (tree / "gone/inner").write_text("x")
    (tree / "touched").write_text("same")
    stack = begin(tree)

    def work() -> None:
        (tree / "kept").write_text("new\n")
        shutil.rmtree(tree / "gone")
        (tree / "made").mkdir()
        (tree / "made/file").write_text("more")
        (tree / "touched").write_text("same")
        (tree / "kept").chmod(0o600)

    overlaid.do(stack, work)

    assert told(tree) == [
        ("gone", "deleted"),
        ("gone/inner", "deleted"),
        ("kept", "changed"),
        ("made", "made"),
        ("made/file", "made"),
    ]
    assert (tree / "kept").read_text() == "old\n"
    shown = own_changes.diff(SESSION)
    assert "-old\n+new" in shown
    assert f"--- /dev/null\n+++ {tree}/made/file" in shown
    own_changes.apply(SESSION)
    assert (tree / "kept").read_text() == "new\n"
    assert stat.S_IMODE((tree / "kept").stat().st_mode) == 0o600
    assert (tree / "made/file").read_text() == "more"
    assert not (tree / "gone").exists()
    assert told(tree) == []
    assert not own_changes.is_applying(SESSION)


def test_what_was_changed_where_a_disk_is_gone_is_told_and_applied(tree: Path) -> None:
    disk = tree / "disk"
    disk.mkdir()
    stack = layer_store.make(SESSION, (str(tree), str(disk)))
    disk.rmdir()

    def work() -> None:
        disk.mkdir()
        (disk / "made").write_text("x")

    overlaid.do(stack, work)

    assert told(tree) == [("disk", "made"), ("disk/made", "made")]
    own_changes.apply(SESSION)
    assert (disk / "made").read_text() == "x"


def test_names_may_be_any_bytes(tree: Path) -> None:
    odd = [b"new\nline", b"n" * 255, b"\xff\xfe", b"-rf", b" ", b"a:b,c\\d"]
    stack = begin(tree)

    def work() -> None:
        for name in odd:
            fd = os.open(bytes(tree) + b"/" + name, os.O_CREAT | os.O_WRONLY)
            os.write(fd, name)
            os.close(fd)

    overlaid.do(stack, work)
    own_changes.apply(SESSION)

    assert sorted(map(os.fsencode, names_in(tree))) == sorted(odd)
    for name in odd:
        assert (tree / os.fsdecode(name)).read_bytes() == name


def test_a_file_becomes_a_folder_a_folder_a_link_and_a_link_a_file(tree: Path) -> None:
    away = tree.parent / "away"
    away.mkdir()
    (tree / "file").write_text("x")
    (tree / "folder").mkdir()
    (tree / "folder/inner").write_text("x")
    (tree / "link").symlink_to(away)
    stack = begin(tree)

    def work() -> None:
        (tree / "file").unlink()
        (tree / "file").mkdir()
        (tree / "file/x").write_text("in")
        shutil.rmtree(tree / "folder")
        (tree / "folder").symlink_to("/etc")
        (tree / "link").unlink()
        (tree / "link").mkdir()
        (tree / "link/x").write_text("not away")

    overlaid.do(stack, work)
    own_changes.apply(SESSION)

    assert (tree / "file/x").read_text() == "in"
    assert (tree / "folder").readlink() == Path("/etc")
    assert not (tree / "link").is_symlink()
    assert (tree / "link/x").read_text() == "not away"
    assert list(away.iterdir()) == []


def test_a_folder_made_anew_hides_what_was_in_the_old_one(tree: Path) -> None:
    (tree / "d").mkdir()
    (tree / "d/old").write_text("x")
    stack = begin(tree)

    def work() -> None:
        shutil.rmtree(tree / "d")
        (tree / "d").mkdir()
        (tree / "d/new").write_text("y")

    overlaid.do(stack, work)

    assert told(tree) == [("d/new", "made"), ("d/old", "deleted")]
    own_changes.apply(SESSION)
    assert [one.name for one in (tree / "d").iterdir()] == ["new"]


def test_links_holes_attributes_pipes_and_closed_folders_are_kept(tree: Path) -> None:
    stack = begin(tree)

    def work() -> None:
        (tree / "one").write_text("linked")
        os.link(tree / "one", tree / "two")
        with (tree / "holes").open("wb") as file:
            file.truncate(50_000_000)
            file.seek(20_000_000)
            file.write(b"x")
        os.setxattr(tree / "one", "user.note", b"kept")
        os.mkfifo(tree / "pipe", 0o620)
        (tree / "closed").mkdir()
        (tree / "closed/secret").write_text("s")
        (tree / "closed/secret").chmod(0)
        (tree / "closed").chmod(0)

    overlaid.do(stack, work)
    own_changes.apply(SESSION)

    assert (tree / "one").stat().st_ino == (tree / "two").stat().st_ino
    assert os.getxattr(tree / "two", "user.note") == b"kept"
    holes = (tree / "holes").stat()
    assert holes.st_size == 50_000_000
    assert holes.st_blocks * 512 < 1_000_000
    assert (tree / "pipe").is_fifo()
    assert stat.S_IMODE((tree / "closed").stat().st_mode) == 0
    assert told(tree) == []
    (tree / "closed").chmod(0o700)
    assert stat.S_IMODE((tree / "closed/secret").stat().st_mode) == 0


def test_what_changed_outside_is_overwritten_only_by_force(tree: Path) -> None:
    (tree / "both").write_text("0")
    (tree / "gone").write_text("0")
    stack = begin(tree)

    def work() -> None:
        (tree / "both").write_text("inside")
        (tree / "gone").unlink()
        (tree / "made").write_text("inside")

    overlaid.do(stack, work)
    time.sleep(0.02)
    for name in ("both", "gone", "made"):
        (tree / name).write_text("outside")

    with pytest.raises(FilesConflict) as caught:
        own_changes.apply(SESSION)

    assert caught.value.facts == {"path": f"{tree}/both", "count": 3}
    assert (tree / "made").read_text() == "outside"
    own_changes.apply(SESSION, forced=True)
    assert (tree / "both").read_text() == "inside"
    assert not (tree / "gone").exists()


def test_a_file_put_outside_into_a_folder_that_is_gone_inside_stays(tree: Path) -> None:
    (tree / "d").mkdir()
    stack = begin(tree)
    overlaid.do(stack, (tree / "d").rmdir)
    time.sleep(0.02)
    (tree / "d/late").write_text("x")

    with pytest.raises(FilesConflict):
        own_changes.apply(SESSION)

    assert (tree / "d/late").exists()


def test_what_is_ours_is_never_applied_and_one_applies_at_a_time(tree: Path) -> None:
    stack = begin(tree)
    overlaid.do(stack, (tree / "policy").mkdir)

    with pytest.raises(FilesUnfit):
        own_changes.apply(SESSION, (f"{tree}/policy",))
    with own_changes.alone(layer_store.folder_of(SESSION)), pytest.raises(FilesBusy):
        own_changes.apply(SESSION)

    assert list(tree.iterdir()) == []


def test_a_copy_has_the_files_of_its_parent_and_changes_its_own(tree: Path) -> None:
    (tree / "a").write_text("machine")
    (tree / "b").write_text("machine")
    overlaid.do(begin(tree), lambda: work_in(tree, "parent"))
    child = session_id(bytes(range(1, 11)))

    copied = overlaid.copied(SESSION, child)
    overlaid.do(copied, (tree / "c").mkdir)
    overlaid.do(layer_store.load(SESSION), (tree / "d").mkdir)

    overlaid.do(copied, lambda: demand(names_in(tree) == ["a", "c"]))
    overlaid.do(copied, lambda: demand((tree / "a").read_text() == "parent"))
    (since,) = own_changes.changes(child, since_fork=True)
    assert since.path == f"{tree}/c"
    assert len(own_changes.changes(child)) == 3
    own_changes.apply(child)
    assert names_in(tree) == ["a", "c"]
    layer_store.remove(child)
    layer_store.remove(SESSION)
    assert layer_store.sessions() == []


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def work_in(tree: Path, text: str) -> None:
    (tree / "a").write_text(text)
    (tree / "b").unlink()


def demand(holds: object) -> None:
    assert holds


KILLED = """
import os, sys
from holdfast.linux.stored import layer_apply, own_changes
left = int(sys.argv[1])
whole = layer_apply._copy
def copy(*words):
    global left
    left -= 1
    whole(*words)
    if left == 0:
        os.kill(os.getppid(), 9)
        os.kill(os.getpid(), 9)
layer_apply._copy = copy
own_changes.apply(sys.argv[2])
"""


@pytest.mark.parametrize("place", [1, 2, 7])
def test_an_application_that_was_killed_is_finished_later(
    tree: Path, place: int
) -> None:
    (tree / "old").mkdir()
    (tree / "old/x").write_text("x")
    stack = begin(tree)

    def work() -> None:
        shutil.rmtree(tree / "old")
        for number in range(10):
            (tree / f"file{number}").write_text(f"{number}" * 1000)

    overlaid.do(stack, work)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(place), SESSION],
        check=False,
        capture_output=True,
        env=os.environ.copy(),
    )
    assert killed.returncode == -signal.SIGKILL
    assert own_changes.is_applying(SESSION)
    assert len(own_changes.changes(SESSION)) == 11 - place

    own_changes.apply(SESSION)

    assert names_in(tree) == [f"file{number}" for number in range(10)]
    assert not (tree / DRAFT).exists()
    assert not own_changes.is_applying(SESSION)
