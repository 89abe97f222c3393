import hashlib
import os
import time
from pathlib import Path

import pytest

from holdfast.linux.stored.bulk_check import PIECE, BulkCheck, HashAhead
from holdfast.linux.stored.image_files import hashed_below
from holdfast.model.errors import ImageDamaged

NAME = "criu/pages-1.img"


def test_what_is_as_it_was_passes() -> None:
    check = BulkCheck({NAME: b"right"}, lambda _: b"right")

    check.wait()
    check.wait()
    check.close()


def test_what_was_changed_is_named() -> None:
    check = BulkCheck({NAME: b"right", "b": b"x"}, lambda _: b"x")

    with pytest.raises(ImageDamaged, match="was changed"):
        check.wait()


def test_what_cannot_be_read_is_refused() -> None:
    def fails(name: str) -> bytes:
        raise OSError(5, name)

    def grows(name: str) -> bytes:
        raise ImageDamaged(f"{name} changes while it is read")

    for hashed, why in ((fails, "it cannot be read"), (grows, "changes while")):
        with pytest.raises(ImageDamaged, match=why):
            BulkCheck({NAME: b""}, hashed).wait()


def test_a_check_that_is_killed_is_no_pass() -> None:
    check = BulkCheck({NAME: b"x"}, lambda _: os._exit(0))

    with pytest.raises(ImageDamaged):
        check.wait()


def children() -> set[str]:
    """Return what this process has forked, with what other tests have left."""
    return {*Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_nothing_is_left_of_a_check_that_nobody_waits_for() -> None:
    def sleeps(_: str) -> bytes:
        time.sleep(600)
        return b""

    before = children()
    check = BulkCheck({NAME: b""}, sleeps)
    forked = children() - before  # What others left may end meanwhile.
    assert forked
    check.close()

    assert not forked & children()


def test_memory_is_hashed_as_it_is_written(tmp_path: Path) -> None:
    ahead = HashAhead(str(tmp_path))
    (tmp_path / "core-1.img").write_bytes(b"not memory")
    with (tmp_path / "pages-1.img").open("wb", buffering=0) as file:
        for part in (b"one" * 1000, b"two" * 3_000_000, b"three"):
            file.write(part)
            time.sleep(0.01)
    (tmp_path / "pages-2.img").write_bytes(b"")

    found = ahead.finish()

    whole = (tmp_path / "pages-1.img").read_bytes()
    pieces = [whole[at : at + PIECE] for at in range(0, len(whole), PIECE)]
    digests = b"".join(hashlib.sha256(one).digest() for one in pieces)
    assert len(pieces) == 3
    assert found == {
        NAME: (len(whole), hashlib.sha256(digests).digest()),
        "criu/pages-2.img": (0, hashlib.sha256(b"").digest()),
    }


def test_memory_has_one_hash_whoever_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "criu"
    folder.mkdir()
    for number, size in enumerate((0, 1, PIECE, PIECE + 1, 2 * PIECE)):
        (folder / f"pages-{number}.img").write_bytes(os.urandom(size))

    found = HashAhead(str(folder), is_durable=True).finish()

    home = os.open(tmp_path, os.O_RDONLY)
    assert len(found) == 5
    for name, (size, digest) in found.items():
        assert hashed_below(home, name, size) == digest
    os.close(home)


def test_what_nobody_waits_for_any_more_ends(tmp_path: Path) -> None:
    before = children()
    ahead = HashAhead(str(tmp_path))
    forked = children() - before
    assert forked
    ahead.close()

    assert not forked & children()


def test_a_folder_that_is_gone_yields_nothing(tmp_path: Path) -> None:
    assert HashAhead(str(tmp_path / "gone")).finish() == {}
