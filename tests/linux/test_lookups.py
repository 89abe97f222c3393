import hashlib
import os
from pathlib import Path

import pytest

from holdfast.core.provenance.line_resolution import Found, Unseen
from holdfast.linux import lookups
from holdfast.linux.lookups import MAX_DIGESTED, Digests

SCRIPT = b"#!/bin/sh\necho\n"


def found(path: Path | str, cwd: Path | None = None) -> Found:
    seen = Digests().lookup(None if cwd is None else str(cwd))(str(path))
    assert isinstance(seen, Found)
    return seen


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "x"
    path.write_bytes(SCRIPT)
    path.chmod(0o755)
    return path


def test_a_file_is_told_by_path_digest_and_beginning(script: Path) -> None:
    seen = found(script)

    assert (seen.path, seen.is_executable) == (str(script), True)
    assert seen.head == SCRIPT
    assert seen.digest == hashlib.sha256(SCRIPT).digest()[:16]
    assert seen.changed_ms == (script.stat().st_ctime_ns // 1_000_000,)


def test_a_path_may_begin_where_the_shell_works(script: Path) -> None:
    assert found("./x", script.parent) == found(script)
    assert found(f"../{script.parent.name}/x", script.parent) == found(script)
    assert isinstance(Digests().lookup(None)("./x"), Unseen)


def test_a_file_that_may_not_be_run_says_so(script: Path) -> None:
    script.chmod(0o644)

    assert not found(script).is_executable


@pytest.mark.parametrize("name", ["gone", "gone/x", "x/y", "."])
def test_what_is_no_file_is_nothing(script: Path, name: str) -> None:
    assert Digests().lookup(str(script.parent))(name) is None


def test_links_are_followed_and_each_says_when_it_was_made(script: Path) -> None:
    link = script.parent / "link"
    link.symlink_to("./x")
    folder = script.parent / "folder"
    folder.symlink_to(script.parent)

    seen = found(folder / "link")

    assert seen.path == str(script)
    made = (os.lstat(one).st_ctime_ns // 1_000_000 for one in (folder, link, script))
    assert seen.changed_ms == tuple(made)


def test_a_link_to_itself_is_not_looked_at(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)

    assert isinstance(Digests().lookup(None)(str(link)), Unseen)


def test_a_pipe_does_not_stop_us(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert Digests().lookup(None)(str(tmp_path / "pipe")) is None


def test_a_large_file_has_no_digest(script: Path) -> None:
    with script.open("ab") as file:
        file.truncate(MAX_DIGESTED + 1)

    seen = found(script)

    assert (seen.digest, seen.head[:9]) == (b"", SCRIPT[:9])


def test_no_more_is_digested_for_a_line_than_may_be(tmp_path: Path) -> None:
    look = Digests().lookup(None)
    for name in ("a", "b", "c"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(MAX_DIGESTED)

    seen = [look(str(tmp_path / name)) for name in ("a", "b", "c")]

    assert [isinstance(one, Found) and one.digest != b"" for one in seen] == [
        True,
        True,
        False,
    ]


def test_a_digest_is_kept_until_the_file_changes(script: Path) -> None:
    digests = Digests()
    first = digests.lookup(None)(str(script))
    assert isinstance(first, Found)
    script.write_bytes(SCRIPT.replace(b"echo", b"exit"))

    second = digests.lookup(None)(str(script))

    assert isinstance(second, Found)
    assert second.digest != first.digest
    assert digests.lookup(None)(str(script)) == second


def test_a_time_that_was_set_back_does_not_hide_a_change(script: Path) -> None:
    digests = Digests()
    before = script.stat()
    first = digests.lookup(None)(str(script))
    while script.stat().st_ctime_ns == before.st_ctime_ns:  # It is dated by ticks.
        script.write_bytes(SCRIPT.replace(b"echo", b"exit"))
        os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))

    second = digests.lookup(None)(str(script))

    assert isinstance(first, Found)
    assert isinstance(second, Found)
    assert second.digest != first.digest


def test_no_more_digests_are_kept_than_may_be(tmp_path: Path) -> None:
    digests = Digests()
    for number in range(lookups.MAX_KEPT + 5):
        (tmp_path / f"{number}").write_bytes(b"%d" % number)
        digests.lookup(None)(str(tmp_path / f"{number}"))

    assert len(digests._kept) == lookups.MAX_KEPT  # noqa: SLF001  # nobody else sees it


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("36 35 0:1 / /mnt/x rw - fuse.sshfs host:/ rw", "/mnt/x"),
        ("36 35 0:1 / /mnt/a\\040b rw shared:1 - nfs4 host:/ rw", "/mnt/a b"),
        ("36 35 0:1 / / rw - fuse.overlay none rw", None),
        ("36 35 0:1 / /home rw - ext4 /dev/sda rw", None),
    ],
)
def test_what_another_program_serves_is_known_by_its_kind(
    line: str, place: str | None
) -> None:
    assert lookups._served(line) == place  # noqa: SLF001  # no such mount can be had here


def test_nothing_is_asked_of_what_another_program_serves(script: Path) -> None:
    look = lookups._Lookup(Digests(), None, [str(script.parent)]).look  # noqa: SLF001  # ditto

    assert isinstance(look(str(script)), Unseen)
    assert isinstance(look(f"{script.parent}/../{script.parent.name}/x"), Unseen)


def test_a_folder_is_told_with_every_link_followed(tmp_path: Path) -> None:
    (tmp_path / "real" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").write_text("")
    home = str(tmp_path.resolve())

    found = Digests().folders(home, ["link/sub", "gone", "file", "/", "."])

    assert found == {
        "link/sub": f"{home}/real/sub",
        "gone": None,
        "file": None,
        "/": "/",
        ".": home,
    }
    assert Digests().folders(None, ["x", "/"]) == {"x": None, "/": "/"}
