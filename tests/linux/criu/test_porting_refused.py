"""What keeps a session from going to disk or coming back, and what is left then."""

import os
import signal
import socket
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.linux.criu.one_dump import answer
from tests.linux.criu.porting_world import (
    SESSION,
    World,
    image_of,
    let_go_on,
    numbers,
    open_files,
    ported,
    served,
    stands_still,
    tell,
    wish,
)

from holdfast.core.capsule.open_files import Wish, to_put_back
from holdfast.holder import image_parts
from holdfast.linux import packets
from holdfast.linux.criu import program
from holdfast.linux.stored import (
    checkpoint_note,
    put_back,
)
from holdfast.linux.stored.image_store import ClaimedImage
from holdfast.model.errors import (
    CriuFailed,
    ImageDamaged,
    ImageMisfit,
    ImageNotFound,
    MappedFileChanged,
    NotCheckpointable,
)

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="no CRIU that can be used"
)
ABANDONED = """
import os, signal
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
def take(*_):
    os.tcsetpgrp(0, os.getpgrp())
    print("taken", flush=True)
signal.signal(signal.SIGUSR1, take)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    os._exit(0)
os.waitpid(child, 0)
print("ready", flush=True)
while True:
    signal.pause()
"""


def test_what_is_in_the_way_is_told_before_anything_is_touched(world: World) -> None:
    capsule = world.start("x, y = open('/dev/tty'), open('/dev/tty')")

    (failed,) = ported(capsule)

    assert (failed["say"], failed["code"]) == ("failed", NotCheckpointable.code)
    inside = capsule.record.inner_leader
    assert f"python ({inside}): /dev/tty; and 1 more" in str(failed["text"])
    assert answer(capsule.master, "=", "x.fileno() > 2") == "True"
    assert (numbers(), checkpoint_note.is_there(SESSION)) == ([], False)


def test_a_session_in_no_capsule_is_not_put_to_disk(world: World) -> None:
    capsule = world.start()
    given = [capsule.first, capsule.master]

    (failed,) = served(wish(None), given, lambda _: None)

    assert failed["code"] == NotCheckpointable.code
    assert "it is not in a capsule" in str(failed["text"])


def test_a_terminal_in_nobodys_hands_is_waited_for_but_not_for_ever(
    world: World,
) -> None:
    capsule = world.start(serve=ABANDONED)

    (failed,) = ported(capsule)

    assert "no job of it keeps the terminal" in str(failed["text"])
    assert numbers() == []
    os.kill(capsule.held.pid, signal.SIGUSR1)
    assert answer(capsule.master, "taken") == ""
    let_go_on(capsule)
    dumped, sealed = ported(capsule)
    assert (dumped["say"], sealed["say"]) == ("dumped", "sealed")


def test_without_a_word_of_the_holder_there_is_no_image(world: World) -> None:
    capsule = world.start("x = 7")

    said = ported(capsule, lambda link, _: link.shutdown(socket.SHUT_WR))

    assert [one["say"] for one in said] == ["dumped"]
    assert numbers() == []
    assert stands_still(capsule), "its holder's successor could not decide any more"
    let_go_on(capsule)
    assert answer(capsule.master, "=", "x") == "7"
    assert not checkpoint_note.is_there(SESSION)


def test_a_porter_whom_nobody_asks_for_anything_says_nothing(world: World) -> None:
    capsule = world.start("x = 7")

    said = served({}, [], lambda link: link.shutdown(socket.SHUT_WR))

    assert (said, numbers(), checkpoint_note.is_there(SESSION)) == ([], [], False)
    assert not stands_still(capsule)


def leave_after(link: socket.socket, leader: int) -> int:
    """Be a holder that hears nothing any more once it has said what it knows."""
    child = os.fork()
    if child == 0:
        try:
            packets.receive(link)
            link.shutdown(socket.SHUT_RD)
            tell(link, leader)
        finally:
            os._exit(0)
    return child


@pytest.mark.parametrize(("branch", "left"), [(True, []), (False, [1])])
def test_an_image_for_a_branch_goes_with_who_wanted_it(
    world: World, *, branch: bool, left: list[int]
) -> None:
    capsule = world.start("x = 7")
    holders: list[int] = []

    ported(
        capsule,
        lambda link, leader: holders.append(leave_after(link, leader)),
        branch=branch,
    )

    assert os.waitpid(holders[0], 0)[1] == 0

    assert numbers() == left
    assert answer(capsule.master, "=", "x") == "7"


def test_a_kernel_that_refuses_is_told_as_a_failure(world: World) -> None:
    capsule = world.start("x = 7")

    with Path("/dev/null").open("rb") as no_terminal:
        (failed,) = ported(capsule, master=no_terminal.fileno())

    assert failed["code"] == CriuFailed.code
    assert "Inappropriate ioctl" in str(failed["text"])
    assert numbers() == []
    let_go_on(capsule)
    assert answer(capsule.master, "=", "x") == "7"


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def changed(image: ClaimedImage) -> None:
    """Change one bit of what its programs had in memory."""
    found = Path(image.folder, image_parts.CRIU_FILES).glob("pages-*.img")
    pages = max(found, key=lambda one: one.stat().st_size)
    with pages.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))


def test_nothing_of_a_changed_image_goes_on(world: World) -> None:
    log = world.folder / "log"
    scene = f"import os; x = os.urandom(1 << 23); f = open({str(log)!r}, 'w')"
    capsule = world.start(scene)
    ported(capsule, stop=True)
    world.end(capsule)
    log.write_text("changed since")
    before = children()

    with image_of() as image:
        changed(image)
        opened = image.manifest.open_files
        found = to_put_back(opened, put_back.looked_at(opened), Wish.PUT_BACK)
        image.put_back = tuple(found)
        image.begin_verifying()
        with pytest.raises(ImageDamaged, match="pages-"):
            world.hold(image)

    assert log.read_text() == "changed since"
    assert children() == before, "a capsule is left"


def test_an_image_goes_on_only_where_it_fits(world: World) -> None:
    library = world.folder / "library"
    library.write_bytes(b"x" * 4096)
    scene = (
        f"import mmap; f = open({str(library)!r}, 'rb');"
        "m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)"
    )
    capsule = world.start(scene)
    ported(capsule)

    with pytest.raises(ImageNotFound):
        world.hold(None)
    with image_of() as image:
        made = image.manifest
        with pytest.raises(ImageDamaged, match="exec gate"):
            world.hold(image, asked=world.asked._replace(exec_gate=True))
        walls = replace(made.capsule, rootless=not made.capsule.rootless)
        image.manifest = replace(made, capsule=walls)
        with pytest.raises(ImageMisfit, match="an ordinary user"):
            world.hold(image)
        image_parts.check_programs(made)
        library.write_bytes(b"another one")
        with pytest.raises(MappedFileChanged, match="library"):
            image_parts.check_programs(made)
        Path(image.folder, image_parts.START).unlink()
        with pytest.raises(ImageDamaged, match="No such file"):
            world.hold(image)


@pytest.mark.skipif(os.getuid() != 0, reason="only root dumps what has a filter")
def test_nothing_is_left_of_a_tree_that_cannot_be_held(world: World) -> None:
    world.asked = world.asked._replace(exec_gate=True)
    capsule = world.start()
    ported(capsule, stop=True, gated=True)
    world.end(capsule)

    with image_of() as image:
        Path(image.folder, image_parts.TYPED).unlink()
        before = children(), open_files()
        with pytest.raises(FileNotFoundError):
            world.hold(image)
        assert (children(), open_files()) == before
