"""A process that tests kill, or run where the disk is full or cannot be written."""
# ruff: noqa: T201  # tests read it

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from msgspec.structs import replace
from tests.core.capsule.image_samples import CONTENT, KEY, SESSION, WHOLE

from holdfast.linux.stored import image_store as store
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import ImageUnwritten
from holdfast.model.ids import Incarnation


def draft() -> None:
    with store.begin(SESSION) as one:
        one.add("criu/core-1.img", b"half of it")
        print("ready", flush=True)
        sys.stdin.read()


def claim() -> None:
    with store.claim(ImageName(SESSION, 1), KEY.public, alone=True):
        print("ready", flush=True)
        sys.stdin.read()


def disks() -> None:
    """Fill a small disk with an image, make a smaller one, and forbid writing."""
    import os  # noqa: PLC0415  # here alone

    with tempfile.TemporaryDirectory() as place:
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", place]
        subprocess.run(mount, check=True)
        os.environ["HOLDFAST_STATE_DIR"] = place
        try:
            _on_small_disk(place)
        finally:
            subprocess.run(["umount", "-l", place], check=True)  # noqa: S607  # whichever


def _on_small_disk(place: str) -> None:
    try:
        with store.begin(SESSION) as one:
            one.add("criu/pages-1.img", b"x" * 100_000)
    except ImageUnwritten:
        print("full")
    print("swept" if not store.sweep() and not store.listed(KEY.public) else "left")
    with store.begin(SESSION) as one:
        for name, data in CONTENT.items():
            one.add(name, data)
        one.finish(replace(WHOLE, label=""), KEY)
        print("whole")
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)  # noqa: S607  # ditto
    with store.claim(one.name, KEY.public, alone=True) as image:
        image.verify()
        print("read")
        try:
            image.try_as(Incarnation(2))
        except ImageUnwritten:
            print("unwritten")
    try:
        store.remove(one.name)
    except ImageUnwritten:
        print("unremoved" if store.listed(KEY.public) else "gone")


if __name__ == "__main__":
    {"draft": draft, "claim": claim, "disks": disks}[sys.argv[1]]()
