import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.painter.programs import Asker, Door, fragile

from holdfast.linux.painter_packets import MAX_DATA, MAX_PACKET

SIZE = [80, 24]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "painter.sock"


@pytest.fixture
def door(path: Path) -> Iterator[Door]:
    made = Door(path)
    yield made
    made.close()


def text(asker: Asker) -> str:
    lines = json.loads(asker.ask("screen").data)["lines"]
    return "\n".join(lines).rstrip("\n")


def test_a_session_is_painted_in_another_process(door: Door, path: Path) -> None:
    asker = Asker(door, path)
    asker.ask("reset", size=SIZE, at=1000)

    assert asker.ask("feed", b"hello\x1b[3;4H", at=1000).number("at") == 1011
    assert door.pid != os.getpid()
    assert text(asker) == "hello"
    assert asker.ask("answer", query="CURSOR").data == b"\x1b[3;4R"


def test_many_links_see_the_same_pictures(door: Door, path: Path) -> None:
    one, other = Asker(door, path), Asker(door, path)
    one.ask("reset", b"drawn", size=SIZE, at=0)

    assert text(other) == "drawn"


def test_a_thousand_links_are_served_at_once(door: Door, path: Path) -> None:
    askers = [Asker(door, path) for _ in range(1000)]
    for asker in askers:
        asker.send("drop")

    assert all(asker.answer().header["ok"] for asker in askers)
    assert door.started == 1


def test_more_than_a_packet_holds_comes_in_parts(door: Door, path: Path) -> None:
    line = b"\x1b[31m%06d\x1b[0m " + b"x" * 60 + b"\r\n"
    output = b"".join(line % number for number in range(5000))
    asker = Asker(door, path)
    asker.ask("reset", size=SIZE, at=0)
    for start in range(0, len(output), MAX_DATA):
        asker.ask("feed", output[start : start + MAX_DATA], at=start)

    keyframe = asker.ask("keyframe")
    assert len(keyframe.data) > 2 * MAX_DATA
    assert text(asker).splitlines()[-1].startswith("004999 xxx")


@pytest.mark.parametrize(
    "raw",
    [
        b"?",
        b"\0\0\0\2{}",
        b"\0\0\0\5{}",
        b'\0\0\0\x1c{"do":"dance","session":"s"}',
        bytes(MAX_PACKET + 1),
    ],
)
def test_what_is_no_request_ends_its_link_and_no_other(
    door: Door, path: Path, raw: bytes
) -> None:
    good, bad = Asker(door, path), Asker(door, path)
    good.ask("reset", b"still here", size=SIZE, at=0)
    bad.link.send(raw)

    assert bad.is_hung_up_on()
    assert text(good) == "still here"


def test_who_does_not_take_its_answer_delays_nobody(door: Door, path: Path) -> None:
    slow, quick = Asker(door, path), Asker(door, path)
    quick.ask("reset", size=SIZE, at=0)
    for start in range(0, 40 * MAX_DATA, MAX_DATA):
        quick.ask("feed", b"x" * MAX_DATA, at=start)
    for _ in range(3):  # more than a socket holds
        slow.send("keyframe")

    assert text(quick).startswith("xxx")
    assert all(len(slow.answer().data) > MAX_DATA for _ in range(3))


def test_whose_request_was_not_looked_at_finds_the_link_reset(
    door: Door, path: Path
) -> None:
    door.program = fragile()
    good, bad = Asker(door, path), Asker(door, path)
    good.ask("reset", size=SIZE, at=0)
    bad.ask("reset", size=SIZE, at=0)
    os.kill(door.pid, 19)
    bad.send("feed", b"BOOM", at=0)
    good.send("screen")
    os.kill(door.pid, 18)

    ends = []
    for asker in (bad, good):
        try:
            asker.answer()
        except EOFError:
            ends.append("ended")
        except ConnectionResetError:
            ends.append("reset")
        else:
            ends.append("answered")
    assert ends[0] == "ended"
    assert ends[1] in ("reset", "answered")


def test_nobody_asking_lets_it_rest(door: Door, path: Path) -> None:
    door.program = fragile(rest=0.1)
    asker = Asker(door, path)
    asker.ask("reset", size=SIZE, at=0)

    assert asker.is_hung_up_on()
    assert door.process is not None
    assert door.process.wait(10) == 0


def test_a_painter_has_its_sockets_and_nothing_else(door: Door, path: Path) -> None:
    with Path("/dev/null").open() as other:
        os.set_inheritable(other.fileno(), True)  # noqa: FBT003  # the system's own
        asker = Asker(door, path)
        asker.ask("reset", size=SIZE, at=0)
        names = Path(f"/proc/{door.pid}/fd")
        try:
            targets = [str(name.readlink()) for name in names.iterdir()]
        except PermissionError:
            pytest.skip("only root may look at a process that is not dumpable")

    kinds = sorted(target.split(":")[0] for target in targets)
    assert kinds == ["/dev/null", "/dev/null", "anon_inode", "socket", "socket"]
