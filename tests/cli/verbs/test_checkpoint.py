import pytest

from holdfast.cli.main import main
from holdfast.cli.verbs.checkpoint import lines
from holdfast.wire.checkpoints import Checkpointed
from holdfast.wire.preflights import Cut

Capture = pytest.CaptureFixture[str]

CUT = Cut(pid=9, program="curl\x1b", descriptor=5, peer="192.0.2.1:443")


def made(*, stopped: bool, cuts: tuple[Cut, ...] = ()) -> Checkpointed:
    return Checkpointed(
        image="s_1.3",
        number=3,
        size=5_800_000,
        still_ms=90,
        stopped=stopped,
        cuts=cuts,
    )


def test_a_session_that_goes_on_is_told_how_long_it_stood_still() -> None:
    assert lines("web", made(stopped=False)) == [
        "web is on disk as s_1.3 (5.8 MB); it was stopped for 0.09 s."
    ]


def test_of_one_that_was_stopped_it_is_told_how_it_comes_back() -> None:
    assert lines("web", made(stopped=True)) == [
        "web is on disk as s_1.3 (5.8 MB), and ended.",
        "`holdfast restore s_1.3` continues it.",
    ]


def test_connections_are_listed_by_peer_and_nothing_in_them_is_obeyed() -> None:
    *_, last = lines("web", made(stopped=False, cuts=(CUT,)))
    assert last.endswith("(9): a restore closes the connection to 192.0.2.1:443")
    assert "\x1b" not in last


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("label", ["two\nlines", "\x1b[2J", "x" * 65])
def test_a_label_that_cannot_be_shown_is_refused_before_anybody_is_asked(
    capsys: Capture, label: str
) -> None:
    assert main(["checkpoint", "web", "--label", label]) == 64
    assert "--label" in capsys.readouterr().err
