import pytest
from tests.verify.samples import BROKEN, HOLDS, MISSING, finding, report

from holdfast.verify.finding import Check, Verdict


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([HOLDS, HOLDS], Verdict.PASSED),
        ([HOLDS, MISSING], Verdict.PARTLY),
        ([MISSING], Verdict.UNAVAILABLE),
        ([HOLDS, BROKEN], Verdict.FAILED),
        ([MISSING, BROKEN], Verdict.FAILED),
        ([], Verdict.FAILED),
    ],
)
def test_a_mode_passes_only_if_everything_was_checked_and_holds(
    checks: list[Check], verdict: Verdict
) -> None:
    assert finding(1, *checks).verdict is verdict


def test_a_report_fails_with_any_of_its_modes() -> None:
    good = report(finding(1, HOLDS), finding(2, MISSING))

    assert not good.failed
    assert good.count(Verdict.PASSED) == good.count(Verdict.UNAVAILABLE) == 1
    assert report(finding(1, HOLDS), finding(2, BROKEN)).failed
