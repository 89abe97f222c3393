import pytest

from holdfast.cli.event_text import happening_from, with_own
from holdfast.model.ids import ActorId, Epoch
from holdfast.sdk import events

ANNA, BERT = ActorId("a_" + "a" * 32), ActorId("a_" + "b" * 32)
HOSTILE = "echo \x1b[2J; rm -rf $HOME `id`"

PASSED = events.TurnPassed(
    former=ANNA,
    holder=BERT,
    epoch=Epoch(2),
    reason="given",
    dropped_inputs=0,
    dropped_bytes=0,
)


def command(*, is_over: bool) -> events.Command:
    end, status = (9, 3) if is_over else (None, None)
    return events.Command(1, HOSTILE, 0, end, status, 1.5, "/")


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (PASSED, "turn.passed"),
        (events.TurnAsked(ANNA, 3.0), "turn.asked"),
        (events.Approved(1, ANNA), "gate.answered"),
        (events.Denied(1, ANNA), "gate.answered"),
        (events.CommandStarted(command(is_over=False)), "command.started"),
        (events.CommandEnded(command(is_over=True)), "command.ended"),
        (events.StateChanged("frozen"), "session.frozen"),
        (events.StateChanged("running"), "session.thawed"),
        (events.Exited(0), "session.exited"),
        (events.Noted("viewer.cut", {"pending": 7}), "viewer.cut"),
    ],
)
def test_every_event_has_its_name(event: events.Event, name: str) -> None:
    told = happening_from(event)

    assert told is not None
    assert told.name == name


def test_what_programs_print_is_not_told() -> None:
    assert happening_from(events.Output(0, b"x")) is None
    assert happening_from(events.Gap(0, 7)) is None


def test_a_command_s_line_is_told_so_that_no_terminal_obeys_it() -> None:
    told = happening_from(events.CommandEnded(command(is_over=True)))

    assert told is not None
    assert "\x1b" not in str(told.fields["line"])
    assert (told.fields["status"], told.fields["duration_ms"]) == (3, 1500)


def test_a_host_elsewhere_cannot_speak_for_another_session_or_event() -> None:
    told = with_own(
        {"event": "x.y", "session": "s_1", "host": "box"},
        {"session": "s_2", "event": "session.exited", "host": "", "pid": 7},
    )

    assert told == {"event": "x.y", "session": "s_1", "host": "box", "pid": 7}
