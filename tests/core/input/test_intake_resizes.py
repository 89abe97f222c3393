from tests.core.driven_intake import ANNA, AT, EVE, DrivenIntake

from holdfast.core.input import turn
from holdfast.core.input.serializer import Apply
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import Epoch, Index
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict


def test_a_resize_is_made_under_a_free_turn_and_leaves_it_free() -> None:
    here = DrivenIntake()
    given = here.send(actor=ANNA, kind=InputKind.RESIZE, payload=b"80x24")
    here.judge(Verdict.ALLOW)

    assert here.last() == Apply(Index(3), given)
    assert here.intake.turn.holder is None
    assert here.kinds() == ["input"]


def test_a_resize_that_waits_for_approval_takes_no_turn() -> None:
    here = DrivenIntake()
    here.send(actor=ANNA, kind=InputKind.RESIZE, payload=b"80x24")
    here.judge(Verdict.ASK)

    assert here.intake.turn.holder is None
    assert not any(isinstance(one, turn.PassTurn) for one in here.told)


def test_a_resize_under_another_s_turn_or_an_old_one_is_refused() -> None:
    here = DrivenIntake()
    rights = Envelope(frozenset({Right.RESIZE}))
    here.do(here.intake.grant(EVE, rights, ANNA, AT))
    here.do(here.intake.request(turn.Took(ANNA), AT))
    here.send(actor=EVE, kind=InputKind.RESIZE, payload=b"80x24")
    here.do(here.intake.request(turn.Dropped(ANNA), AT))
    old = {"kind": InputKind.RESIZE, "payload": b"80x24", "epoch": Epoch(1)}
    here.send(2, actor=EVE, **old)

    assert here.codes() == ["not-your-turn", "not-your-turn"]
