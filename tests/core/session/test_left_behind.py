import json

import pytest

from holdfast.core.session.doze import Nap
from holdfast.core.session.left_behind import LeftBehind, Shell, read_left
from holdfast.core.session.paint_requests import Past, Picture
from holdfast.core.shell.shell_state import ShellState, fields, read_state
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


def spoiled(changes: dict[str, object]) -> bytes:
    return json.dumps({**json.loads(whole().to_bytes()), **changes}).encode()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b'{"format": 1}',
        b"[" * 100_000,
        spoiled({"format": 2}),
        spoiled({"nap": [1, 2]}),
        spoiled({"nap": ["a", 1, 1, 1, 1]}),
        spoiled({"nap": [True, 1, 1, 1, 1]}),
        spoiled({"painting": 7}),
        spoiled(
            {
                "painting": {
                    "whole": True,
                    "begin": 0,
                    "sizes": [[0, 0, 0]],
                    "kept": None,
                }
            }
        ),
        spoiled(
            {"painting": {"whole": True, "begin": 0, "sizes": [[0]], "kept": None}}
        ),
        spoiled({"painting": {"whole": True, "begin": 0, "sizes": [], "kept": {}}}),
        spoiled({"shell": {"told": 1, "begun": "zz", "state": None}}),
        spoiled(
            {"shell": {"told": 1, "begun": "", "state": {"items": [["x", "y", ""]]}}}
        ),
        spoiled({"shell": "bash"}),
    ],
)
def test_what_is_damaged_or_of_another_version_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read_left(raw)


def test_a_picture_with_what_is_no_base64_is_refused() -> None:
    facts = json.loads(whole().to_bytes())
    facts["painting"]["kept"]["data"] = "!!"

    with pytest.raises(MalformedMessage):
        read_left(json.dumps(facts).encode())
