import pytest
from tests.core.driven_intake import ANNA, AT, BOT, EVE, WRITER, DrivenIntake

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
    here = DrivenIntake()

    given = here.send()
    assert here.last() == Consult(1, given)
    here.judge(Verdict.ALLOW)
    assert here.last() == Apply(Index(4), given)
    here.write()
    assert here.last() == Sync(Index(5))
    assert here.intake.inquire(BOT, given.id) is None
    here.do(here.intake.synced(Index(5), AT))
    assert here.last() == Answer(BOT, given.id, Applied(Index(4)))
    assert here.intake.inquire(BOT, given.id) == Applied(Index(4))
    assert here.kinds() == ["turn", "input", "settled"]


def test_the_note_says_that_writing_begins_before_it_does() -> None:
    here = DrivenIntake()
    here.send()
    here.judge(Verdict.ALLOW)

    before, apply = here.told[-2:]
    assert isinstance(apply, Apply)
    assert isinstance(before, KeepNote)
    assert (before.note.writing, before.note.applied) == (4, None)
    here.write()
    kept = [one.note for one in here.told if isinstance(one, KeepNote)]
    assert (kept[-1].writing, kept[-1].applied) == (None, 4)


def test_typing_takes_a_free_turn_once_it_may_pass() -> None:
    here = DrivenIntake()
    here.send()
    assert here.intake.turn.holder is None
    here.judge(Verdict.ALLOW)

    assert here.intake.turn.holder == BOT
    [passed] = [one for one in here.told if isinstance(one, turn.PassTurn)]
    assert passed.reason is turn.PassReason.TAKEN


def test_a_seize_cuts_off_also_what_the_seizer_has_in_line() -> None:
    here = DrivenIntake()
    here.send(actor=ANNA)
    here.do(here.intake.seize(ANNA, AT))

    assert here.codes() == ["turn-moved"]
    assert here.intake.turn.holder == ANNA


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
    here = DrivenIntake()
    here.send(**changes)  # type: ignore[arg-type]  # a builder

    assert here.codes() == [code]
    assert here.kinds()[-1] == "refused"
    assert here.entries[-1].fields["code"] == code
    assert not any(isinstance(one, Consult) for one in here.told)


def test_who_may_write_but_not_take_needs_to_be_given_the_turn() -> None:
    here = DrivenIntake()
    here.do(here.intake.grant(EVE, Envelope(frozenset({Right.INPUT})), ANNA, AT))
    here.send(actor=EVE)

    assert here.codes() == ["not-your-turn"]
    here.do(here.intake.request(turn.Took(ANNA), AT))
    here.do(here.intake.request(turn.Gave(ANNA, EVE), AT))
    here.send(2, actor=EVE)
    assert isinstance(here.told[-1], Consult)


def test_a_denied_input_is_refused_and_the_next_is_looked_at() -> None:
    here = DrivenIntake()
    here.send(1)
    here.send(2)
    here.judge(Verdict.DENY)

    assert here.codes() == ["denied-by-policy"]
    assert isinstance(here.told[-1], Consult)
    assert here.told[-1].ticket == 2


def test_an_entry_says_what_was_judged_and_what_its_sender_had_seen() -> None:
    here = DrivenIntake()
    here.send(1, seen=77)
    here.judge(Verdict.DENY)
    here.send(2, seen=78)
    here.judge(Verdict.ALLOW, ticket=2)
    here.send(3, actor=EVE)
    here.do(here.intake.seize(ANNA, AT))

    told = [one.fields for one in here.entries if "verdict" in one.fields]
    assert [one["verdict"] for one in told] == ["deny", "allow"]
    assert {one["actor_kind"] for one in told} == {"agent"}
    assert told[1]["seen"] == 78


def test_an_input_that_nobody_was_asked_about_has_no_verdict() -> None:
    here = DrivenIntake()
    here.send(1, actor=EVE)

    assert here.entries[-1].fields["code"] == "not-allowed"
    assert here.entries[-1].fields["verdict"] is None


def test_who_may_do_nothing_does_not_keep_the_turn() -> None:
    here = DrivenIntake()
    here.send(1)
    here.judge(Verdict.DENY)

    assert here.intake.turn.holder is None
    assert here.kinds() == ["refused"]


def test_who_takes_the_turn_while_another_is_judged_has_it() -> None:
    here = DrivenIntake()
    here.send(1)
    here.do(here.intake.request(turn.Took(ANNA), AT))
    here.judge(Verdict.ALLOW)

    assert here.intake.turn.holder == ANNA
    assert here.codes() == ["turn-moved"]
    assert not any(isinstance(one, Apply) for one in here.told)


def test_a_denial_leaves_the_turn_with_whose_input_has_passed() -> None:
    here = DrivenIntake()
    here.send(1)
    here.judge(Verdict.ALLOW)
    here.write()
    here.send(2)
    here.judge(Verdict.DENY, 2)

    assert here.intake.turn.holder == BOT


def test_a_denial_leaves_the_turn_with_who_took_it_on_purpose() -> None:
    here = DrivenIntake()
    here.do(here.intake.request(turn.Took(BOT), AT))
    here.send(1)
    here.judge(Verdict.DENY)

    assert here.intake.turn.holder == BOT


def test_a_policy_that_crashed_or_hangs_denies() -> None:
    here = DrivenIntake()
    here.send(1)
    here.do(here.intake.resolve(gate.PolicyFailed(1, "crashed"), AT))
    here.send(2)
    deadline = here.intake.next_deadline()
    assert deadline == 12
    here.do(here.intake.tick(Moment(12, 1002)))

    assert here.codes() == ["policy-unavailable"] * 2


def asked(here: DrivenIntake) -> Input:
    given = here.send()
    here.judge(Verdict.ASK)
    return given


def test_what_is_previewed_waits_and_the_book_names_its_report() -> None:
    here = DrivenIntake()
    here.send()
    here.judge(Verdict.PREVIEW)
    here.do(here.intake.resolve(gate.Previewed(1, "abc"), AT))

    assert here.entries[-1].fields["preview"] == "abc"
    assert here.kinds()[-1] == "asked"


def test_who_else_staged_what_an_input_runs_is_on_record() -> None:
    here = DrivenIntake()
    here.send(actor=ANNA)
    said = gate.Judged(1, Verdict.ALLOW, "rule")

    effects = here.intake.judged(said, AT, echo_off=False, originators=(ANNA, BOT))
    here.do(effects)

    assert here.entries[-1].fields["originators"] == "bot"


def test_an_approved_input_goes_on_with_its_approver_on_record() -> None:
    here = DrivenIntake()
    given = asked(here)
    approval = gate.Approved(1, ANNA, given.digest(), Epoch(1))
    here.do(here.intake.approve(approval, AT))

    assert here.kinds() == ["turn", "asked", "answered", "input"]
    assert here.entries[-1].fields["approver"] == "anna"
    assert here.entries[-1].fields["verdict"] == "ask"
    assert isinstance(here.told[-1], Apply)


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
    here = DrivenIntake()
    given = asked(here)
    approval = gate.Approved(1, by, digest or given.digest(), Epoch(1))
    here.do(here.intake.approve(approval, AT))

    assert here.codes() == [code]
    assert here.kinds()[-1] == "asked"


@pytest.mark.parametrize("by", [ANNA, BOT])
def test_an_operator_denies_and_an_asker_withdraws(by: ActorId) -> None:
    here = DrivenIntake()
    asked(here)
    here.do(here.intake.deny(gate.Denied(1, by), AT))

    assert here.codes() == ["denied-by-operator"]


def test_a_denial_needs_the_right_and_something_to_deny() -> None:
    here = DrivenIntake()
    here.do(here.intake.deny(gate.Denied(1, ANNA), AT))
    asked(here)
    here.do(here.intake.deny(gate.Denied(1, EVE), AT))

    assert here.codes() == ["nothing-pending", "not-allowed"]


def test_what_was_approved_too_late_is_checked_again() -> None:
    here = DrivenIntake()
    here.do(here.intake.grant(BOT, Envelope(WRITER, None, 1001.0), ANNA, AT))
    given = asked(here)
    approval = gate.Approved(1, ANNA, given.digest(), Epoch(1))
    here.do(here.intake.approve(approval, Moment(12, 1002)))

    assert here.codes() == ["not-allowed"]
    assert here.kinds()[-2:] == ["answered", "refused"]


@pytest.mark.parametrize("kind", [InputKind.KEYS, InputKind.ANSWER])
def test_what_is_typed_with_echo_off_is_not_written_down(kind: InputKind) -> None:
    here = DrivenIntake()
    here.send(kind=kind, payload=b"hunter2")
    here.judge(Verdict.ALLOW, echo_off=kind is InputKind.KEYS)

    assert "data" not in here.entries[-1].fields
    assert here.entries[-1].fields["size"] == 7


def test_a_late_verdict_about_another_ticket_changes_nothing() -> None:
    here = DrivenIntake()
    here.send()
    here.judge(Verdict.ALLOW, ticket=9)

    assert isinstance(here.told[-1], Consult)


def test_i4_a_seize_cuts_what_is_being_written() -> None:
    here = DrivenIntake()
    here.send()
    here.judge(Verdict.ALLOW)
    here.write(2)
    here.do(here.intake.seize(ANNA, AT))

    assert here.answers() == [(1, Cut(Index(4), 2))]
    assert here.kinds() == ["turn", "input", "settled", "turn"]
    assert here.entries[-2].fields["written"] == 2
    assert here.entries[-1].fields["dropped_bytes"] == 1
    here.write(1)
    assert here.intake.note().applied is None


def test_i4_a_seize_drops_what_waits_and_asks_no_disk() -> None:
    here = DrivenIntake()
    here.send()
    here.judge(Verdict.ALLOW)
    here.send(2)
    here.holds_lines = True
    here.do(here.intake.request(turn.Seized(ANNA), AT))

    assert here.intake.turn.holder == ANNA
    assert here.answers()[1] == (1, Dropped(Index(4)))
    assert here.codes() == ["turn-moved"]


def test_what_waits_for_approval_is_refused_when_its_sender_is_gone_for_good() -> None:
    here = DrivenIntake()
    here.send(1)
    here.send(2)
    here.judge(Verdict.ASK)
    here.do(here.intake.resolve(gate.Abandoned(1), AT))
    here.judge(Verdict.ALLOW, 2)

    assert here.codes() == ["asker-gone"]
    assert here.kinds() == ["turn", "asked", "refused", "input"]


def test_the_book_tells_of_a_program_and_not_of_each_of_its_links() -> None:
    here = DrivenIntake()
    here.do(here.intake.attach(BOT, "c", AT))
    here.do(here.intake.attach(BOT, "d", AT, news=False))
    here.do(here.intake.detach(BOT, "c", last=False, at=AT, news=False))
    here.do(here.intake.detach(BOT, "d", last=True, at=AT))

    assert here.kinds() == ["attached", "detached"]


def test_a_seize_needs_the_right_and_nothing_else() -> None:
    here = DrivenIntake()
    here.do(here.intake.seize(BOT, AT))
    here.do(here.intake.freeze(ANNA, AT))
    here.do(here.intake.seize(ANNA, AT))

    assert here.codes() == ["not-allowed"]
    assert here.intake.turn.holder == ANNA


def test_an_input_cut_before_its_line_was_out_never_gets_into_the_book() -> None:
    here = DrivenIntake()
    here.do(here.intake.request(turn.Took(BOT), AT))
    here.send()
    here.holds_lines = True
    here.do(here.intake.attach(EVE, "c", AT))
    here.judge(Verdict.ALLOW)
    here.do(here.intake.seize(ANNA, AT))
    here.store_held()

    assert here.kinds() == ["turn", "attached", "turn"]


def test_an_input_cut_while_its_line_was_out_is_settled_in_the_book() -> None:
    here = DrivenIntake()
    here.do(here.intake.request(turn.Took(BOT), AT))
    here.send()
    here.holds_lines = True
    here.judge(Verdict.ALLOW)
    here.do(here.intake.seize(ANNA, AT))
    here.store_held()

    assert here.kinds() == ["turn", "input", "settled", "turn"]
    assert not any(isinstance(one, Apply) for one in here.told)


@pytest.mark.parametrize("event", [turn.Took(EVE), turn.AskedFor(EVE, 5)])
def test_the_turn_is_taken_only_by_who_may(event: turn.Event) -> None:
    here = DrivenIntake()
    here.do(here.intake.request(event, AT))

    assert here.codes() == ["not-allowed"]


def test_the_turn_is_given_only_to_who_may_write_and_the_giver_is_told() -> None:
    here = DrivenIntake()
    here.do(here.intake.request(turn.Took(ANNA), AT))
    here.do(here.intake.request(turn.Gave(ANNA, EVE), AT))

    refusal = here.told[-1]
    assert isinstance(refusal, turn.Refuse)
    assert refusal.actor == ANNA
    assert refusal.error.facts == {"actor": "eve", "right": "input"}
    here.do(here.intake.request(turn.Dropped(ANNA), AT))
    assert here.intake.turn.holder is None
