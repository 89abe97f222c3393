from tests.core.desk import ANNA, AT, Desk

from holdfast.model.outcomes import Applied
from holdfast.model.verdicts import Verdict


def test_after_a_thaw_an_input_is_acknowledged_and_the_book_goes_on() -> None:
    desk = Desk()
    desk.do(desk.intake.freeze(ANNA, AT))
    desk.do(desk.intake.thaw(ANNA, AT))
    given = desk.send(1)
    desk.judge(Verdict.ALLOW)
    desk.write()
    desk.do(desk.intake.synced(desk.entries[-1].index, AT))

    assert desk.kinds() == ["frozen", "thawed", "turn", "input", "settled"]
    assert desk.answers() == [(given.id.sequence, Applied(desk.entries[-2].index))]


def test_before_anything_happens_nothing_was_dropped() -> None:
    assert Desk().intake.dropped == (0, 0)
