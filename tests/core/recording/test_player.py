from holdfast.core.recording.cast_reader import Recorded
from holdfast.core.recording.player import Player

EVENTS = [
    Recorded(1.0, "o", "a"),
    Recorded(0.0, "o", "b"),
    Recorded(10.0, "m", "make"),
    Recorded(1.0, "o", "c"),
    Recorded(1.0, "x", "0"),
]


def player(speed: float = 1.0, idle_limit: float = 1e9) -> Player:
    return Player(iter(EVENTS), 100.0, speed=speed, idle_limit=idle_limit)


def test_each_event_is_shown_once_and_at_its_time() -> None:
    play = player()
    assert play.next_deadline() == 101.0
    assert play.tick(100.9) == ""
    assert play.tick(101.0) == "ab"
    assert play.next_deadline() == 111.0
    assert play.tick(112.0) == "c"
    assert not play.is_over
    assert play.tick(113.0) == ""
    assert play.is_over
    assert play.next_deadline() is None
    assert play.tick(999.0) == ""


def test_speed_and_limit_shorten_the_waits() -> None:
    play = player(speed=2.0, idle_limit=4.0)

    assert play.next_deadline() == 100.5
    play.tick(100.5)
    assert play.next_deadline() == 102.5


def test_what_was_left_of_a_wait_is_waited_after_a_pause() -> None:
    play = player()
    play.toggle_pause(100.25)
    assert play.is_paused
    assert play.next_deadline() is None
    assert play.tick(500.0) == ""
    play.toggle_pause(500.0)

    assert play.next_deadline() == 500.75


def test_a_step_shows_the_next_piece_and_stays_paused() -> None:
    play = player()
    play.toggle_pause(100.0)

    assert play.step(200.0) == "a"
    assert play.is_paused
    assert play.step(200.0) == "b"
    play.toggle_pause(201.0)
    assert play.next_deadline() == 211.0


def test_a_jump_shows_everything_up_to_the_next_marker() -> None:
    play = player()

    assert play.jump(100.0) == "ab"
    assert play.next_deadline() == 101.0
    assert play.jump(100.0) == "c"
    assert play.is_over
    assert play.jump(100.0) == ""
    assert play.step(100.0) == ""
