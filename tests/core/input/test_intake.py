import pytest
from tests.core.desk import ANNA, AT, BOT, EVE, WRITER, Desk

from holdfast.core.input import gate, turn
from holdfast.core.input.intake_effects import Consult, KeepNote
from holdfast.core.input.serializer import Answer, Apply, Sync
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import ActorId, Epoch, Incarnation, Index
from holdfast.model.inputs import Input, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied, Cut, Dropped
from holdfast.model.verdicts import Verdict


def test_an_input_goes_all_the_way() -> None:
    desk = Desk()

    given = desk.send()
    assert desk.last() == Consult(1, given)
    desk.judge(Verdict.ALLOW)
    assert desk.last() == Apply(Index(4), given)
    desk.write()
    assert desk.last() == Sync(Index(5))
    assert desk.intake.inquire(BOT, given.id) is None
    desk.do(desk.intake.synced(Index(5), AT))
    assert desk.last() == Answer(BOT, given.id, Applied(Index(4)))
    assert desk.intake.inquire(BOT, given.id) == Applied(Index(4))
    assert desk.kinds() == ["turn", "input", "settled"]


def test_the_note_says_that_writing_begins_before_it_does() -> None:
    desk = Desk()
    desk.send()
    desk.judge(Verdict.ALLOW)

    before, apply = desk.told[-2:]
    assert isinstance(apply, Apply)
    assert isinstance(before, KeepNote)
    assert (before.note.writing, before.note.applied) == (4, None)
    desk.write()
    kept = [one.note for one in desk.told if isinstance(one, KeepNote)]
    assert (kept[-1].writing, kept[-1].applied) == (None, 4)


def test_typing_takes_a_free_turn_once_it_may_pass() -> None:
    desk = Desk()
    desk.send()
    assert desk.intake.turn.holder is None
    desk.judge(Verdict.ALLOW)

    assert desk.intake.turn.holder == BOT
    [passed] = [one for one in desk.told if isinstance(one, turn.PassTurn)]
    assert passed.reason is turn.PassReason.TAKEN


def test_a_seize_cuts_off_also_what_the_seizer_has_in_line() -> None:
    desk = Desk()
    desk.send(actor=ANNA)
    desk.do(desk.intake.seize(ANNA, AT))

    assert desk.codes() == ["turn-moved"]
    assert desk.intake.turn.holder == ANNA


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"actor": EVE}, "not-allowed"),
        ({"kind": InputKind.SIGNAL}, "not-allowed"),
        ({"incarnation": Incarnation(2)}, "stale-incarnation"),
        ({"epoch": Epoch(9)}, "not-your-turn"),
    ],
)
def test_an_input_is_checked_against_what_holds_now(
    changes: dict[str, object], code: str
) -> None:
    desk = Desk()
    desk.send(**changes)  # type: ignore[arg-type]  # a builder

    assert desk.codes() == [code]
    assert desk.kinds()[-1] == "refused"
    assert desk.entries[-1].fields["code"] == code
    assert not any(isinstance(one, Consult) for one in desk.told)


def test_who_may_write_but_not_take_needs_to_be_given_the_turn() -> None:
    desk = Desk()
    desk.do(desk.intake.grant(EVE, Envelope(frozenset({Right.INPUT})), ANNA, AT))
    desk.send(actor=EVE)

    assert desk.codes() == ["not-your-turn"]
    desk.do(desk.intake.request(turn.Took(ANNA), AT))
    desk.do(desk.intake.request(turn.Gave(ANNA, EVE), AT))
    desk.send(2, actor=EVE)
    assert isinstance(desk.told[-1], Consult)


def test_a_denied_input_is_refused_and_the_next_is_looked_at() -> None:
    desk = Desk()
    desk.send(1)
    desk.send(2)
    desk.judge(Verdict.DENY)

    assert desk.codes() == ["denied-by-policy"]
    assert isinstance(desk.told[-1], Consult)
    assert desk.told[-1].ticket == 2


def test_an_entry_says_what_was_judged_and_what_its_sender_had_seen() -> None:
    desk = Desk()
    desk.send(1, seen=77)
    desk.judge(Verdict.DENY)
    desk.send(2, seen=78)
    desk.judge(Verdict.ALLOW, ticket=2)
    desk.send(3, actor=EVE)
    desk.do(desk.intake.seize(ANNA, AT))

    told = [one.fields for one in desk.entries if "verdict" in one.fields]
    assert [one["verdict"] for one in told] == ["deny", "allow"]
    assert {one["actor_kind"] for one in told} == {"agent"}
    assert told[1]["seen"] == 78


def test_an_input_that_nobody_was_asked_about_has_no_verdict() -> None:
    desk = Desk()
    desk.send(1, actor=EVE)

    assert desk.entries[-1].fields["code"] == "not-allowed"
    assert desk.entries[-1].fields["verdict"] is None


def test_who_may_do_nothing_does_not_keep_the_turn() -> None:
    desk = Desk()
    desk.send(1)
    desk.judge(Verdict.DENY)

    assert desk.intake.turn.holder is None
    assert desk.kinds() == ["refused"]


def test_who_takes_the_turn_while_another_is_judged_has_it() -> None:
    desk = Desk()
    desk.send(1)
    desk.do(desk.intake.request(turn.Took(ANNA), AT))
    desk.judge(Verdict.ALLOW)

    assert desk.intake.turn.holder == ANNA
    assert desk.codes() == ["turn-moved"]
    assert not any(isinstance(one, Apply) for one in desk.told)


def test_a_denial_leaves_the_turn_with_whose_input_has_passed() -> None:
    desk = Desk()
    desk.send(1)
    desk.judge(Verdict.ALLOW)
    desk.write()
    desk.send(2)
    desk.judge(Verdict.DENY, 2)

    assert desk.intake.turn.holder == BOT


def test_a_denial_leaves_the_turn_with_who_took_it_on_purpose() -> None:
    desk = Desk()
    desk.do(desk.intake.request(turn.Took(BOT), AT))
    desk.send(1)
    desk.judge(Verdict.DENY)

    assert desk.intake.turn.holder == BOT


def test_a_policy_that_crashed_or_hangs_denies() -> None:
    desk = Desk()
    desk.send(1)
    desk.do(desk.intake.policy_failed(1, "crashed", AT))
    desk.send(2)
    deadline = desk.intake.next_deadline()
    assert deadline == 12
    desk.do(desk.intake.tick(Moment(12, 1002)))

    assert desk.codes() == ["policy-unavailable"] * 2


def asked(desk: Desk) -> Input:
    given = desk.send()
    desk.judge(Verdict.ASK)
    return given


def test_who_else_staged_what_an_input_runs_is_on_record() -> None:
    desk = Desk()
    desk.send(actor=ANNA)
    said = gate.Judged(1, Verdict.ALLOW, "rule")

    effects = desk.intake.judged(said, AT, echo_off=False, originators=(ANNA, BOT))
    desk.do(effects)

    assert desk.entries[-1].fields["originators"] == "bot"


def test_an_approved_input_goes_on_with_its_approver_on_record() -> None:
    desk = Desk()
    given = asked(desk)
    approval = gate.Approved(1, ANNA, given.digest(), Epoch(1))
    desk.do(desk.intake.approve(approval, AT))

    assert desk.kinds() == ["turn", "asked", "answered", "input"]
    assert desk.entries[-1].fields["approver"] == "anna"
    assert desk.entries[-1].fields["verdict"] == "ask"
    assert isinstance(desk.told[-1], Apply)


@pytest.mark.parametrize(
    ("by", "digest", "code"),
    [
        (EVE, None, "not-allowed"),
        (BOT, None, "not-allowed"),
        (ANNA, b"other", "approval-mismatch"),
    ],
)
def test_an_approval_that_does_not_count_is_refused(
    by: ActorId, digest: bytes | None, code: str
) -> None:
    desk = Desk()
    given = asked(desk)
    approval = gate.Approved(1, by, digest or given.digest(), Epoch(1))
    desk.do(desk.intake.approve(approval, AT))

    assert desk.codes() == [code]
    assert desk.kinds()[-1] == "asked"


@pytest.mark.parametrize("by", [ANNA, BOT])
def test_an_operator_denies_and_an_asker_withdraws(by: ActorId) -> None:
    desk = Desk()
    asked(desk)
    desk.do(desk.intake.deny(gate.Denied(1, by), AT))

    assert desk.codes() == ["denied-by-operator"]


def test_a_denial_needs_the_right_and_something_to_deny() -> None:
    desk = Desk()
    desk.do(desk.intake.deny(gate.Denied(1, ANNA), AT))
    asked(desk)
    desk.do(desk.intake.deny(gate.Denied(1, EVE), AT))

    assert desk.codes() == ["nothing-pending", "not-allowed"]


def test_what_was_approved_too_late_is_checked_again() -> None:
    desk = Desk()
    desk.do(desk.intake.grant(BOT, Envelope(WRITER, None, 1001.0), ANNA, AT))
    given = asked(desk)
    approval = gate.Approved(1, ANNA, given.digest(), Epoch(1))
    desk.do(desk.intake.approve(approval, Moment(12, 1002)))

    assert desk.codes() == ["not-allowed"]
    assert desk.kinds()[-2:] == ["answered", "refused"]


@pytest.mark.parametrize("kind", [InputKind.KEYS, InputKind.ANSWER])
def test_what_is_typed_with_echo_off_is_not_written_down(kind: InputKind) -> None:
    desk = Desk()
    desk.send(kind=kind, payload=b"hunter2")
    desk.judge(Verdict.ALLOW, echo_off=kind is InputKind.KEYS)

    assert "data" not in desk.entries[-1].fields
    assert desk.entries[-1].fields["size"] == 7


def test_a_late_verdict_about_another_ticket_changes_nothing() -> None:
    desk = Desk()
    desk.send()
    desk.judge(Verdict.ALLOW, ticket=9)

    assert isinstance(desk.told[-1], Consult)


def test_i4_a_seize_cuts_what_is_being_written() -> None:
    desk = Desk()
    desk.send()
    desk.judge(Verdict.ALLOW)
    desk.write(2)
    desk.do(desk.intake.seize(ANNA, AT))

    assert desk.answers() == [(1, Cut(Index(4), 2))]
    assert desk.kinds() == ["turn", "input", "settled", "turn"]
    assert desk.entries[-2].fields["written"] == 2
    assert desk.entries[-1].fields["dropped_bytes"] == 1
    desk.write(1)
    assert desk.intake.note().applied is None


def test_i4_a_seize_drops_what_waits_and_asks_no_disk() -> None:
    desk = Desk()
    desk.send()
    desk.judge(Verdict.ALLOW)
    desk.send(2)
    desk.holds_lines = True
    desk.do(desk.intake.request(turn.Seized(ANNA), AT))

    assert desk.intake.turn.holder == ANNA
    assert desk.answers()[1] == (1, Dropped(Index(4)))
    assert desk.codes() == ["turn-moved"]


def test_what_waits_for_approval_is_refused_when_its_sender_is_gone_for_good() -> None:
    desk = Desk()
    desk.send(1)
    desk.send(2)
    desk.judge(Verdict.ASK)
    desk.do(desk.intake.abandon(gate.Abandoned(1), AT))
    desk.judge(Verdict.ALLOW, 2)

    assert desk.codes() == ["asker-gone"]
    assert desk.kinds() == ["turn", "asked", "refused", "input"]


def test_the_book_tells_of_a_program_and_not_of_each_of_its_links() -> None:
    desk = Desk()
    desk.do(desk.intake.attach(BOT, "c", AT))
    desk.do(desk.intake.attach(BOT, "d", AT, news=False))
    desk.do(desk.intake.detach(BOT, "c", last=False, at=AT, news=False))
    desk.do(desk.intake.detach(BOT, "d", last=True, at=AT))

    assert desk.kinds() == ["attached", "detached"]


def test_a_seize_needs_the_right_and_nothing_else() -> None:
    desk = Desk()
    desk.do(desk.intake.seize(BOT, AT))
    desk.do(desk.intake.freeze(ANNA, AT))
    desk.do(desk.intake.seize(ANNA, AT))

    assert desk.codes() == ["not-allowed"]
    assert desk.intake.turn.holder == ANNA


def test_an_input_cut_before_its_line_was_out_never_gets_into_the_book() -> None:
    desk = Desk()
    desk.do(desk.intake.request(turn.Took(BOT), AT))
    desk.send()
    desk.holds_lines = True
    desk.do(desk.intake.attach(EVE, "c", AT))
    desk.judge(Verdict.ALLOW)
    desk.do(desk.intake.seize(ANNA, AT))
    desk.store_held()

    assert desk.kinds() == ["turn", "attached", "turn"]


def test_an_input_cut_while_its_line_was_out_is_settled_in_the_book() -> None:
    desk = Desk()
    desk.do(desk.intake.request(turn.Took(BOT), AT))
    desk.send()
    desk.holds_lines = True
    desk.judge(Verdict.ALLOW)
    desk.do(desk.intake.seize(ANNA, AT))
    desk.store_held()

    assert desk.kinds() == ["turn", "input", "settled", "turn"]
    assert not any(isinstance(one, Apply) for one in desk.told)


@pytest.mark.parametrize("event", [turn.Took(EVE), turn.AskedFor(EVE, 5)])
def test_the_turn_is_taken_only_by_who_may(event: turn.Event) -> None:
    desk = Desk()
    desk.do(desk.intake.request(event, AT))

    assert desk.codes() == ["not-allowed"]


def test_the_turn_is_given_only_to_who_may_write_and_the_giver_is_told() -> None:
    desk = Desk()
    desk.do(desk.intake.request(turn.Took(ANNA), AT))
    desk.do(desk.intake.request(turn.Gave(ANNA, EVE), AT))

    refusal = desk.told[-1]
    assert isinstance(refusal, turn.Refuse)
    assert refusal.actor == ANNA
    assert refusal.error.facts == {"actor": "eve", "right": "input"}
    desk.do(desk.intake.request(turn.Dropped(ANNA), AT))
    assert desk.intake.turn.holder is None
