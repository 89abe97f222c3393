import pytest

from holdfast.cli.attach_notice import USUAL, keys_told, notice
from holdfast.model.settings import Settings


def test_the_usual_keys_are_those_of_the_settings() -> None:
    assert keys_told(Settings()) == USUAL


def test_keys_that_were_taken_away_are_not_named() -> None:
    settings = Settings()
    settings.prefix = 1
    del settings.keys["help"]
    assert keys_told(settings) == ("Ctrl-a d detaches",)

    del settings.keys["detach"]
    assert keys_told(settings) == ()
    said = notice("web", [], "the turn is free", (), observes=False)
    assert said.endswith("the turn is free")


@pytest.mark.parametrize(
    ("columns", "rest"),
    [
        (80, "; Ctrl-] d detaches, Ctrl-] ? help"),
        (77, "; Ctrl-] d detaches, Ctrl-] ? help"),
        (76, "; Ctrl-] ? help"),
        (58, "; Ctrl-] ? help"),
        (57, ""),
        (20, ""),
    ],
)
def test_the_line_has_the_keys_that_fit(columns: int, rest: str) -> None:
    said = notice("shop", [], "the turn is free", observes=False, columns=columns)

    assert said == f"[holdfast] shop: only you, the turn is free{rest}"


def test_the_line_says_who_is_there_and_who_only_watches() -> None:
    turn = "robo has the turn"

    together = notice("web", ["robo"], turn, (), observes=True, size="130x40")
    alone = notice("web", [], "the turn is free", (), observes=True)

    assert together == (
        "[holdfast] web: with robo, only watching, robo has the turn,"
        " the session is 130x40"
    )
    assert alone == "[holdfast] web: only you, watching, the turn is free"
