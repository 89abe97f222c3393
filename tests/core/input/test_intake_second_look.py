"""What is judged at once is checked again only if something has changed meanwhile."""

from collections.abc import Callable

import pytest
from tests.core.driven_intake import ANNA, AT, BOT, WRITER, DrivenIntake

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.moments import Moment
from holdfast.model.verdicts import Verdict


def judged(here: DrivenIntake, at: Moment) -> None:
    said = gate.Judged(1, Verdict.ALLOW, "rule")
    here.do(here.intake.judged(said, at, echo_off=False))


def granted_less(here: DrivenIntake) -> None:
    fewer = Envelope(frozenset({Right.TAKE}))
    here.do(here.intake.grant(BOT, fewer, ANNA, AT))


def revoked(here: DrivenIntake) -> None:
    here.do(here.intake.revoke(BOT, ANNA, AT))


def disk_refuses(here: DrivenIntake) -> None:
    here.holds_lines = True
    here.do(here.intake.record(EntryKind.ATTACHED, {"actor": ANNA}, AT))
    here.do(here.intake.store_failed("no room", AT))


def sync_fails(here: DrivenIntake) -> None:
    here.do(here.intake.sync_failed("no disk", AT))


def taken_by_another(here: DrivenIntake) -> None:
    here.do(here.intake.request(turn.Took(ANNA), AT))


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
    happens: Callable[[DrivenIntake], None], code: str
) -> None:
    here = DrivenIntake()
    here.send()
    happens(here)

    judged(here, AT)

    assert here.codes()[-1:] == [code]


def expiring(here: DrivenIntake) -> None:
    soon = Envelope(WRITER, expires_wall=AT.wall + 0.001)
    here.do(here.intake.grant(BOT, soon, ANNA, AT))


@pytest.mark.parametrize(
    ("later", "codes"),
    [(0.0, []), (0.002, ["not-allowed"]), (60.0, ["not-allowed"])],
)
def test_a_right_that_runs_out_while_somebody_is_asked_counts(
    later: float, codes: list[str]
) -> None:
    here = DrivenIntake()
    here.do(here.intake.request(turn.Took(BOT), AT))
    expiring(here)
    here.send()

    judged(here, Moment(AT.now + later, AT.wall + later))

    assert here.codes() == codes


def test_nobody_comes_by_a_free_turn_with_a_right_that_has_run_out() -> None:
    here = DrivenIntake()
    expiring(here)
    here.send()

    judged(here, Moment(AT.now + 0.002, AT.wall + 0.002))

    assert here.codes() == ["not-allowed"]
    assert here.intake.turn.holder is None
