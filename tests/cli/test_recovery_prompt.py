import pytest
from tests.cli.support.past import (
    Reviver,
    at_terminal,
    begin,
    note,
    put_to_disk,
)

from holdfast.cli.recovery_prompt import come_back
from holdfast.linux.stored import places
from holdfast.model.errors import NotATerminal, NotRecoverable, SessionNotFound
from holdfast.model.ids import SessionId

Capture = pytest.CaptureFixture[str]


def stop() -> SessionId:
    """Have a session put to disk, so that it is in its image alone."""
    one = begin()
    image = put_to_disk(one)
    note(one, "stopped", seconds=-60, image=image.number)
    return one


def test_a_lost_session_is_started_again_if_somebody_says_yes(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()
    note(one, "detached", seconds=-60)

    with at_terminal(b"y\n"):
        found = come_back("old")

    assert found is not None
    assert (found.id, found.incarnation) == (one, 2)
    [asked] = reviver.wanted("recover")
    assert (asked["recovers"], asked.get("image", 0)) == (one, 0)
    assert capsys.readouterr().out == (
        "old was lost 0 s ago. Start it again? y/N: "
        "old was started again (incarnation 2).\n"
    )


@pytest.mark.parametrize("answer", [b"\n", b"n\n", b"i\n"])
def test_it_stays_lost_if_nobody_says_yes(reviver: Reviver, answer: bytes) -> None:
    begin()

    with at_terminal(answer):
        assert come_back("old") is None

    assert reviver.wanted("recover") == []


def test_a_script_is_asked_nothing_and_starts_nothing(
    reviver: Reviver, capsys: Capture
) -> None:
    begin()

    assert come_back("old") is None

    assert reviver.wanted("recover") == []
    assert capsys.readouterr().out == ""


def test_the_settings_can_say_that_what_was_lost_is_started_again(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()
    (places.config_dir() / "config.toml").write_text("[recover]\nautomatic = true\n")

    with at_terminal():
        found = come_back("old")

    assert found is not None
    assert found.id == one
    assert len(reviver.wanted("recover")) == 1
    assert "?" not in capsys.readouterr().out


def test_nothing_is_started_for_which_there_is_no_terminal(reviver: Reviver) -> None:
    begin()
    (places.config_dir() / "config.toml").write_text("[recover]\nautomatic = true\n")

    with pytest.raises(NotATerminal):
        come_back("old")

    assert reviver.wanted("recover") == []


def test_what_was_put_to_disk_comes_back_from_its_image(
    reviver: Reviver, capsys: Capture
) -> None:
    one = stop()

    with at_terminal(b"yes\n"):
        found = come_back("old")

    assert found is not None
    assert found.id == one
    [asked] = reviver.wanted("recover")
    assert (asked["recovers"], asked["image"]) == (one, 1)
    said = capsys.readouterr().out
    assert said.startswith("old was saved to disk 0 s ago. Restore it? y/N: ")
    assert said.endswith(f"old was restored from {one}.1 (incarnation 2).\n")


def test_what_was_put_to_disk_stays_there_otherwise(reviver: Reviver) -> None:
    stop()
    (places.config_dir() / "config.toml").write_text("[recover]\nautomatic = true\n")

    with at_terminal(b"\n"):
        assert come_back("old") is None

    assert reviver.wanted("recover") == []


@pytest.mark.parametrize(("answer", "image"), [(b"i\n", 2), (b"S\n", 0)])
def test_one_that_was_lost_after_an_image_can_come_back_either_way(
    reviver: Reviver, capsys: Capture, answer: bytes, image: int
) -> None:
    one = begin()
    put_to_disk(one)
    put_to_disk(one)
    note(one, "detached", seconds=-130)

    with at_terminal(answer):
        found = come_back(one)

    assert found is not None
    [asked] = reviver.wanted("recover")
    assert asked.get("image", 0) == image
    assert "its newest image was made 2 min before that" in capsys.readouterr().out


@pytest.mark.parametrize("answer", [b"\n", b"y\n"])
def test_and_of_two_ways_one_has_to_be_named(reviver: Reviver, answer: bytes) -> None:
    one = begin()
    put_to_disk(one)

    with at_terminal(answer):
        assert come_back("old") is None

    assert reviver.wanted("recover") == []


def test_a_restore_that_needs_an_approval_is_waited_for(
    reviver: Reviver, capsys: Capture
) -> None:
    stop()
    reviver.begins = False

    with at_terminal(b"y\n"):
        found = come_back("old")

    assert found is not None
    said = capsys.readouterr()
    assert said.err == "holdfast: waiting for approval of sh\n"
    assert "old was restored from" in said.out


def test_what_was_never_lost_does_not_come_back(reviver: Reviver) -> None:
    (web,) = reviver.has("web")

    with pytest.raises(NotRecoverable, match="running"):
        come_back("web")
    web.exits(0)
    with pytest.raises(NotRecoverable, match="it has ended"):
        come_back("web")
    with pytest.raises(SessionNotFound):
        come_back("nobody")
