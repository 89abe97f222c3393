import msgspec
import pytest
from tests.core.state_fields import fields

from holdfast.core.session.doze import Nap
from holdfast.core.session.left_behind import LeftBehind, Shell, read_left
from holdfast.core.session.paint_requests import Past, Picture
from holdfast.core.shell.shell_state import ShellState, read_state
from holdfast.model.errors import MalformedMessage
from holdfast.model.geometry import Size

NAP = Nap(12.5, 30.0, 4096, 777, 9.25)
BARE = LeftBehind(
    NAP, is_staged=False, painting=Past(is_whole=True, begin=0, sizes=(), kept=None)
)


def state() -> ShellState:
    said = (
        b"mPATH=/usr/bin:/bin",
        b"ddeclare -x EDITOR=vi",
        b"kll",
        b"tls -l",
        b"ointeractive-comments",
        b"l",
    )
    found = read_state(fields(said))
    assert found is not None
    return found


def whole() -> LeftBehind:
    kept = Picture(900, Size(80, 24), b"\x1b[2J\xff\x00title", exact=True)
    sizes = ((0, Size(80, 24)), (512, Size(132, 50)))
    painting = Past(is_whole=False, begin=256, sizes=sizes, kept=kept)
    shell = Shell(7, b"holdfast-st", state())
    return LeftBehind(NAP, is_staged=True, painting=painting, shell=shell)


@pytest.mark.parametrize("left", [BARE, whole()], ids=["bare", "whole"])
def test_what_is_written_down_is_read_again(left: LeftBehind) -> None:
    assert read_left(left.to_bytes()) == left


def test_a_shell_whose_state_is_not_known_is_read_as_that() -> None:
    left = LeftBehind(NAP, False, BARE.painting, Shell(0, b"", None))  # noqa: FBT003

    assert read_left(left.to_bytes()) == left


def test_a_path_that_is_not_known_stays_so() -> None:
    pathless = read_state(fields((b"oerrexit",)))
    left = LeftBehind(NAP, False, BARE.painting, Shell(1, b"", pathless))  # noqa: FBT003

    assert read_left(left.to_bytes()) == left


def spoiled(changes: dict[str, object], version: int = 2) -> bytes:
    _, left = msgspec.msgpack.decode(whole().to_bytes())
    return msgspec.msgpack.encode((version, {**left, **changes}))


def painting(**changes: object) -> dict[str, object]:
    kept = {"is_whole": True, "begin": 0, "sizes": [], "kept": None, **changes}
    return {"painting": [*kept.values()]}


def shell(**changes: object) -> dict[str, object]:
    return {"shell": {"told": 1, "begun": b"", "state": None, **changes}}


STATE: dict[str, object] = {"path": None, "aliases": {}, "environment": {}}


def test_the_ones_that_are_spoiled_below_were_good() -> None:
    read_left(spoiled(painting(sizes=[[0, {"columns": 80, "rows": 24}]])))
    state = {**STATE, "items": {("alias", "ll"): b""}, "is_whole": True}
    read_left(spoiled(shell(state=state)))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff",
        b"\x90",
        b"\xc0",
        b"\x91\x01",
        b"\x91" * 100_000,
        spoiled({}, version=1),
        spoiled({"nap": [1, 2]}),
        spoiled({"nap": ["a", 1, 1, 1, 1]}),
        spoiled({"nap": [True, 1, 1, 1, 1]}),
        spoiled({"is_staged": None}),
        spoiled({"painting": 7}),
        spoiled(painting(sizes=[[0, {"columns": 0, "rows": 0}]])),
        spoiled(painting(sizes=[[0]])),
        spoiled(painting(kept={})),
        spoiled(shell(begun=7)),
        spoiled(shell(state=STATE)),
        spoiled(shell(state={**STATE, "items": {("x", "y"): b""}, "is_whole": True})),
        spoiled({"shell": "bash"}),
        whole().to_bytes()[:-1],
    ],
)
def test_what_is_damaged_or_of_another_version_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read_left(raw)
