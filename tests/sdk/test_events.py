from holdfast.model.geometry import Size
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, SessionId
from holdfast.model.verdicts import Verdict
from holdfast.sdk.events import (
    MAX_HELD,
    Approved,
    Command,
    CommandEnded,
    CommandStarted,
    Denied,
    Event,
    Exited,
    Gap,
    InOrder,
    Noted,
    Output,
    Resized,
    StateChanged,
    TurnAsked,
    event_from,
)
from holdfast.wire import commands, messages

ANNA = ActorId("a_" + "a" * 32)
BOT = ActorId("a_" + "b" * 32)


def command(*, start: int, end: int | None = None) -> Command:
    return Command(1, "make", start, end, None, 0.0, "/")


def test_what_is_said_on_the_wire_becomes_an_event() -> None:
    told = commands.ShellCommand(
        number=3,
        client=ClientId(""),
        line="make",
        start=5,
        end=9,
        status=2,
        duration_ms=1500,
        cwd="/src",
    )
    passed = messages.TurnPassed(
        former=ANNA,
        holder=BOT,
        epoch=Epoch(4),
        reason="given",
        dropped_inputs=1,
        dropped_bytes=7,
    )
    said: dict[messages.Part, Event] = {
        messages.Output(5, b"x"): Output(5, b"x"),
        messages.Settled(3, Verdict.ALLOW, ANNA): Approved(3, ANNA),
        messages.Settled(3, Verdict.DENY, BOT): Denied(3, BOT),
        messages.TurnAsked(BOT, 2500): TurnAsked(BOT, 2.5),
        messages.Resized(5, messages.Cells(80, 24)): Resized(5, Size(80, 24)),
        messages.State("frozen", Incarnation(1)): StateChanged("frozen"),
        passed: passed,
        **{one: one for one in (Gap(5, 9), Exited(-9))},
        commands.CommandEnded(told): CommandEnded(
            Command(3, "make", 5, 9, 2, 1.5, "/src")
        ),
    }

    for message, event in said.items():
        assert event_from(message) == event  # type: ignore[arg-type]  # one of them


def test_what_has_no_class_of_its_own_keeps_its_name() -> None:
    message = messages.Event("freeze.missed", SessionId("s_" + "a" * 16), {"pid": 7})

    assert event_from(message) == Noted("freeze.missed", {"pid": 7})
    assert event_from(messages.Take()) is None


def test_the_end_of_a_command_comes_after_what_it_printed() -> None:
    order = InOrder()
    ended = CommandEnded(command(start=5, end=9))

    assert order.add(ended, seen=5) == []
    assert order.add(Output(5, b"abc"), seen=8) == [Output(5, b"abc")]
    assert order.add(Output(8, b"d$ "), seen=11) == [Output(8, b"d$ "), ended]


def test_what_is_over_comes_last_with_all_that_waited_before_it() -> None:
    order = InOrder()
    started = CommandStarted(command(start=50))
    order.add(started, seen=5)

    assert order.add(Exited(0), seen=7) == [started, Exited(0)]


def test_no_more_than_so_many_events_wait_for_the_stream() -> None:
    order = InOrder()
    many = [CommandStarted(command(start=100 + at)) for at in range(MAX_HELD + 2)]

    due = [event for one in many for event in order.add(one, seen=0)]

    assert due == many[:2]
