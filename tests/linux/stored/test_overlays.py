"""What lies under, in and beside the overlays of a capsule."""

import errno
import os
import socket
from pathlib import Path

import pytest
from tests.linux.stored import overlaid
from tests.linux.stored.overlaid import SESSION, begin

from holdfast.linux.capsule import namespaces, overlays
from holdfast.linux.stored import layer_store
from holdfast.model.errors import NoOwnFiles


def refused(path: Path) -> int | None:
    """Return why nothing can be written here; None if it can."""
    try:
        path.write_text("x")
    except OSError as error:
        return error.errno
    return None


def demand(*holds: object) -> None:
    assert all(holds), holds


def test_a_store_in_the_tree_is_no_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "kept").write_text("old")
    stack = begin(tmp_path)

    def work() -> None:
        demand((tmp_path / "kept").read_text() == "old")
        (tmp_path / "kept").write_text("new")
        (tmp_path / "made").mkdir()

    overlaid.do(stack, work)
    overlaid.do(stack, lambda: demand((tmp_path / "kept").read_text() == "new"))

    assert (tmp_path / "kept").read_text() == "old"
    assert not (tmp_path / "made").exists()


def test_what_is_beside_the_trees_is_read_only(tree: Path) -> None:
    beside = tree.parent / "beside"

    overlaid.do(
        begin(tree),
        lambda: demand(
            refused(beside) == errno.EROFS,
            refused(tree / "inside") is None,
        ),
    )

    assert not beside.exists()


def test_what_is_mounted_in_a_tree_is_seen_and_read_only(tree: Path) -> None:
    (tree / "disk").mkdir()

    def before() -> None:
        namespaces.mount("tmpfs", str(tree / "disk"), "tmpfs", 0)
        (tree / "disk/there").write_text("x")

    overlaid.do(
        begin(tree),
        lambda: demand(
            (tree / "disk/there").read_text() == "x",
            refused(tree / "disk/there") == errno.EROFS,
        ),
        before,
    )


def test_an_inner_tree_has_changes_of_its_own(tree: Path) -> None:
    inner = tree / "a/b"
    inner.mkdir(parents=True)
    stack = layer_store.make(SESSION, (str(tree), str(inner)))

    overlaid.do(stack, (inner / "made").mkdir)

    outer, own = layer_store.layered(stack)
    assert (Path(own.upper) / "made").is_dir()
    assert not (Path(outer.upper) / "a").exists()


def test_a_socket_is_answered_only_if_it_is_shown_as_it_is(tree: Path) -> None:
    paths = [str(tree / name) for name in ("shown", "other")]
    servers = [socket.socket(socket.AF_UNIX) for _ in paths]
    for server, path in zip(servers, paths, strict=True):
        server.bind(path)
        server.listen()

    def work() -> None:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(paths[0])
        with socket.socket(socket.AF_UNIX) as one, pytest.raises(ConnectionError):
            one.connect(paths[1])

    overlaid.do(begin(tree), work, served=(paths[0],))
    for server in servers:
        server.close()


def test_a_tree_that_the_kernel_refuses_is_named(tree: Path) -> None:
    stack = begin(tree)
    (one,) = layer_store.layered(stack)
    wrong = one._replace(work=one.upper)

    def work() -> None:
        with pytest.raises(overlays.OverlayRefused) as caught:
            overlays.lay([wrong], [], is_root=os.geteuid() == 0)
        demand(caught.value.filename == str(tree))

    overlaid.do(layer_store.Stack(SESSION, (), ("1",)), work)


def test_a_tree_that_is_gone_is_left_out_if_nothing_was_changed_in_it(
    tree: Path,
) -> None:
    disk = tree / "disk"
    disk.mkdir()
    stack = layer_store.make(SESSION, (str(tree), str(disk)))
    disk.rmdir()

    overlaid.do(stack, disk.touch)

    outer, own = layer_store.layered(stack)
    assert (Path(outer.upper) / "disk").is_file()
    assert not own.is_changed()
    layer_store.add_layer(stack, "2")


def test_a_tree_that_is_gone_is_named_if_something_was_changed_in_it(
    tree: Path,
) -> None:
    stack = begin(tree)
    overlaid.do(stack, (tree / "made").touch)
    tree.rmdir()

    def work() -> None:
        with pytest.raises(overlays.OverlayRefused, match="it is gone") as caught:
            overlays.lay(layer_store.layered(stack), [], is_root=os.geteuid() == 0)
        demand(caught.value.filename == str(tree))

    overlaid.do(layer_store.Stack(SESSION, (), ("1",)), work)


def test_layers_that_cannot_be_read_are_not_used(tree: Path) -> None:
    begin(tree)
    stack = Path(layer_store.folder_of(SESSION), layer_store.STACK)
    for written in (b"", b"{}", b'{"trees": ["x"], "layers": ["1"]}', b"[1]"):
        stack.write_bytes(written)
        with pytest.raises(NoOwnFiles):
            layer_store.load(SESSION)

    stack.unlink()

    assert not layer_store.has(SESSION)
    layer_store.remove(SESSION)
    assert layer_store.sessions() == []
