from tests.core.desk import ANNA, AT, EVE, Desk

from holdfast.core.input import turn
from holdfast.core.input.serializer import Apply
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import Epoch, Index
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict


def test_a_resize_is_made_under_a_free_turn_and_leaves_it_free() -> None:
    desk = Desk()
    given = desk.send(actor=ANNA, kind=InputKind.RESIZE, payload=b"80x24")
    desk.judge(Verdict.ALLOW)

    assert desk.last() == Apply(Index(3), given)
    assert desk.intake.turn.holder is None
    assert desk.kinds() == ["input"]


def test_a_resize_that_waits_for_approval_takes_no_turn() -> None:
    desk = Desk()
    desk.send(actor=ANNA, kind=InputKind.RESIZE, payload=b"80x24")
    desk.judge(Verdict.ASK)

    assert desk.intake.turn.holder is None
    assert not any(isinstance(one, turn.PassTurn) for one in desk.told)


def test_a_resize_under_another_s_turn_or_an_old_one_is_refused() -> None:
    desk = Desk()
    rights = Envelope(frozenset({Right.RESIZE}))
    desk.do(desk.intake.grant(EVE, rights, ANNA, AT))
    desk.do(desk.intake.request(turn.Took(ANNA), AT))
    desk.send(actor=EVE, kind=InputKind.RESIZE, payload=b"80x24")
    desk.do(desk.intake.request(turn.Dropped(ANNA), AT))
    old = {"kind": InputKind.RESIZE, "payload": b"80x24", "epoch": Epoch(1)}
    desk.send(2, actor=EVE, **old)

    assert desk.codes() == ["not-your-turn", "not-your-turn"]
