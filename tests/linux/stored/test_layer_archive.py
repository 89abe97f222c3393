"""The layers of a session as one file, and back."""

import os
import shutil
from pathlib import Path

import pytest
from tests.linux.stored import overlaid
from tests.linux.stored.overlaid import SESSION, begin

from holdfast.linux.stored import layer_archive, layer_store, own_changes
from holdfast.model.errors import ImageDamaged, ImageUnwritten
from holdfast.model.ids import session_id

OTHER = session_id(bytes(range(1, 11)))


def changed(tree: Path) -> layer_store.Stack:
    """Return layers with a bit of everything."""
    (tree / "gone").mkdir()
    (tree / "gone/x").write_text("x")
    (tree / "anew").mkdir()
    (tree / "anew/old").write_text("x")
    stack = begin(tree)

    def work() -> None:
        shutil.rmtree(tree / "gone")
        shutil.rmtree(tree / "anew")
        (tree / "anew").mkdir()
        (tree / "file").write_text("new")
        os.link(tree / "file", tree / "twin")
        os.setxattr(tree / "file", "user.note", b"n")
        (tree / "-closed\n").mkdir(0)
        (tree / "link").symlink_to("/etc/passwd")

    overlaid.do(stack, work)
    return stack


def test_what_is_unpacked_shows_the_same_files(tree: Path, tmp_path: Path) -> None:
    stack = changed(tree)
    archive = str(tmp_path / "archive")
    layer_archive.pack(SESSION, archive)
    told = own_changes.changes(SESSION)

    made = layer_archive.unpack(OTHER, stack.trees, stack.layers, archive)
    layer_store.write(made)

    assert len(told) == 7
    again = own_changes.changes(OTHER)
    assert [one[:2] for one in again] == [one[:2] for one in told]
    own_changes.apply(OTHER)
    assert (tree / "file").stat().st_ino == (tree / "twin").stat().st_ino
    assert os.getxattr(tree / "file", "user.note") == b"n"
    assert sorted(one.name for one in tree.iterdir()) == [
        "-closed\n",
        "anew",
        "file",
        "link",
        "twin",
    ]
    assert own_changes.changes(SESSION) == ()


def test_a_branch_begins_with_a_layer_without_changes(
    tree: Path, tmp_path: Path
) -> None:
    stack = changed(tree)
    archive = str(tmp_path / "archive")
    layer_archive.pack(SESSION, archive)
    made = layer_archive.unpack(
        OTHER, stack.trees, stack.layers, archive, is_branch=True
    )
    layer_store.write(made)

    overlaid.do(made, (tree / "later").mkdir)

    (since,) = own_changes.changes(OTHER, since_fork=True)
    assert since.path == f"{tree}/later"
    assert len(own_changes.changes(OTHER)) == 8


def test_what_was_unpacked_twice_leaves_one_set_of_layers(
    tree: Path, tmp_path: Path
) -> None:
    stack = changed(tree)
    archive = str(tmp_path / "archive")
    layer_archive.pack(SESSION, archive)
    folder = Path(layer_store.folder_of(SESSION))
    (folder / "unpacked").mkdir()
    (folder / "unpacked/left").write_text("by a dead one")

    made = layer_archive.unpack(SESSION, stack.trees, stack.layers, archive)

    assert (folder / "1").exists(), "the present ones stay until the others are used"
    layer_store.write(made)
    assert sorted(one.name for one in folder.iterdir()) == ["2", "stack", "work"]


def test_a_file_that_is_none_or_not_whole_is_refused(
    tree: Path, tmp_path: Path
) -> None:
    stack = changed(tree)
    archive = tmp_path / "archive"
    layer_archive.pack(SESSION, str(archive))

    with pytest.raises(ImageDamaged):
        layer_archive.unpack(OTHER, stack.trees, ("1", "2"), str(archive))
    archive.write_bytes(b"no archive" * 100)
    with pytest.raises(ImageUnwritten):
        layer_archive.unpack(OTHER, stack.trees, stack.layers, str(archive))
    assert layer_store.load(SESSION) == stack
