import os
import subprocess
import sys

import pytest

from holdfast.cli.colour_depth import depth, terminal_depth
from holdfast.term.canvas import EVERY_COLOUR, SIXTEEN, Depth

NAME = "holdfast.cli.colour_depth"


@pytest.mark.parametrize(
    ("term", "also", "found"),
    [
        ("xterm-256color", "", Depth(256)),
        ("xterm-256color", "truecolor", EVERY_COLOUR),
        ("xterm", "24bit", EVERY_COLOUR),
        ("xterm-direct", "", EVERY_COLOUR),
        ("linux", "truecolor", SIXTEEN),
        ("xterm-16color", "truecolor", SIXTEEN),
    ],
)
def test_a_terminal_has_the_colours_that_it_says(
    term: str, also: str, found: Depth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", also)

    assert terminal_depth() == depth() == found


@pytest.mark.parametrize(
    ("term", "found"),
    [("xterm", SIXTEEN), ("vt100", Depth(0)), ("nobody-knows-it", SIXTEEN)],
)
def test_of_others_the_system_s_description_counts(term: str, found: Depth) -> None:
    said = subprocess.run(  # A process reads one description, once.
        [
            sys.executable,
            "-c",
            f"import {NAME} as it; print(tuple(it.terminal_depth()))",
        ],
        env={**os.environ, "TERM": term, "COLORTERM": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert said.stdout.strip() == str(tuple(found))


def test_no_color_is_about_what_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("NO_COLOR", "1")

    assert depth() == Depth(0)
    assert terminal_depth() == EVERY_COLOUR
