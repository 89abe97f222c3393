import pytest

from holdfast.core.view.mouse import OWN, half_report, sort_out, terminal_modes
from holdfast.core.view.viewport import Viewport
from holdfast.model.geometry import Size
from holdfast.term.key_reader import Mouse

SESSION, ROOM = Size(300, 50), Size(80, 23)


def view(top: int = 0, left: int = 0) -> Viewport:
    made = Viewport()
    made.top, made.left = top, left
    return made


def told(data: bytes, *modes: int, top: int = 0, left: int = 0) -> bytes:
    return sort_out(data, frozenset(modes), view(top, left), (SESSION, ROOM)).keys


def test_a_terminal_is_in_the_modes_that_the_program_is_in() -> None:
    assert terminal_modes(frozenset({1, 2004, 1002}), is_ours=False) == {
        *(1, 2004, 1002, 1006)
    }
    assert terminal_modes(frozenset({2004}), is_ours=False) == {2004, *OWN}
    assert terminal_modes(frozenset({1, 1003}), is_ours=True) == OWN


def test_i2_keys_pass_unchanged() -> None:
    assert told(b"ls\r\x1b[A") == b"ls\r\x1b[A"
    assert told(b"a\x1b[<nonsenseb") == b"a\x1b[<nonsenseb"


def test_a_program_is_told_places_of_its_own_screen() -> None:
    assert told(b"a\x1b[<0;3;4Mb", 1000, 1006, top=10, left=5) == b"a\x1b[<0;8;14Mb"
    assert told(b"\x1b[<0;3;4m", 1000, 1006) == b"\x1b[<0;3;4m"


def test_a_program_is_told_in_the_form_that_it_knows() -> None:
    assert told(b"\x1b[<0;3;4M", 1000) == b"\x1b[M" + bytes((32, 35, 36))
    assert told(b"\x1b[<2;3;4m", 1000) == b"\x1b[M" + bytes((35, 35, 36))
    assert told(b"\x1b[<0;3;4M", 1000, left=250) == b""
    assert told(b"\x1b[<999;3;4M", 1000) == b""


@pytest.mark.parametrize("place", [b"3;24", b"3;23", b"80;1"])
def test_i1_a_program_is_told_of_no_place_outside_its_screen(place: bytes) -> None:
    small = Size(70, 10)
    report = b"\x1b[<0;" + place + b"M"
    modes = frozenset({1000, 1006})

    assert sort_out(report, modes, view(), (small, ROOM)).keys == b""


def test_a_mouse_that_no_program_wants_is_ours() -> None:
    found = sort_out(b"a\x1b[<64;1;1Mb", frozenset(), view(), (SESSION, ROOM))

    assert found.keys == b"ab"
    assert found.ours == [Mouse(64, 0, 0)]


def test_half_a_report_waits_for_the_rest() -> None:
    assert half_report(b"x\x1b[<0;1") == b"\x1b[<0;1"
    assert half_report(b"x\x1b[<0;1;1M") == b""
    assert half_report(b"\x1b") == b""
