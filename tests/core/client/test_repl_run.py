"""A line in an interpreter: typed at its prompt, and over at the next one."""

import math
from typing import Any

import pytest
from tests.core.client.repl_world import (
    GONE,
    PROMPT,
    REFUSED,
    US,
    begun,
    over,
    seen,
    typed,
)
from tests.core.client.run_world import (
    CLIENT,
    SESSION,
    attached,
    command,
)

from holdfast.core.client.attachment import Attachment
from holdfast.core.client.command_output import Ran, Stop
from holdfast.core.client.command_run import Wish
from holdfast.core.client.repl_run import KNOWN, PATIENT, QUIET, ReplRun
from holdfast.model.errors import (
    CommandGoesOn,
    LineUnfinished,
    NoMarks,
    NotYourTurn,
    OutcomeUnknown,
    SessionOver,
    SessionUnreachable,
)
from holdfast.model.ids import Epoch
from holdfast.model.inputs import InputId
from holdfast.wire.codec import refusal
from holdfast.wire.commands import CommandReport
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Attach,
    Drop,
    Exited,
    Output,
)
from holdfast.wire.presence import Who


def test_what_stands_between_two_prompts_is_the_output() -> None:
    run = typed()
    lines: list[bytes] = []
    run.printed = lines.append

    run.hear(Output(len(PROMPT), b"1+1\r"), 0.5)
    run.hear(Output(len(PROMPT) + 4, b"\nfirst\r\nsec"), 0.6)
    assert lines == [b"first\r\n"]
    run.hear(Output(len(PROMPT) + 15, b"ond\r\n>>> "), 0.7)
    assert run.tick(0.7) == []
    assert run.tick(0.9) == [StateRequest()]
    assert run.tick(1.1) == []  # One question at a time.
    run.hear(seen(), 1.1)

    assert run.result is not None
    ran = run.result
    assert (ran.output, ran.left_out) == (b"first\r\nsecond\r\n", 0)
    assert (ran.stop, ran.command.status) == (Stop.PROMPTED, None)
    assert (ran.command.start, ran.command.end) == (len(PROMPT) + 5, len(PROMPT) + 20)
    assert lines == [b"first\r\n", b"second\r\n"]
    ran.demand_settled(0)


def test_a_line_that_prints_nothing_has_no_output() -> None:
    run = typed()
    over(run, b"1+1\r\n>>> ")

    assert run.result is not None
    assert run.result.output == b""


def test_only_the_last_bytes_are_kept() -> None:
    run = typed(wish=Wish(4))
    over(run, b"1+1\r\n123456\r\n>>> ")

    assert run.result is not None
    assert (run.result.output, run.result.left_out) == (b"56\r\n", 4)


@pytest.mark.parametrize("kind", ["before", "amid"])
def test_what_was_gone_before_it_was_read_is_left_out(kind: str) -> None:
    run = typed()
    if kind == "amid":
        run.hear(Output(len(PROMPT), b"1+1\r\nfirst\r\n"), 1)
    run.hear(Output(100, b"rest of one\r\nlast\r\n>>> "), 1)
    run.tick(1 + QUIET)
    run.hear(seen(), 1 + QUIET)

    assert run.result is not None
    assert run.result.output == b"last\r\n"
    assert run.result.left_out > 0


@pytest.mark.parametrize(
    ("name", "before", "prompt"),
    [
        ("python3.12", b">>> ", b">>> "),
        ("node", b"\x1b[1G\x1b[0J> \x1b[3G", b"\x1b[1G\x1b[0J> \x1b[3G"),
        ("psql", b"shop=# ", b"shop=*# "),
        ("psql", b"shop=> ", b"shop=> "),
        ("sqlite3", b"\x1b[?2004hsqlite> ", b"\x1b[?2004l\rsqlite> "),
    ],
)
def test_each_interpreter_is_known_by_its_name_and_prompt(
    name: str, before: bytes, prompt: bytes
) -> None:
    run = typed(before, name=name)
    run.hear(Output(len(before), b"1+1\r\n2\r\n" + prompt), 1)
    run.tick(1 + QUIET)
    run.hear(seen(name=name), 1 + QUIET)

    assert run.result is not None
    assert run.result.output == b"2\r\n"
    assert run.interpreter in KNOWN


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        (PROMPT, seen(name="vim")),
        (PROMPT, seen(unread=1)),
        (b"Python\r\n", seen()),
        (b">>> half a line", seen()),
        (b"... ", seen()),
        (b"", seen()),
    ],
)
def test_i1_nothing_is_typed_anywhere_else(before: bytes, shown: Evidence) -> None:
    run = begun(before)
    assert run.tick(0) == [StateRequest()]

    with pytest.raises(NoMarks):
        run.hear(shown, 0)


def test_what_was_printed_before_is_read_first() -> None:
    view = Attachment(SESSION, CLIENT, bytes(32))
    run = ReplRun(view, b"1+1", Wish(9), REFUSED, now=0, deadline=math.inf)
    run.linked(0)
    (attach,) = run.hear(CommandReport("running", command()), 0)
    assert isinstance(attach, Attach)
    assert attach.after == 20

    run.hear(attached(end=30), 0)
    run.hear(Output(20, b"first"), 0)
    assert run.tick(0) == []
    run.hear(Output(25, b"\n>>> "), 0)
    assert run.tick(0) == [StateRequest()]


def test_a_shell_that_has_run_nothing_tells_nothing() -> None:
    view = Attachment(SESSION, CLIENT, bytes(32))
    run = ReplRun(view, b"1+1", Wish(9), REFUSED, now=0, deadline=math.inf)
    run.linked(0)
    (attach,) = run.hear(CommandReport("prompt", None), 0)

    assert isinstance(attach, Attach)
    assert attach.after is None


@pytest.mark.parametrize("shown", [seen("running"), seen(unread=3)])
def test_what_is_at_work_is_waited_for_unless_its_prompt_stands(
    shown: Evidence,
) -> None:
    run = typed()
    run.hear(Output(len(PROMPT), b"1+1\r\n2\r\n>>> "), 1)
    run.tick(1 + QUIET)
    run.hear(shown, 1 + QUIET)
    assert run.result is None

    run.tick(1 + PATIENT)
    run.hear(shown, 1 + PATIENT)
    assert run.result is not None


def test_a_line_that_wants_more_is_not_finished() -> None:
    run = typed()

    with pytest.raises(LineUnfinished):
        over(run, b"1+1\r\n... ")


def test_while_no_prompt_stands_it_is_looked_at_now_and_then() -> None:
    run = typed()
    run.hear(Output(len(PROMPT), b"1+1"), 1)
    assert run.tick(2) == []  # The echo of our own line.
    run = typed()
    run.hear(Output(len(PROMPT), b"1+1\r\nname? "), 1)
    assert run.tick(5) == [StateRequest()]
    assert run.hear(seen(), 5) == []
    assert run.tick(5 + PATIENT - 0.1) == []
    assert run.tick(5 + PATIENT) == [StateRequest()]
    assert run.hear(seen(), 5 + PATIENT) == []
    assert run.result is None


def shown(state: str, *, until_input: bool, unread: int = 0) -> Ran | None:
    """Return what comes of a line after which a pager or a question is shown."""
    run = typed(wish=Wish(100, until_input=until_input))
    run.hear(Output(len(PROMPT), b"1+1\r\none\r\n--More--"), 1)
    assert run.tick(1 + QUIET) == [StateRequest()]
    run.hear(seen(state, unread=unread), 2)
    return run.result


@pytest.mark.parametrize("state", ["waiting-for-input", "waiting-for-secret", "idle"])
def test_who_wants_to_be_asked_is_told_of_a_question(state: str) -> None:
    ran = shown(state, until_input=True)

    assert ran is not None
    assert (ran.stop, ran.state, ran.command.end) == (Stop.ASKED, state, None)
    assert ran.output == b"one\r\n--More--"


def test_nobody_else_is_and_none_while_it_goes_on() -> None:
    assert shown("idle", until_input=False) is None
    assert shown("running", until_input=True) is None
    assert shown("idle", until_input=True, unread=1) is None


@pytest.mark.parametrize("state", ["at-prompt", "waiting-for-input", "idle"])
def test_it_is_over_when_another_program_waits_at_the_terminal(state: str) -> None:
    run = typed()
    run.hear(Output(len(PROMPT), b"1+1\r\nbye\r\n$ "), 1)
    assert run.tick(1 + QUIET) == [StateRequest()]

    run.hear(seen(state, "bash", group=7), 2)

    assert run.result is not None
    ran = run.result
    assert (ran.output, ran.stop, ran.state) == (b"bye\r\n", Stop.LEFT, state)
    assert ran.command.status is None
    ran.demand_settled(0)


@pytest.mark.parametrize(
    "other",
    [
        {"state": "running", "group": 7},
        {"state": "at-prompt", "group": 0},
        {"state": "at-prompt", "group": 1},
        {"state": "at-prompt", "group": 7, "unread": 1},
    ],
    ids=["busy", "nobody", "the interpreter itself", "about to read"],
)
def test_it_is_not_over_while_nobody_else_waits_there(other: dict[str, Any]) -> None:
    run = typed()
    run.hear(Output(len(PROMPT), b"1+1\r\n$ "), 1)
    assert run.tick(1 + QUIET) == [StateRequest()]

    assert run.hear(seen(**other), 2) == []

    assert run.result is None


def test_a_prompt_that_goes_while_it_is_looked_at_was_none() -> None:
    run = typed()
    run.hear(Output(len(PROMPT), b"1+1\r\n>>> "), 1)
    run.tick(2)
    run.hear(Output(len(PROMPT) + 9, b"more"), 2)
    run.hear(seen(), 2)

    assert run.result is None


def test_an_answer_that_comes_before_the_line_is_taken_decides_nothing() -> None:
    run = begun()
    run.tick(0)
    run.hear(seen(), 0)
    assert run.tick(1) == [StateRequest()]
    run.hear(seen(), 1)

    assert run.result is None


def test_when_the_time_is_up_it_is_said_how_far_it_came() -> None:
    with pytest.raises(NoMarks):
        begun(deadline=5).tick(5)
    half = begun(deadline=5)
    half.tick(0)
    half.hear(seen(), 0)
    with pytest.raises(OutcomeUnknown):
        half.tick(5)
    with pytest.raises(CommandGoesOn):
        typed(deadline=5).tick(5)


def test_a_line_that_is_refused_says_why() -> None:
    run = begun()
    run.tick(0)
    run.hear(seen(), 0)
    refused = NotYourTurn(US, Epoch(2))

    with pytest.raises(NotYourTurn):
        run.hear(refusal(refused, FrameKind.SUBMIT, InputId(CLIENT, 1)), 0)


@pytest.mark.parametrize("status", [0, -9])
def test_the_end_of_the_session_is_the_end(status: int) -> None:
    with pytest.raises(SessionOver):
        typed().hear(Exited(status), 1)


def test_after_a_cut_it_goes_on_and_is_not_typed_again() -> None:
    run = typed()
    run.cut(GONE, 1)
    (attach,) = run.linked(1)
    assert isinstance(attach, Attach)
    assert run.hear(attached(end=len(PROMPT)), 1) == []
    over(run, b"1+1\r\n2\r\n>>> ", 2)

    assert run.result is not None
    late = typed(deadline=5)
    with pytest.raises(SessionUnreachable):
        late.cut(GONE, 6)


def test_the_turn_that_typing_took_is_given_back() -> None:
    run = typed()
    assert run.last_acts() == []
    run.attachment.us = US
    run.attachment.holder = US

    assert run.last_acts() == [Drop(), Who()]
