from holdfast.cli.attach_notice import USUAL, keys_told, notice
from holdfast.model.settings import Settings


def test_the_usual_keys_are_those_of_the_settings() -> None:
    assert keys_told(Settings()) == USUAL


def test_keys_that_were_taken_away_are_not_named() -> None:
    settings = Settings()
    settings.prefix = 1
    del settings.keys["help"]
    assert keys_told(settings) == "Ctrl-a d detaches"

    del settings.keys["detach"]
    assert keys_told(settings) == ""
    said = notice("web", [], "the turn is free", "", observes=False)
    assert said.endswith("the turn is free")
