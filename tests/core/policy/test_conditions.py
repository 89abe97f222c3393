import pytest
from tests.core.policy_world import ANN, BOT, SESSION, question

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.conditions import (
    During,
    ForegroundOf,
    Named,
    NamedIs,
    OneOf,
    SignalIs,
    Under,
    is_plain_path,
)
from holdfast.core.policy.meant_folders import MeantFolders
from holdfast.core.shell.globs import Globs
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import ActorId
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, TurnHold

YES, NO, MAYBE = Match.YES, Match.NO, Match.MAYBE
NOBODY = Globs.of([])


def meant(*names: str, ids: tuple[str, ...] = ()) -> Named:
    return Named(Globs.of(names), Globs.of(ids), NOBODY, NOBODY, anybody=False)


def excepted(*names: str, ids: tuple[str, ...] = ()) -> Named:
    return Named(NOBODY, NOBODY, Globs.of(names), Globs.of(ids), anybody=True)


def test_the_kind_counts_and_not_a_name_that_looks_like_one() -> None:
    sly = Actor(BOT.id, ActorKind.AGENT, "human")
    humans = OneOf("kind", frozenset({ActorKind.HUMAN}))

    assert humans.match(question(actor=ANN)) is YES
    assert humans.match(question(actor=sly)) is NO


def test_the_kind_of_input_and_the_turn_count() -> None:
    asked = question(kind=InputKind.KEYS, turn=TurnHold.SEIZED)

    assert OneOf("input", frozenset({InputKind.KEYS})).match(asked) is YES
    assert OneOf("input", frozenset({InputKind.SIGNAL})).match(asked) is NO
    assert OneOf("turn", frozenset({TurnHold.SEIZED})).match(asked) is YES
    assert OneOf("turn", frozenset({TurnHold.NONE})).match(asked) is NO


@pytest.mark.parametrize(
    ("named", "match"),
    [
        (meant("ann"), YES),
        (meant("a*"), YES),
        (meant("bob"), NO),
        (meant(ids=(ANN.id,)), YES),
        (meant(ids=("a_*",)), YES),
        (meant(ids=(BOT.id,)), NO),
        (excepted("ann"), NO),
        (excepted(ids=(ANN.id,)), NO),
        (excepted("bob"), YES),
    ],
)
def test_actors_are_meant_by_name_in_any_case_or_by_id(
    named: Named, match: Match
) -> None:
    assert NamedIs("actor", named).match(question(actor=ANN)) is match


def test_an_empty_name_fits_no_pattern() -> None:
    nameless = question(actor=Actor(BOT.id, ActorKind.AGENT, ""))

    assert NamedIs("actor", meant("*")).match(nameless) is NO
    assert NamedIs("actor", excepted("*")).match(nameless) is YES


def test_sessions_are_meant_by_name_or_by_id() -> None:
    assert NamedIs("session", meant("b*")).match(question()) is YES
    assert NamedIs("session", meant(ids=(SESSION,))).match(question()) is YES
    assert NamedIs("session", meant("x")).match(question()) is NO


@pytest.mark.parametrize(
    ("payload", "match"),
    [
        (b"2", YES),
        (b"15", YES),
        (b"9", NO),
        (b"", MAYBE),
        (b"02", MAYBE),
        (b"x", MAYBE),
    ],
)
def test_signals_are_meant_by_number(payload: bytes, match: Match) -> None:
    signals = SignalIs(frozenset({2, 15}))

    assert signals.match(question(payload, kind=InputKind.SIGNAL)) is match
    assert signals.match(question(payload, kind=InputKind.COMMAND)) is NO


@pytest.mark.parametrize(
    ("span", "minute", "match"),
    [
        ((540, 1020), 539, NO),
        ((540, 1020), 540, YES),
        ((540, 1020), 1019, YES),
        ((540, 1020), 1020, NO),
        ((1320, 360), 1320, YES),
        ((1320, 360), 0, YES),
        ((1320, 360), 359, YES),
        ((1320, 360), 360, NO),
        ((0, 1440), 1439, YES),
        ((1320, 0), 1439, YES),
        ((1320, 0), 0, NO),
    ],
)
def test_a_span_of_hours_ends_before_its_end(
    span: tuple[int, int], minute: int, match: Match
) -> None:
    asked = question(clock=LocalTime(minute, 0))

    assert During((span,)).match(asked) is match
    assert During(((1, 2), span)).match(asked) is match


def test_days_are_those_of_the_moment() -> None:
    assert (
        OneOf("days", frozenset({0, 6})).match(question(clock=LocalTime(0, 6))) is YES
    )
    assert OneOf("days", frozenset({0, 6})).match(question(clock=LocalTime(0, 5))) is NO


@pytest.mark.parametrize(
    ("cwd", "match"),
    [
        ("/src", YES),
        ("/src/a/b", YES),
        ("/srcs", NO),
        ("/", NO),
        ("/src/secret", NO),
        ("/src/secret/x", NO),
        ("/src/secrets", YES),
        (None, MAYBE),
        ("", MAYBE),
        ("src", MAYBE),
        ("/src/../etc", MAYBE),
        ("/src//x", MAYBE),
        ("/src/", MAYBE),
    ],
)
def test_a_folder_means_what_lies_in_it(cwd: str | None, match: Match) -> None:
    assert (
        Under(MeantFolders(("/src",), ("/src/secret",))).match(question(cwd=cwd))
        is match
    )


def test_with_exceptions_only_every_other_folder_is_meant() -> None:
    assert Under(MeantFolders((), ("/etc",))).match(question(cwd="/x")) is YES
    assert Under(MeantFolders((), ("/etc",))).match(question(cwd="/etc")) is NO
    assert Under(MeantFolders(("/",), ())).match(question(cwd="/x")) is YES


@pytest.mark.parametrize("path", ["/", "/a", "/a b/c"])
def test_a_plain_path_says_where_it_leads(path: str) -> None:
    assert is_plain_path(path)


@pytest.mark.parametrize("path", ["", "a", "//", "/a/", "/a//b", "/.", "/a/.."])
def test_another_path_does_not(path: str) -> None:
    assert not is_plain_path(path)


@pytest.mark.parametrize(
    ("word", "people", "match"),
    [
        ("self", (BOT.id,), YES),
        ("self", (BOT.id, ANN.id), NO),
        ("self", (ANN.id,), NO),
        ("self", (), NO),
        ("self", None, MAYBE),
        ("other", (BOT.id,), NO),
        ("other", (ANN.id, BOT.id), YES),
        ("other", (), NO),
        ("other", None, MAYBE),
    ],
)
def test_whose_command_is_in_the_foreground_counts_for_signals(
    word: str, people: tuple[ActorId, ...] | None, match: Match
) -> None:
    mine = ForegroundOf(frozenset({word}))
    signal = question(b"15", kind=InputKind.SIGNAL, started_by=people)
    key = question(b"\x03", kind=InputKind.KEYS, started_by=people, interrupts=True)

    assert mine.match(signal) is match
    assert mine.match(key) is match


def test_what_is_no_signal_is_nobody_s_foreground() -> None:
    key = question(b"x", kind=InputKind.KEYS, started_by=(BOT.id,))

    assert ForegroundOf(frozenset({"self"})).match(key) is NO


def test_the_interrupt_key_counts_as_its_signal() -> None:
    key = question(b"\x03", kind=InputKind.KEYS, interrupts=True)

    assert SignalIs(frozenset({2})).match(key) is YES
    assert SignalIs(frozenset({15})).match(key) is NO
