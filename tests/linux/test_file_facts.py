import contextlib
import hashlib
import os
import threading
from pathlib import Path

import pytest
from tests.linux.trees import eventually

from holdfast.linux import file_facts
from holdfast.linux.file_facts import FileFact, look


def test_a_file_has_its_digest_and_its_ctime(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_bytes(b"echo hello\n")

    (fact,) = look(str(path))
    assert (fact.path, fact.kind, fact.size) == (str(path), "file", 11)
    assert fact.digest == hashlib.sha256(b"echo hello\n").hexdigest()
    assert fact.ctime_ns == path.stat().st_ctime_ns


def test_a_faked_date_does_not_fake_the_ctime(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_text("x")
    (before,) = look(str(path))
    os.utime(path, (0, 0))

    (fact,) = look(str(path))
    assert path.stat().st_mtime == 0
    assert fact.ctime_ns >= before.ctime_ns > 0


def test_each_link_on_the_way_is_told_with_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/tool").write_text("x")
    (tmp_path / "bin").symlink_to("real")
    (tmp_path / "real/alias").symlink_to(f"{tmp_path}/bin/tool")

    found = look(f"{tmp_path}/bin/alias")
    assert [(one.path.removeprefix(str(tmp_path)), one.kind) for one in found] == [
        ("/bin", "link"),
        ("/real/alias", "link"),
        ("/bin", "link"),
        ("/real/tool", "file"),
    ]
    assert found[0].target == "real"


def test_dots_after_a_link_lead_to_where_the_link_leads(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/file").write_text("right")
    (tmp_path / "file").write_text("wrong")
    (tmp_path / "link").symlink_to("a/b")

    assert look(f"{tmp_path}/link/../file")[-1].path == f"{tmp_path}/a/file"


def test_a_path_may_be_told_from_where_we_are(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")

    with contextlib.chdir(tmp_path):
        assert look("./x")[-1].path == f"{Path.cwd()}/x"


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "socket"])
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            os.mknod(path, 0o140600)
        case _:
            path = Path("/dev/zero")

    (fact,) = look(str(path))
    assert (fact.kind, fact.digest, fact.why) == (kind, "", "")


def test_a_circle_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(OSError, match="symbolic links"):
        look(str(tmp_path / "a"))


@pytest.mark.parametrize("name", ["gone", "file/below"])
def test_what_is_not_there_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(OSError):  # noqa: PT011  # of two kinds
        look(str(tmp_path / name))


def test_a_file_that_is_too_large_has_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(file_facts.MAX_READ + 1)

    (fact,) = look(str(path))
    assert fact.digest == ""
    assert "larger" in fact.why


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_file_that_is_not_for_us_has_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "closed"
    path.touch(0)

    (fact,) = look(str(path))
    assert (fact.digest, fact.why) == ("", "Permission denied")


def test_a_file_that_changes_all_the_time_is_not_told_wrongly(tmp_path: Path) -> None:
    path, done = tmp_path / "busy", threading.Event()
    path.write_bytes(bytes(1 << 20))

    def write() -> None:
        while not done.is_set():
            path.write_bytes(os.urandom(1 << 20))

    writer = threading.Thread(target=write)
    writer.start()
    found: list[FileFact] = []

    def was_noticed() -> bool:
        found.append(look(str(path))[-1])
        return "changed while it was read" in found[-1].why

    try:
        eventually("a change was noticed", was_noticed)
    finally:
        done.set()
        writer.join()

    assert all(bool(one.digest) != bool(one.why) for one in found)
