"""What is judged at once is checked again only if something has changed meanwhile."""

from collections.abc import Callable

import pytest
from tests.core.desk import ANNA, AT, BOT, WRITER, Desk

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.moments import Moment
from holdfast.model.verdicts import Verdict


def judged(desk: Desk, at: Moment) -> None:
    said = gate.Judged(1, Verdict.ALLOW, "rule")
    desk.do(desk.intake.judged(said, at, echo_off=False))


def granted_less(desk: Desk) -> None:
    fewer = Envelope(frozenset({Right.TAKE}))
    desk.do(desk.intake.grant(BOT, fewer, ANNA, AT))


def revoked(desk: Desk) -> None:
    desk.do(desk.intake.revoke(BOT, ANNA, AT))


def disk_refuses(desk: Desk) -> None:
    desk.holds_lines = True
    desk.do(desk.intake.record(EntryKind.ATTACHED, {"actor": ANNA}, AT))
    desk.do(desk.intake.store_failed("no room", AT))


def sync_fails(desk: Desk) -> None:
    desk.do(desk.intake.sync_failed("no disk", AT))


def taken_by_another(desk: Desk) -> None:
    desk.do(desk.intake.request(turn.Took(ANNA), AT))


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (granted_less, "not-allowed"),
        (revoked, "not-allowed"),
        (disk_refuses, "logbook-failed"),
        (sync_fails, "logbook-failed"),
        (taken_by_another, "turn-moved"),
    ],
)
def test_what_changed_in_the_same_moment_counts(
    happens: Callable[[Desk], None], code: str
) -> None:
    desk = Desk()
    desk.send()
    happens(desk)

    judged(desk, AT)

    assert desk.codes()[-1:] == [code]


def expiring(desk: Desk) -> None:
    soon = Envelope(WRITER, expires_wall=AT.wall + 0.001)
    desk.do(desk.intake.grant(BOT, soon, ANNA, AT))


@pytest.mark.parametrize(
    ("later", "codes"),
    [(0.0, []), (0.002, ["not-allowed"]), (60.0, ["not-allowed"])],
)
def test_a_right_that_runs_out_while_somebody_is_asked_counts(
    later: float, codes: list[str]
) -> None:
    desk = Desk()
    desk.do(desk.intake.request(turn.Took(BOT), AT))
    expiring(desk)
    desk.send()

    judged(desk, Moment(AT.now + later, AT.wall + later))

    assert desk.codes() == codes


def test_nobody_comes_by_a_free_turn_with_a_right_that_has_run_out() -> None:
    desk = Desk()
    expiring(desk)
    desk.send()

    judged(desk, Moment(AT.now + 0.002, AT.wall + 0.002))

    assert desk.codes() == ["not-allowed"]
    assert desk.intake.turn.holder is None
