import json

import pytest
from tests.cli.support.fakes import FakeSession

from holdfast.cli.main import main
from holdfast.cli.verbs.screen import coloured
from holdfast.core.client.screen_question import Seen
from holdfast.core.session.paint_requests import Picture
from holdfast.holder.output.attach_view import screen_parts
from holdfast.model.errors import PainterDied
from holdfast.model.geometry import Size
from holdfast.term.cells import Run
from holdfast.term.looks import EXACT, Look
from holdfast.term.screen import Screen
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind

Capture = pytest.CaptureFixture[str]

RUNS = (
    Run(0, "plain "),
    Run(0, "red", foreground=2, look=Look.BOLD | Look.UNDERLINE),
    Run(2, "sky", background=EXACT + 0x87CEEB),
)
SCREEN = Screen(
    Size(20, 4),
    ("plain red   ", "", "sky", ""),
    cursor_row=2,
    cursor_column=3,
    title="\x1b[2Jvi",
    runs=RUNS,
)


@pytest.fixture
def shown(web: FakeSession) -> FakeSession:
    web.screen = [*screen_parts(SCREEN, Picture(99, SCREEN.size, b"", exact=False))]
    return web


def test_the_rows_are_printed_as_they_are_seen(
    shown: FakeSession, capsys: Capture
) -> None:
    assert main(["screen", "web"]) == 0

    assert capsys.readouterr().out == "plain red\n\nsky\n"
    assert shown.asked_cells is False


def test_json_says_what_there_is_to_know(shown: FakeSession, capsys: Capture) -> None:
    assert main(["screen", "web", "--json"]) == 0

    assert json.loads(capsys.readouterr().out) == {
        "session": shown.id,
        "size": {"columns": 20, "rows": 4},
        "cursor": {"row": 2, "column": 3, "visible": True},
        "title": "\\x1b[2Jvi",
        "alternate": False,
        "lines": ["plain red", "", "sky", ""],
        "hidden": [],
        "above": 0,
        "offset": 99,
        "exact": False,
    }


@pytest.mark.usefixtures("shown")
def test_cells_are_lines_of_json_for_programs(capsys: Capture) -> None:
    assert main(["screen", "web", "--cells"]) == 0

    runs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert runs == [
        {"row": 0, "text": "plain "},
        {"row": 0, "text": "red", "foreground": 1, "look": ["bold", "underline"]},
        {"row": 2, "text": "sky", "background": "#87ceeb"},
    ]


@pytest.mark.usefixtures("shown")
def test_cells_and_json_are_one_object(capsys: Capture) -> None:
    assert main(["screen", "web", "--cells", "--json"]) == 0

    assert len(json.loads(capsys.readouterr().out)["cells"]) == 3


def test_on_a_terminal_cells_have_their_colours() -> None:
    text = coloured(Seen(SCREEN, 99, exact=True))

    assert text == (
        "\x1b[0mplain \x1b[m\x1b[0;1;4;31mred\x1b[m\n\n"
        "\x1b[0;48;2;135;206;235msky\x1b[m"
    )


def test_a_session_without_a_painter_is_a_reason_to_try_later(
    web: FakeSession, capsys: Capture
) -> None:
    web.screen = [refusal(PainterDied("gone"), FrameKind.SCREEN_REQUEST)]

    assert main(["screen", "web"]) == 75
    assert "painter" in capsys.readouterr().err
