"""Random work under layers, and the same on a plain copy, come to the same."""

# ruff: noqa: S311  # chance that can be repeated

import errno
import os
import random
import shutil
import stat
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.linux.stored import overlaid
from tests.linux.stored.overlaid import SESSION, begin

from holdfast.linux.stored import own_changes

NAMES = ("a", "b", "c", "d")
Step = Callable[[Path], None]


def folder(path: Path, _other: Path, _text: str, mode: int) -> None:
    path.mkdir(mode)


def write(path: Path, _other: Path, text: str, _mode: int) -> None:
    path.write_text(text)


def append(path: Path, _other: Path, text: str, _mode: int) -> None:
    with path.open("a") as file:
        file.write(text)


def remove(path: Path, _other: Path, _text: str, _mode: int) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def move(path: Path, other: Path, _text: str, _mode: int) -> None:
    if not path.is_dir() or path.is_symlink():
        path.rename(other)
    elif path not in other.parents:
        # As mv does where the kernel does not rename a folder.
        shutil.copytree(path, other, symlinks=True)
        shutil.rmtree(path)


def link(path: Path, _other: Path, text: str, _mode: int) -> None:
    path.symlink_to(text or "nowhere")


def mode_of(path: Path, _other: Path, _text: str, mode: int) -> None:
    if not path.is_symlink():
        path.chmod(mode)


def attribute(path: Path, _other: Path, text: str, _mode: int) -> None:
    os.setxattr(path, "user.note", text.encode())


KINDS = (folder, folder, write, write, append, remove, move, link, mode_of, attribute)


def step(chance: random.Random) -> Step:
    """Return something that a program may do to a tree, the same in every tree."""
    first, second = (
        "/".join(chance.choice(NAMES) for _ in range(chance.randint(1, 3)))
        for _ in range(2)
    )
    text = str(chance.random()) * chance.randint(0, 3)
    mode, kind = chance.choice([0o700, 0o755, 0o711]), chance.choice(KINDS)
    return lambda tree: kind(tree / first, tree / second, text, mode)


def done(tree: Path, steps: list[Step]) -> None:
    """Do all that can be done; the rest is refused in every tree alike."""
    for one in steps:
        try:
            one(tree)
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise


def pictured(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return all that is in a folder, but for when it was made."""
    found: dict[str, tuple[object, ...]] = {}
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = f"{above}/{name}"
            now = os.lstat(path)
            content: object = ""
            if stat.S_ISREG(now.st_mode):
                content = Path(path).read_bytes()
            elif stat.S_ISLNK(now.st_mode):
                content = str(Path(path).readlink())
            links = now.st_nlink if stat.S_ISREG(now.st_mode) else 0
            attributes = [
                (one, os.getxattr(path, one, follow_symlinks=False))
                for one in sorted(os.listxattr(path, follow_symlinks=False))
            ]
            whole = path.removeprefix(str(folder))
            found[whole] = (now.st_mode, now.st_uid, links, content, attributes)
    return found


@pytest.mark.parametrize("seed", range(16))
def test_random_work_comes_to_the_same(tree: Path, seed: int) -> None:
    chance = random.Random(seed)
    done(tree, [step(chance) for _ in range(60)])
    plain = tree.parent / "plain"
    subprocess.run(["/bin/cp", "-a", tree, plain], check=True)
    stack = begin(tree)
    for _ in range(2):  # Twice: the second finds the layers of the first.
        steps = [step(chance) for _ in range(60)]
        done(plain, steps)
        overlaid.do(stack, partial(done, tree, steps))
    assert pictured(tree) != pictured(plain)

    own_changes.apply(SESSION)

    assert pictured(tree) == pictured(plain)
    assert own_changes.changes(SESSION) == ()
