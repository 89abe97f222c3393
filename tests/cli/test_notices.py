import pytest
from tests.cli.support.operating import OTHER, US, robo, waiting

from holdfast.cli import notices
from holdfast.cli.operator_names import Names
from holdfast.core.input.turn import PassReason
from holdfast.model.errors import Busy, NotYourTurn, StaleEpoch
from holdfast.model.ids import ActorId, Epoch, actor_id, session_id
from holdfast.model.settings import Settings
from holdfast.model.verdicts import Verdict
from holdfast.wire.messages import Event, Settled, TurnAsked, TurnPassed
from holdfast.wire.presence import Inherited, Presence

NOBODY = ActorId("")
KEYS = Settings()
THIRD = actor_id(b"third")
SESSION = session_id(b"0123456789")
THROWN_AWAY = "; 1 queued input discarded (40 bytes)"
ROBO = f"robo (agent, {OTHER[2:10]})"


@pytest.fixture
def names() -> Names:
    known = Names(US)
    known.meet([robo(), robo("zoe", THIRD)])
    return known


def passed(
    former: ActorId, holder: ActorId, reason: str = "taken", dropped: int = 0
) -> TurnPassed:
    return TurnPassed(
        former=former,
        holder=holder,
        epoch=Epoch(3),
        reason=reason,
        dropped_inputs=dropped,
        dropped_bytes=40 * dropped,
    )


def test_typing_into_a_free_session_is_no_news(names: Names) -> None:
    assert notices.passed_told(passed(NOBODY, US), names) is None


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (passed(NOBODY, OTHER), f"{ROBO} took the turn"),
        (passed(US, OTHER, "seized"), f"{ROBO} seized the turn from you"),
        (
            passed(OTHER, US, "seized", 2),
            f"you seized the turn from {ROBO}; 2 queued inputs discarded (80 bytes)",
        ),
        (passed(OTHER, US, "given"), f"{ROBO} gave you the turn"),
        (passed(US, OTHER, "answered"), f"you gave {ROBO} the turn"),
        (
            passed(US, OTHER, "defaulted"),
            f"you did not answer; {ROBO} has the turn",
        ),
        (passed(OTHER, NOBODY, "dropped"), f"{ROBO} released the turn; it is free"),
        (passed(OTHER, US, "abandoned"), f"{ROBO} left; it is yours"),
        (
            passed(OTHER, NOBODY, "revoked", 1),
            f"{ROBO} had its rights revoked; it is free" + THROWN_AWAY,
        ),
        (
            passed(OTHER, NOBODY, "of-a-later-version"),
            f"{ROBO} lost the turn; it is free",
        ),
    ],
)
def test_a_turn_that_moves_is_told_with_from_whom_and_why(
    message: TurnPassed, told: str, names: Names
) -> None:
    assert notices.passed_told(message, names) == told


@pytest.mark.parametrize("reason", PassReason)
def test_every_reason_has_its_own_words(reason: PassReason, names: Names) -> None:
    others = [
        notices.passed_told(passed(OTHER, THIRD, other.value), names)
        for other in PassReason
        if other not in (reason, PassReason.GIVEN, PassReason.ANSWERED)
    ]

    told = notices.passed_told(passed(OTHER, THIRD, reason.value), names)
    assert told is not None
    assert "lost the turn" not in told
    assert told not in others


def test_whoever_is_asked_learns_by_whom_how_long_and_what_to_press(
    names: Names,
) -> None:
    told = notices.asked_told(TurnAsked(OTHER, 28_900), names, KEYS)

    assert told == (
        f"{ROBO} asks for the turn (for 28 s); Ctrl-] g gives it, Ctrl-] N refuses"
    )


def test_what_waits_is_shown_without_effect(names: Names) -> None:
    told = notices.waits_told(waiting(b"rm \x1b[2J"), names, KEYS)

    assert told.startswith(f'{ROBO} wants to send "rm \\x1b[2J" (rule remove-trees)')
    assert told.isprintable()
    assert "waits for approval" in notices.waits_told(waiting(actor=US), names, KEYS)


@pytest.mark.parametrize(
    ("settled", "told"),
    [
        (Settled(3, Verdict.ALLOW, OTHER), f"{ROBO} approved the request"),
        (Settled(3, Verdict.DENY, US), "you denied the request"),
        (
            Settled(3, Verdict.DENY, NOBODY),
            "the request was denied: its time or turn ran out",
        ),
    ],
)
def test_what_became_of_it_is_told(settled: Settled, told: str, names: Names) -> None:
    assert notices.settled_told(settled, names) == told


def test_what_is_taken_over_is_told(names: Names) -> None:
    told = notices.takes_over_told(Inherited(Epoch(3), b"rm", (OTHER,), (), ()), names)

    assert told == f'with the turn comes: "rm" typed by {ROBO}'


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [
        ("policy.kept", {"text": "left as\x1b it was"}, "left as\\x1b it was"),
        ("freeze.missed", {"pid": 7, "why": "no"}, "process 7 is still running: no"),
        ("thaw.missed", {"pid": 7, "why": "no"}, "process 7 is still stopped: no"),
        (
            "listener.gone",
            {"address": "::1", "port": 80, "command": "web\x1b"},
            "web\\x1b no longer listens on ::1:80",
        ),
        (
            "limit.met",
            {"limit": "memory", "most": 1 << 30, "program": "hog\x1b", "pid": 7},
            "hog\\x1b (7) was killed: the session may have 1G of memory",
        ),
        (
            "limit.met",
            {"limit": "memory", "most": "x", "program": "", "pid": 0},
            "a program was killed: the session may have 0 of memory",
        ),
        (
            "limit.met",
            {"limit": "pids", "most": 40, "count": 3},
            "nothing more can be started: the session may have 40 processes",
        ),
        (
            "process.replaced",
            {"what": "judge\x1b", "pid": 7, "why": "it was stopped"},
            "the judge\\x1b hung and was replaced: it was stopped",
        ),
        (
            "attention.called",
            {"what": "needs-input", "text": "may I\x1b?", "source": "a_x"},
            "input is needed, says an operator: “may I\\x1b?”",
        ),
        ("attention.called", {"what": "bell", "text": "", "source": "program"}, None),
        (
            "session.checkpointed",
            {"image": "s_x.1\x1b", "still_ms": 80},
            "saved to disk as s_x.1\\x1b, and continues",
        ),
        ("session.forked", {}, "a branch of it was made; it continues"),
        (
            "session.restored",
            {"incarnation": 2},
            "restored from an image (incarnation 2)",
        ),
        (
            "session.recovered",
            {"incarnation": 3},
            "recovered: its command was started again (incarnation 3)",
        ),
        ("lease.granted", {}, None),
    ],
)
def test_events_that_concern_a_watcher_are_told(
    name: str, fields: dict[str, str | int], told: str | None
) -> None:
    assert notices.event_told(Event(name, SESSION, fields)) == told


def test_the_company_fits_one_line(names: Names) -> None:
    presence = Presence(
        present=(),
        holder=OTHER,
        epoch=Epoch(3),
        waiting=(US,),
        frozen=True,
        pending=(),
        rights=(),
    )

    assert notices.presence_told(presence, names) == (
        f"{ROBO} has the turn (epoch 3); waiting: you; frozen"
    )


def test_a_refusal_names_the_turns_holder_and_the_keys(names: Names) -> None:
    for error in (NotYourTurn(OTHER, 3), StaleEpoch(2, OTHER, 3)):
        assert notices.refused_told(error, names, KEYS) == (
            f"{ROBO} has the turn; Ctrl-] t asks for it, Ctrl-] S seizes it"
        )
    assert "bytes already wait" in notices.refused_told(Busy(9, 9), names, KEYS)
    assert "over; you has" not in notices.refused_told(
        StaleEpoch(2, US, 3), names, KEYS
    )


def test_a_key_that_was_taken_away_is_not_named(names: Names) -> None:
    bare = Settings()
    bare.keys = {"take": ord("T")}
    bare.prefix = 1

    told = notices.asked_told(TurnAsked(OTHER, 28_900), names, bare)
    assert told == f"{ROBO} asks for the turn (for 28 s)"
    told = notices.refused_told(NotYourTurn(OTHER, Epoch(3)), names, bare)
    assert told == f"{ROBO} has the turn; Ctrl-a T asks for it"
