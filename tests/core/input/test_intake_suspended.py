from tests.core.driven_intake import AT
from tests.core.input.test_intake_surroundings import leased_desk

from holdfast.model.moments import Moment


def test_i3_a_lease_runs_out_while_the_machine_is_suspended() -> None:
    here = leased_desk()
    woken = Moment(AT.now, 1005, AT.boot + 5)

    here.do(here.intake.submit(here.made(1), woken))

    assert here.codes() == ["lease-lost"]


def test_i3_a_moment_without_the_clock_of_leases_lets_nobody_speak() -> None:
    here = leased_desk()

    here.do(here.intake.submit(here.made(1), Moment(AT.now, AT.wall)))

    assert here.codes() == ["lease-lost"]
