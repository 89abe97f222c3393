from tests.core.driven_intake import ANNA, AT, DrivenIntake

from holdfast.model.outcomes import Applied
from holdfast.model.verdicts import Verdict


def test_after_a_thaw_an_input_is_acknowledged_and_the_book_goes_on() -> None:
    here = DrivenIntake()
    here.do(here.intake.freeze(ANNA, AT))
    here.do(here.intake.thaw(ANNA, AT))
    given = here.send(1)
    here.judge(Verdict.ALLOW)
    here.write()
    here.do(here.intake.synced(here.entries[-1].index, AT))

    assert here.kinds() == ["frozen", "thawed", "turn", "input", "settled"]
    assert here.answers() == [(given.id.sequence, Applied(here.entries[-2].index))]


def test_before_anything_happens_nothing_was_dropped() -> None:
    assert DrivenIntake().intake.dropped == (0, 0)
