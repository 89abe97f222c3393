import pytest
from tests.core.driven_intake import ANNA, AT, BOT, EVE, WRITER, DrivenIntake

from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.core.input.intake_effects import Consult, KeepNote
from holdfast.core.input.serializer import Apply, Sync
from holdfast.core.relay.lease import Granted, LeaseHolder
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import HostId, Incarnation, Index
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied, Cut, Dropped, Unknown
from holdfast.model.verdicts import Verdict


def writing_desk() -> DrivenIntake:
    here = DrivenIntake()
    here.send()
    here.judge(Verdict.ALLOW)
    return here


def applied_desk() -> DrivenIntake:
    here = writing_desk()
    here.write()
    return here


def leased_desk() -> DrivenIntake:
    lease = LeaseHolder(
        HostId("h"), AT.now, incarnation=Incarnation(1), expires_at=AT.now + 5
    )
    return DrivenIntake(lease=lease)


# ── who may what, and whether anything may ────────────────────────────────────


def test_a_revoked_operator_loses_rights_turn_and_what_it_has_in_line() -> None:
    here = writing_desk()
    here.send(2)
    here.do(here.intake.revoke(BOT, ANNA, AT))

    assert here.intake.rights.envelope_of(BOT) == Envelope(frozenset())
    assert here.intake.turn.holder is None
    assert (1, Dropped(Index(4))) in here.answers()
    assert here.codes() == ["turn-moved"]
    here.send(3)
    assert here.codes()[-1] == "not-allowed"


def test_revoking_somebody_else_leaves_the_holder_alone() -> None:
    here = writing_desk()
    here.do(here.intake.revoke(EVE, ANNA, AT))
    here.write()

    assert here.kinds()[-2:] == ["revoked", "settled"]


@pytest.mark.parametrize("kind", [EntryKind.GRANTED, EntryKind.REVOKED])
def test_what_anybody_may_do_is_made_durable(kind: EntryKind) -> None:
    here = DrivenIntake()
    if kind is EntryKind.GRANTED:
        here.do(here.intake.grant(EVE, Envelope(WRITER), ANNA, AT))
    else:
        here.do(here.intake.revoke(EVE, ANNA, AT))

    assert here.entries[-1].kind is kind
    assert here.last() == Sync(Index(3))


def test_an_envelope_that_ran_out_covers_nothing() -> None:
    here = DrivenIntake()
    here.do(here.intake.grant(BOT, Envelope(WRITER, None, 999.0), ANNA, AT))
    here.send()

    assert here.codes() == ["not-allowed"]


def test_i3_nothing_is_written_while_frozen() -> None:
    here = writing_desk()
    here.do(here.intake.freeze(ANNA, AT))
    here.send(2)

    assert here.answers()[0] == (1, Dropped(Index(4)))
    assert here.codes() == ["frozen"]
    assert here.intake.is_frozen
    assert here.intake.note().frozen
    here.do(here.intake.thaw(ANNA, AT))
    assert not here.intake.is_frozen
    assert not here.intake.note().frozen
    here.send(3)
    assert isinstance(here.last(), Consult)


def test_i3_nothing_is_written_once_the_lease_has_run_out() -> None:
    here = leased_desk()
    here.send()
    here.judge(Verdict.ALLOW)

    assert here.intake.blocked(AT.boot) is None
    blocked = here.intake.blocked(AT.boot + 5)
    assert blocked is not None
    assert blocked.code == "lease-lost"
    here.do(here.intake.fenced(Moment(AT.now + 5, 1005, AT.boot + 5)))
    assert here.answers() == [(1, Dropped(Index(4)))]


def test_typing_takes_no_turn_without_a_lease() -> None:
    here = leased_desk()
    here.do(here.intake.submit(here.made(1), Moment(AT.now + 5, 1005, AT.boot + 5)))

    assert here.codes() == ["lease-lost"]
    assert here.intake.turn.holder is None


def test_when_the_program_is_gone_everything_is_refused() -> None:
    here = writing_desk()
    here.do(here.intake.exited("exited 0", AT))
    here.send(2)

    assert here.codes() == ["session-over"]
    assert here.kinds()[-2:] == ["exited", "refused"]


def test_a_holder_who_leaves_has_a_grace_and_comes_back() -> None:
    here = writing_desk()
    here.do(here.intake.detach(BOT, "c", last=False, at=AT))
    assert here.intake.next_deadline() is None
    here.do(here.intake.detach(BOT, "c", last=True, at=AT))
    assert here.intake.next_deadline() == AT.now + 30
    here.do(here.intake.attach(BOT, "c", AT))
    assert here.intake.next_deadline() is None
    assert here.kinds()[-3:] == ["detached", "detached", "attached"]


def test_an_abandoned_turn_is_free() -> None:
    here = applied_desk()
    here.do(here.intake.detach(BOT, "c", last=True, at=AT))
    here.do(here.intake.tick(Moment(AT.now + 30, 1030)))

    assert here.intake.turn.holder is None
    assert here.entries[-1].fields["reason"] == "abandoned"


def test_the_holder_is_told_who_asks() -> None:
    here = applied_desk()
    here.do(here.intake.request(turn.AskedFor(ANNA, 5), AT))

    assert here.last() == turn.AskHolder(BOT, ANNA, AT.now + 5)


def test_anything_can_be_put_on_record() -> None:
    here = DrivenIntake()
    here.do(here.intake.record(EntryKind.OPENED, {"shell": "bash"}, AT))

    assert here.entries[-1].fields["shell"] == "bash"


# ── what the disk and the terminal answer ─────────────────────────────────────


def test_what_cannot_be_logged_is_refused_and_not_written() -> None:
    here = DrivenIntake()
    here.do(here.intake.request(turn.Took(BOT), AT))
    here.send()
    here.holds_lines = True
    here.judge(Verdict.ALLOW)
    here.do(here.intake.store_failed("full", AT))

    assert here.codes() == ["logbook-failed"]
    assert not any(isinstance(one, Apply) for one in here.told)
    here.holds_lines = False
    here.send(2)
    here.judge(Verdict.ALLOW, ticket=2)
    assert isinstance(here.last(), Apply)


def test_while_the_log_is_behind_no_input_is_accepted() -> None:
    here = DrivenIntake()
    here.holds_lines = True
    here.do(here.intake.seize(ANNA, AT))
    here.do(here.intake.store_failed("full", AT))
    here.send(actor=ANNA)

    assert here.codes() == ["logbook-failed"]
    deadline = here.intake.next_deadline()
    assert deadline is not None
    here.holds_lines = False
    here.do(here.intake.tick(Moment(deadline, 1001)))
    assert here.kinds() == ["turn", "refused"]
    here.send(2, actor=ANNA)
    assert isinstance(here.last(), Consult)


def test_after_a_failed_sync_nothing_is_acknowledged_or_accepted() -> None:
    here = applied_desk()
    here.send(2)
    here.do(here.intake.sync_failed("EIO", AT))
    here.judge(Verdict.ALLOW, ticket=2)

    assert here.answers()[0] == (1, Unknown(Index(4)))
    assert here.codes() == ["logbook-failed"]


def test_the_book_says_what_was_cut_before_the_note_forgets_it() -> None:
    here = writing_desk()
    here.write(1)
    here.holds_lines = True
    here.do(here.intake.seize(ANNA, AT))

    assert here.intake.note().writing == 4
    here.store_held()
    assert here.intake.note().writing is None
    kept = [one.note.writing for one in here.told if isinstance(one, KeepNote)]
    assert kept[-2:] == [4, None]


# ── a successor ───────────────────────────────────────────────────────────────


def test_a_successor_knows_turn_rights_and_outcomes_and_applies_nothing() -> None:
    here = applied_desk()
    heir = here.successor()

    assert heir.intake.turn.holder == BOT
    assert heir.intake.rights.envelope_of(BOT) == Envelope(WRITER)
    assert heir.kinds()[-1] == "resumed"
    heir.send(1, epoch=0)
    assert heir.answers() == [(1, Applied(Index(4)))]
    assert not any(isinstance(one, Apply) for one in heir.told)


@pytest.mark.parametrize("written", [0, 2])
def test_a_successor_settles_what_was_being_written_as_unknown(written: int) -> None:
    here = writing_desk()
    here.write(written)
    heir = here.successor()

    assert heir.entries[-1].fields["as"] == "unknown"
    heir.send(1, epoch=0)
    assert heir.answers() == [(1, Unknown(Index(4)))]


def test_a_successor_that_dies_at_once_leaves_the_same_doubt() -> None:
    here = writing_desk()
    heir = here.successor(stores=False)

    assert heir.intake.note().writing == 4
    assert heir.successor().intake.inquire(BOT, here.made(1).id) == Unknown(Index(4))


def test_a_successor_knows_that_a_stored_line_was_never_written() -> None:
    here = DrivenIntake()
    here.do(here.intake.request(turn.Took(BOT), AT))
    here.send()
    here.holds_lines = True
    here.judge(Verdict.ALLOW)
    [*_, held] = [one for one in here.told if isinstance(one, Store)]
    here.entries.append(held.entry)
    heir = here.successor()

    assert heir.intake.inquire(BOT, here.made(1).id) == Dropped(Index(4))
    assert heir.entries[-1].fields["as"] == "dropped"


def test_a_successor_knows_how_much_of_a_cut_input_went_in() -> None:
    here = writing_desk()
    here.write(2)
    here.do(here.intake.seize(ANNA, AT))
    heir = here.successor()

    assert heir.intake.turn.holder == ANNA
    assert heir.intake.inquire(BOT, here.made(1).id) == Cut(Index(4), 2)


def test_a_seize_survives_its_process_even_if_the_disk_never_saw_it() -> None:
    here = writing_desk()
    here.holds_lines = True
    here.do(here.intake.seize(ANNA, AT))
    heir = here.successor()

    assert (heir.intake.turn.holder, heir.intake.turn.epoch) == (ANNA, 2)
    heir.send(2, epoch=1)
    assert heir.codes() == ["not-your-turn"]


def test_a_freeze_survives_its_process_even_if_the_disk_never_saw_it() -> None:
    here = writing_desk()
    here.holds_lines = True
    here.do(here.intake.freeze(ANNA, AT))
    heir = here.successor()
    heir.send(2)

    assert heir.codes() == ["frozen"]


def test_the_next_life_begins_with_a_free_turn_and_says_so() -> None:
    here = applied_desk()
    heir = here.successor(life=2)

    assert heir.kinds()[-2:] == ["settled", "recovered"]
    assert (heir.intake.turn.holder, heir.intake.incarnation) == (None, 2)
    heir.send(2)
    assert heir.codes() == ["stale-incarnation"]


def test_whoever_may_approve_may_not_thereby_write() -> None:
    here = DrivenIntake()
    rights = frozenset({Right.APPROVE, Right.OBSERVE})
    here.do(here.intake.grant(EVE, Envelope(rights), ANNA, AT))
    here.send(actor=EVE)

    assert here.codes() == ["not-allowed"]


def test_a_lease_granted_again_lets_input_through() -> None:
    here = leased_desk()
    late = Moment(AT.now + 5, 1005, AT.boot + 5)
    assert here.lease is not None
    here.lease.handle(Granted(Incarnation(1), 30, late.now), late.now)
    here.do(here.intake.submit(here.made(1), late))

    assert isinstance(here.last(), Consult)


def test_an_input_is_acknowledged_only_when_the_book_holds_that_it_went_in() -> None:
    here = writing_desk()
    here.holds_lines = True
    here.do(here.intake.grant(EVE, Envelope(WRITER), ANNA, AT))
    here.write()
    here.do(here.intake.stored(AT))
    here.do(here.intake.synced(Index(5), AT))

    assert here.answers() == []
    here.do(here.intake.stored(AT))
    here.do(here.intake.synced(Index(6), AT))
    assert here.answers() == [(1, Applied(Index(4)))]


def test_one_sync_acknowledges_only_what_it_covers() -> None:
    here = applied_desk()
    here.send(2)
    here.judge(Verdict.ALLOW, ticket=2)
    here.write()
    [first] = [one.index for one in here.told if isinstance(one, Sync)]
    here.do(here.intake.synced(first, AT))

    assert [sequence for sequence, _ in here.answers()] == [1]


def test_the_note_of_a_seize_is_kept_before_anything_else_is_done() -> None:
    here = writing_desk()
    kept, *_ = here.do(here.intake.seize(ANNA, AT))

    assert isinstance(kept, KeepNote)
    assert (kept.note.holder, kept.note.epoch) == (ANNA, 2)


def test_what_was_asked_about_before_a_seize_cannot_be_approved_after_it() -> None:
    here = DrivenIntake()
    given = here.send()
    here.judge(Verdict.ASK)
    here.do(here.intake.seize(ANNA, AT))
    approval = gate.Approved(1, ANNA, given.digest(), given.epoch)
    here.do(here.intake.approve(approval, AT))

    assert here.intake.gate.pending() == ()
    assert here.codes() == ["turn-moved", "nothing-pending"]


def test_a_successor_writes_down_what_only_the_note_knew() -> None:
    here = writing_desk()
    here.holds_lines = True
    here.write()
    heir = here.successor()

    assert heir.entries[-1].fields["as"] == "applied"
    assert isinstance(heir.last(), Sync)
    after = heir.successor(life=2)
    assert after.intake.inquire(BOT, here.made(1).id) == Applied(Index(4))


def test_an_input_is_known_once_it_was_taken() -> None:
    here = DrivenIntake()
    given = here.made(1)

    assert not here.intake.serializer.is_known(given)
    here.send()
    assert here.intake.serializer.is_known(given)


def test_no_two_acts_wait_under_one_number() -> None:
    here = DrivenIntake()
    number = here.intake.issue_ticket()
    here.send()

    assert here.last() == Consult(number + 1, here.made(1))
