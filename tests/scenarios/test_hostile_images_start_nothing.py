"""What somebody does to an image on disk starts nothing, and leaves the session be.

Each of these was tried as the hostile party: files of a real image of a real session
are changed, and the session is to be restored from it.
"""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.scenarios.capsules import Account, account

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)

USAGE, PEER = 64, 76


def flip_pages(image: Path) -> None:
    """Change one bit in a page of memory."""
    raw = bytearray((image / "criu/pages-1.img").read_bytes())
    raw[4096 + 7] ^= 1
    (image / "criu/pages-1.img").write_bytes(raw)


def cut_pages(image: Path) -> None:
    """Cut the memory at a page."""
    os.truncate(image / "criu/pages-1.img", 4096)


def swell_pages(image: Path) -> None:
    """Make the memory 10 TB, without taking any room: nobody may read all of it."""
    os.truncate(image / "criu/pages-1.img", 10 << 40)


def add_file(image: Path) -> None:
    """Add what CRIU would find, and nobody has signed."""
    (image / "criu/core-99.img").write_bytes(b"x")


def lose_file(image: Path) -> None:
    """Remove a part."""
    (image / "criu/files.img").unlink()


def link_file(image: Path) -> None:
    """Have a part be elsewhere, where it can be changed later."""
    shutil.move(image / "criu/files.img", image.parent / "elsewhere.img")
    (image / "criu/files.img").symlink_to(image.parent / "elsewhere.img")


def link_folder(image: Path) -> None:
    """Have the files of CRIU be elsewhere."""
    shutil.move(image / "criu", image.parent / "elsewhere")
    (image / "criu").symlink_to(image.parent / "elsewhere")


def pipe_file(image: Path) -> None:
    """Have a part block for good who opens it."""
    (image / "typeahead.bin").unlink()
    os.mkfifo(image / "typeahead.bin")


def swap_files(image: Path) -> None:
    """Let two processes be each other."""
    one, two = sorted((image / "criu").glob("core-*.img"))[:2]
    one.rename(image / "criu/x")
    two.rename(one)
    (image / "criu/x").rename(two)


def claim_number(image: Path) -> None:
    """Let it pass for a later image of the session."""
    shutil.copytree(image, image.parent / "7")


def sign_anew(image: Path) -> None:
    """Have a manifest that another key has signed."""
    lines = (image / "manifest").read_bytes().split(b"\n", 3)
    lines[2] = lines[2][::-1]
    (image / "manifest").write_bytes(b"\n".join(lines))


def undo_once(image: Path) -> None:
    """Let it be restored as often as one likes."""
    raw = (image / "manifest").read_bytes()
    (image / "manifest").write_bytes(raw.replace(b'"once":true', b'"once":false'))


def open_gate(image: Path) -> None:
    """Let a session go on without its exec gate, or with one it never had."""
    raw = (image / "manifest").read_bytes()
    changed = raw.replace(b'"exec_gate":false', b'"exec_gate":true')
    (image / "manifest").write_bytes(changed)


def dangle_manifest(image: Path) -> None:
    """Have a manifest without end."""
    (image / "manifest").unlink()
    (image / "manifest").symlink_to("/dev/zero")


ATTACKS = [
    *(flip_pages, cut_pages, swell_pages, add_file, lose_file, link_file, link_folder),
    *(pipe_file, swap_files, sign_anew, undo_once, open_gate, dangle_manifest),
]


def capsules_of(here: Account) -> list[int]:
    """Return the first process of each capsule that this account has."""
    ours, found = {*here.ours()}, []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            _, _, rest = (folder / "stat").read_text().partition("(")
            name, _, fields = rest.rpartition(")")
            state, parent = fields.split()[:2]
            if name == "cat" and state != "Z" and int(parent) in ours:
                found.append(int(folder.name))
    return found


def test_no_image_that_was_tampered_with_starts_anything() -> None:
    """In one story: starting a session for each of them would take minutes."""
    with account(os.getuid()) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=41")
        assert len(capsules_of(here)) == 1
        here.ask("checkpoint", "box", "--stop")
        (image,) = here.place.glob(f"**/images/{session}/1")
        whole = here.place / "whole"
        shutil.copytree(image, whole)
        for attack in ATTACKS:
            attack(image)

            said = refused(lambda: here.ask("restore", "-d", "box.1", status=None))

            assert "goes on" not in said, attack.__name__
            assert "stopped, " in here.ask("ls"), attack.__name__
            assert capsules_of(here) == [], attack.__name__
            clear(image)
            shutil.copytree(whole, image)
        claim_number(image)
        here.ask("restore", "-d", "box.7", status=PEER)
        shutil.rmtree(image.parent / "7")

        here.ask("restore", "-d", "box.1")

        assert here.run("box", "echo $x") == "41\n"


def refused(does: Callable[[], str]) -> str:
    said = does()
    assert "Traceback" not in said
    return said


def clear(image: Path) -> None:
    """Remove an image, and what an attack has put beside it."""
    shutil.rmtree(image)
    for one in ("elsewhere.img", "elsewhere"):
        beside = image.parent / one
        if beside.is_dir():
            shutil.rmtree(beside)
        elif beside.exists():
            beside.unlink()
