import os
import random
import signal

import pytest
from tests.painter.programs import fragile

from holdfast.model.errors import PainterDied
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.painter.client import Painter
from holdfast.painter.packets import MAX_DATA
from holdfast.painter.repainting import MAX_DEATHS, Source, repaint
from holdfast.term.stains import Stains

SESSION = SessionId("s_one")
SIZE = Size(40, 6)

ESC, LINK = b"\x1b", b"\x1b]8;id=1;http://x\x1b\\"
HOSTILE = {
    "a million escapes": ESC * 1_000_000,
    "huge parameters": b"\x1b[" + b"9" * 70_000 + b";" * 70_000 + b"m"
    b"\x1b[999999999;999999999H\x1b[999999999b\x1b[999999999@\x1b[2147483648S",
    "no UTF-8": bytes(range(128, 256)) * 4000,
    "an endless title": b"\x1b]2;" + b"t" * 500_000,
    "an endless clipboard": b"\x1b]52;c;" + b"QUJD" * 200_000 + b"\x07",
    "an endless picture": b"\x1b_Ga=T,f=24,s=999,v=999,m=1;" + b"AAAA" * 200_000,
    "links in a mix": (LINK + b"a\x1b[5;5H\x1b[2J" + LINK + b"\r\n\x1b[L\x1b[M") * 9000,
    "combining without end": b"e" + b"\xcc\x81" * 300_000,
}


def mixed(seed: int) -> bytes:
    chance = random.Random(seed)  # noqa: S311  # repeatable, not unguessable
    pieces = [
        *(LINK, b"\x1b]8;;\x07", b"\x1b[\x9d8;;u\x07", b"\x1b[?1049h", b"\x1b[?1049l"),
        *(b"\x1b[2J", b"\x1b[3J", b"\x1bc", b"\r\n", b"\x1b[5S", b"\x1b[7T", b"\x1b8"),
        *(b"\x1b7", b"\x1b[9P", b"\x1b[9@", b"\x1b[2;5r", "漢字".encode(), b"x" * 50),
        *(b"\x1b[?69h\x1b[3;9s", b"\x1b[?6h", b"\x1b[H", b"\x1b[99b", b"\x1b[K\x1b[4h"),
    ]
    return b"".join(chance.choices(pieces, k=20_000))


def painted(painter: Painter, output: bytes, stains: Stains) -> str:
    repaint(painter, SESSION, Source(SIZE, 100, output), stains)
    assert painter.keyframe(SESSION).offset == 100 + len(output)
    return painter.screen(SESSION).text()


@pytest.mark.parametrize("output", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_output_never_harms_the_caller(output: bytes) -> None:
    with Painter() as painter:
        assert painted(painter, output + b"\x18\x1bcfine", Stains()) == "fine"


@pytest.mark.parametrize("seed", range(4))
def test_a_hostile_mix_with_links_never_harms_the_caller(seed: int) -> None:
    with Painter() as painter:
        assert painted(painter, mixed(seed) + b"\x18\x1bcfine", Stains()) == "fine"


def test_after_a_kill_the_screen_is_rebuilt_whole() -> None:
    stains = Stains()
    with Painter() as painter:
        painted(painter, b"all of it", stains)
        assert painter.pid is not None
        os.kill(painter.pid, signal.SIGKILL)

        assert painted(painter, b"all of it", stains) == "all of it"
        assert not stains.degraded


def test_what_two_painters_did_not_survive_is_left_out() -> None:
    stains = Stains()
    before, after = b"before\r\n", b"after"
    bad = b"BOOM".ljust(MAX_DATA - len(before), b"\0")
    with Painter(program=fragile()) as painter:
        assert painted(painter, before + bad + after, stains) == "after"
        assert stains.degraded
        assert painted(painter, after, Stains()) == "after"


def test_output_that_is_bad_to_its_end_leaves_an_empty_screen() -> None:
    stains = Stains()
    with Painter(program=fragile()) as painter:
        assert painted(painter, b"BOOM", stains) == ""
        assert stains.degraded


def test_output_with_many_bad_places_is_given_up_for_now() -> None:
    stains = Stains()
    output = b"BOOM".ljust(MAX_DATA, b"\0") * (MAX_DEATHS // 2 + 1) + b"end"
    with Painter(program=fragile()) as painter:
        with pytest.raises(PainterDied):
            painted(painter, output, stains)

        assert painted(painter, output, stains) == "end"


def test_a_keyframe_is_the_ground_that_is_painted_on() -> None:
    with Painter() as painter:
        source = Source(SIZE, 7, b" and output", keyframe=b"keyframe")
        repaint(painter, SESSION, source, Stains())

        assert painter.screen(SESSION).text() == "keyframe and output"
