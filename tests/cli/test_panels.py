from collections.abc import Sequence

import pytest

from holdfast.cli.panels import (
    HelpPanel,
    Named,
    Panel,
    Preview,
    RenamePanel,
    SwitchPanel,
)
from holdfast.cli.session_table import command_told
from holdfast.core.client.session_choice import (
    Candidate,
    Chosen,
    Closed,
    SessionChoice,
)
from holdfast.model.geometry import Size
from holdfast.model.settings import Settings
from holdfast.model.text import shown_name
from holdfast.model.text_width import columns_of
from holdfast.painter.ghostty import GhosttyCore

HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202eevil日本"


def look(what: str) -> bytes:
    return {"selected": b"\x1b[0;7m", "faint": b"\x1b[0;2m"}[what]


def seen(panel: Panel, columns: int = 60, rows: int = 14) -> list[str]:
    """Return what a real terminal shows, which was full of something else before."""
    core = GhosttyCore(Size(columns, rows))
    core.feed(b"x" * columns * rows)
    core.feed(panel.drawn(columns, rows, look))
    shown = core.screen()
    core.close()
    assert shown.title == ""
    lines = [*shown.lines, *[""] * rows][:rows]
    assert not any("xxx" in line for line in lines)
    return [line.rstrip() for line in lines]


def choice(count: int = 3, *more: Candidate) -> SessionChoice:
    some = [Candidate(f"s_{n}", f"name-{n}", "running", "sh") for n in range(count)]
    return SessionChoice([*some, *more])


def panel(chosen: SessionChoice, lines: Sequence[str] = ("one", "two")) -> SwitchPanel:
    return SwitchPanel(chosen, lambda _: Preview(lines, "running"))


def test_sessions_are_listed_over_what_the_chosen_one_shows() -> None:
    shown = seen(panel(choice()))

    assert shown[0].split() == ["switch", "to:", "3"]
    assert [line.split() for line in shown[1:4]] == [
        [f"name-{n}", "running", "sh"] for n in range(3)
    ]
    assert shown[4].startswith("── name-0 running ──")
    assert shown[5:7] == ["one", "two"]
    assert shown[13] == "enter goes there   escape goes back"


def test_what_is_typed_is_shown_with_how_many_fit() -> None:
    made = panel(choice(500))
    for key in "name-49":
        assert made.pressed(key) is None

    assert seen(made)[0].split() == ["switch", "to:", "name-49", "11", "of", "500"]
    assert made.pressed("Enter") == Chosen("s_49")
    for key in "xyz":
        made.pressed(key)
    assert "no session matches" in seen(made)[1]


def test_while_nothing_is_known_the_preview_waits() -> None:
    assert "name-0 … ──" in seen(SwitchPanel(choice(), lambda _: None))[4]


def test_whose_sessions_may_be_missing_is_said() -> None:
    made = SwitchPanel(choice(), lambda _: None, lambda: "asking \x1bnas")
    assert seen(made)[-1].endswith("escape goes back   asking \\x1bnas")


def test_the_end_of_a_long_screen_is_shown() -> None:
    lines = [*(f"line {n}" for n in range(50)), "", "  "]
    shown = seen(panel(choice(), lines), rows=20)

    assert shown[18] == "line 49"


@pytest.mark.parametrize("size", [(20, 5), (1, 1), (2, 2), (80, 3), (500, 200)])
@pytest.mark.parametrize("count", [0, 1, 500])
def test_every_size_will_do(size: tuple[int, int], count: int) -> None:
    shown = seen(panel(choice(count)), *size)

    assert all(columns_of(line) <= size[0] for line in shown)


def test_nothing_that_a_session_is_called_or_shows_is_obeyed() -> None:
    evil = Candidate("s_9", shown_name(HOSTILE), "running", command_told([HOSTILE]))
    shown = "\n".join(seen(panel(SessionChoice([evil]), [HOSTILE] * 3), 200))

    assert "\\x1b[2J" in shown
    assert "\u202e" not in shown
    assert "日本" in shown


def test_a_long_name_is_whole_where_it_is_chosen() -> None:
    name = "a" * 40
    shown = seen(panel(choice(1, Candidate("s_9", name), Candidate("s_8", name))))
    assert name not in shown[2]

    made = panel(choice(0, Candidate("s_9", name)))
    assert name in seen(made)[1]


def test_a_name_is_typed_into_a_line() -> None:
    made = RenamePanel("web", "a session named 'web' already exists")
    assert seen(made)[:2] == ["new name: web", "a session named 'web' already exists"]

    for key in ("Home", "x", "End", "2"):
        assert made.pressed(key) is None
    assert made.pressed("Enter") == Named("xweb2")
    assert made.pressed("Escape") == Closed()
    assert RenamePanel("").pressed("Enter") == Closed()
    assert "enter renames" in seen(RenamePanel("web"))[1]


def test_help_names_the_keys_that_are_set_and_any_key_leaves_it() -> None:
    settings = Settings()
    settings.prefix = 1
    del settings.keys["who"]
    made = HelpPanel(settings)
    shown = seen(made, 80, 24)

    assert shown[0] == "after Ctrl-a:"
    assert "       d  detach; the session keeps running" in shown
    assert not any("who is attached" in line for line in shown)
    assert " H J K L  another part of a larger session" in shown
    assert "  Ctrl-a  send Ctrl-a itself" in shown
    assert made.pressed("x") == Closed()
    assert seen(made, 80, 5)[4] == "any key goes back"
