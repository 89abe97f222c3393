"""A session goes to disk and comes back: a real porter, CRIU and capsules."""

import os
import select
from pathlib import Path

import pytest
from tests.linux.criu.one_dump import PATIENCE, answer
from tests.linux.criu.porting_world import (
    ACTOR,
    BRANCH,
    SESSION,
    WINDOW,
    World,
    gate_of,
    go_on,
    image_of,
    numbers,
    ported,
    refuse,
    stands_still,
)

from holdfast.core.capsule.open_files import Wish, to_put_back
from holdfast.holder import image_parts
from holdfast.linux.criu import program
from holdfast.linux.exec_words import read_wanted
from holdfast.linux.stored import (
    folders,
    put_back,
)
from holdfast.model.errors import (
    OpenFilesChanged,
)

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="no CRIU that can be used"
)
CHILD = (
    "import os, signal, subprocess; p = subprocess.Popen(['sleep', '99']);"
    "p.send_signal(signal.SIGSTOP); os.waitpid(p.pid, os.WUNTRACED)\n"
)
IS_STOPPED = "open(f'/proc/{p.pid}/stat').read().split()[2] == 'T'"


def test_a_session_goes_on_after_an_image_was_made_of_it(world: World) -> None:
    capsule = world.start(f"{CHILD}x = 40 + 2")
    os.write(capsule.master, b"x, ")

    dumped, sealed = ported(capsule, label="before")

    # The line is finished that was begun before the dump.
    assert answer(capsule.master, "=", IS_STOPPED) == "(42, True)"
    processes = dumped["processes"]
    assert isinstance(processes, list)
    assert capsule.held.pid in [pid for pid, _, _ in processes]
    assert (sealed["say"], sealed["number"], sealed["cuts"]) == ("sealed", 1, [])
    with image_of() as image:
        image.verify()
        assert sealed["size"] == sum(one.size for one in image.manifest.files)
        assert image_parts.part_of(image, image_parts.WINDOW) == WINDOW
        found = image.manifest
    assert (found.session, found.label, found.once) == (SESSION, "before", False)
    assert (found.log_index, found.log_hash) == (41, b"\xab" * 32)
    assert [(one.pid, one.actor) for one in found.starters] == [
        (capsule.record.inner_leader, ACTOR)
    ]
    told = image_parts.restored_from(found)
    assert (told.image, told.command, told.hands) == (1, 7, (ACTOR,))


def test_a_stopped_session_goes_on_where_it_was(world: World) -> None:
    capsule = world.start(f"{CHILD}x = os.urandom(9)")
    before = answer(capsule.master, "=", "x.hex()")
    os.write(capsule.master, b"x.hex(), " + IS_STOPPED.encode())

    ported(capsule, stop=True)
    assert stands_still(capsule)
    world.end(capsule)
    with image_of() as image:
        assert image.manifest.once
        image_parts.check_programs(image.manifest)
        image.begin_verifying()
        held = world.hold(image)

    assert held.capsule is not None
    assert stands_still(held.capsule)
    (starter,) = (one.split() for one in held.starters)
    assert (int(starter[0]), starter[2]) == (held.held.pid, ACTOR)
    # Its first half was typed before the dump.
    assert answer(go_on(held), "=", " ") == f"('{before}', True)"


def test_files_that_were_open_are_put_back_only_if_it_goes_on(world: World) -> None:
    log = world.folder / "log"
    scene = f"f = open({str(log)!r}, 'w'); f.write('kept'); f.flush()"
    capsule = world.start(scene)
    ported(capsule, stop=True)
    world.end(capsule)
    log.write_text("changed since")

    with image_of() as image:
        opened = image.manifest.open_files
        with pytest.raises(OpenFilesChanged):
            to_put_back(opened, put_back.looked_at(opened), Wish.REFUSE)
        found = to_put_back(opened, put_back.looked_at(opened), Wish.PUT_BACK)
        image.put_back = tuple(found)
        held = world.hold(image)
        assert log.read_text() == "kept"
        refuse(held)
        assert log.read_text() == "changed since"
        master = go_on(world.hold(image))

    assert answer(master, "=", "f.write(' on'), f.flush()") == "(3, None)"
    assert log.read_text() == "kept on"


def test_files_of_its_own_go_with_the_image(world: World) -> None:
    world.asked = world.asked._replace(files="own")
    note = world.folder / "note"
    capsule = world.start(f"f = open({str(note)!r}, 'w'); f.write('own'); f.flush()")
    ported(capsule, stop=True)
    world.end(capsule)

    with image_of() as image:
        assert (image.manifest.kind, image.manifest.open_files) == ("sealed", ())
        held = world.hold(image)

    read = f"open({str(note)!r}).read()"
    assert answer(go_on(held), "=", read) == "own"
    assert held.capsule is not None
    assert held.capsule.record.files == "own"
    assert not note.exists()


def test_a_branch_changes_nothing_of_the_session(world: World) -> None:
    note = world.folder / "note"
    note.write_text("of the session")
    capsule = world.start(f"f = open({str(note)!r}, 'r+')")
    ported(capsule, branch=True)

    with image_of() as image:
        assert image.manifest.open_files == (), "it goes on over files that change"
        asked = world.asked._replace(branches=f"{SESSION}.1")
        held = world.hold(image, BRANCH, asked)

    written = "f.write('of the branch'), f.flush(), open(f.name).read()"
    assert answer(go_on(held), "=", written).endswith("'of the branchn')")
    assert note.read_text() == "of the session"
    assert answer(capsule.master, "=", "f.read()") == "of the session"
    assert held.capsule is not None
    assert held.capsule.record.net == "own", "it could take the session's ports"


def test_images_beyond_what_is_kept_are_removed(world: World) -> None:
    config = Path(folders.owned(folders.config_path()), "config.toml")
    config.write_text("[images]\nkeep = 1\n")
    capsule = world.start()

    ported(capsule, label="with a name")
    ported(capsule)
    assert numbers() == [1, 2]
    with image_of(2):
        ported(capsule)
        assert numbers() == [1, 2, 3], "one in use was removed"
    ported(capsule, branch=True)
    assert numbers() == [1, 2, 3, 4], "one for a branch counts"
    ported(capsule)
    assert numbers() == [1, 4, 5]


@pytest.mark.skipif(os.getuid() != 0, reason="only root dumps what has a filter")
def test_a_restored_session_is_under_its_exec_gate_again(world: World) -> None:
    world.asked = world.asked._replace(exec_gate=True)
    capsule = world.start("import os")
    ported(capsule, stop=True, gated=True)
    world.end(capsule)

    with image_of() as image:
        held = world.hold(image)
    master = go_on(held)
    os.write(master, b"os.execv('/bin/true', ['true'])\n")

    with gate_of(held.held) as gate:
        assert gate is not None
        assert select.select([gate.listener], [], [], PATIENCE)[0], "it was not asked"
        notice = gate.receive()
        assert notice is not None
        assert read_wanted(notice).path == "/bin/true"
        gate.let(notice.id)
