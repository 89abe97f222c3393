import pytest
from tests.core.desk import ANNA, AT, BOT, EVE, WRITER, Desk

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


def writing_desk() -> Desk:
    desk = Desk()
    desk.send()
    desk.judge(Verdict.ALLOW)
    return desk


def applied_desk() -> Desk:
    desk = writing_desk()
    desk.write()
    return desk


def leased_desk() -> Desk:
    lease = LeaseHolder(
        HostId("h"), AT.now, incarnation=Incarnation(1), expires_at=AT.now + 5
    )
    return Desk(lease=lease)


# ── who may what, and whether anything may ────────────────────────────────────


def test_a_revoked_operator_loses_rights_turn_and_what_it_has_in_line() -> None:
    desk = writing_desk()
    desk.send(2)
    desk.do(desk.intake.revoke(BOT, ANNA, AT))

    assert desk.intake.rights.envelope_of(BOT) == Envelope(frozenset())
    assert desk.intake.turn.holder is None
    assert (1, Dropped(Index(4))) in desk.answers()
    assert desk.codes() == ["turn-moved"]
    desk.send(3)
    assert desk.codes()[-1] == "not-allowed"


def test_revoking_somebody_else_leaves_the_holder_alone() -> None:
    desk = writing_desk()
    desk.do(desk.intake.revoke(EVE, ANNA, AT))
    desk.write()

    assert desk.kinds()[-2:] == ["revoked", "settled"]


@pytest.mark.parametrize("kind", [EntryKind.GRANTED, EntryKind.REVOKED])
def test_what_anybody_may_do_is_made_durable(kind: EntryKind) -> None:
    desk = Desk()
    if kind is EntryKind.GRANTED:
        desk.do(desk.intake.grant(EVE, Envelope(WRITER), ANNA, AT))
    else:
        desk.do(desk.intake.revoke(EVE, ANNA, AT))

    assert desk.entries[-1].kind is kind
    assert desk.last() == Sync(Index(3))


def test_an_envelope_that_ran_out_covers_nothing() -> None:
    desk = Desk()
    desk.do(desk.intake.grant(BOT, Envelope(WRITER, None, 999.0), ANNA, AT))
    desk.send()

    assert desk.codes() == ["not-allowed"]


def test_i3_nothing_is_written_while_frozen() -> None:
    desk = writing_desk()
    desk.do(desk.intake.freeze(ANNA, AT))
    desk.send(2)

    assert desk.answers()[0] == (1, Dropped(Index(4)))
    assert desk.codes() == ["frozen"]
    assert desk.intake.is_frozen
    assert desk.intake.note().frozen
    desk.do(desk.intake.thaw(ANNA, AT))
    assert not desk.intake.is_frozen
    assert not desk.intake.note().frozen
    desk.send(3)
    assert isinstance(desk.last(), Consult)


def test_i3_nothing_is_written_once_the_lease_has_run_out() -> None:
    desk = leased_desk()
    desk.send()
    desk.judge(Verdict.ALLOW)

    assert desk.intake.blocked(AT.now) is None
    blocked = desk.intake.blocked(AT.now + 5)
    assert blocked is not None
    assert blocked.code == "lease-lost"
    desk.do(desk.intake.fenced(Moment(AT.now + 5, 1005)))
    assert desk.answers() == [(1, Dropped(Index(4)))]


def test_typing_takes_no_turn_without_a_lease() -> None:
    desk = leased_desk()
    desk.do(desk.intake.submit(desk.made(1), Moment(AT.now + 5, 1005)))

    assert desk.codes() == ["lease-lost"]
    assert desk.intake.turn.holder is None


def test_when_the_program_is_gone_everything_is_refused() -> None:
    desk = writing_desk()
    desk.do(desk.intake.exited("exited 0", AT))
    desk.send(2)

    assert desk.codes() == ["session-over"]
    assert desk.kinds()[-2:] == ["exited", "refused"]


def test_a_holder_who_leaves_has_a_grace_and_comes_back() -> None:
    desk = writing_desk()
    desk.do(desk.intake.detach(BOT, "c", last=False, at=AT))
    assert desk.intake.next_deadline() is None
    desk.do(desk.intake.detach(BOT, "c", last=True, at=AT))
    assert desk.intake.next_deadline() == AT.now + 30
    desk.do(desk.intake.attach(BOT, "c", AT))
    assert desk.intake.next_deadline() is None
    assert desk.kinds()[-3:] == ["detached", "detached", "attached"]


def test_an_abandoned_turn_is_free() -> None:
    desk = applied_desk()
    desk.do(desk.intake.detach(BOT, "c", last=True, at=AT))
    desk.do(desk.intake.tick(Moment(AT.now + 30, 1030)))

    assert desk.intake.turn.holder is None
    assert desk.entries[-1].fields["reason"] == "abandoned"


def test_the_holder_is_told_who_asks() -> None:
    desk = applied_desk()
    desk.do(desk.intake.request(turn.AskedFor(ANNA, 5), AT))

    assert desk.last() == turn.AskHolder(BOT, ANNA, AT.now + 5)


def test_anything_can_be_put_on_record() -> None:
    desk = Desk()
    desk.do(desk.intake.record(EntryKind.OPENED, {"shell": "bash"}, AT))

    assert desk.entries[-1].fields["shell"] == "bash"


# ── what the disk and the terminal answer ─────────────────────────────────────


def test_what_cannot_be_logged_is_refused_and_not_written() -> None:
    desk = Desk()
    desk.do(desk.intake.request(turn.Took(BOT), AT))
    desk.send()
    desk.holds_lines = True
    desk.judge(Verdict.ALLOW)
    desk.do(desk.intake.store_failed("full", AT))

    assert desk.codes() == ["logbook-failed"]
    assert not any(isinstance(one, Apply) for one in desk.told)
    desk.holds_lines = False
    desk.send(2)
    desk.judge(Verdict.ALLOW, ticket=2)
    assert isinstance(desk.last(), Apply)


def test_while_the_log_is_behind_no_input_is_accepted() -> None:
    desk = Desk()
    desk.holds_lines = True
    desk.do(desk.intake.seize(ANNA, AT))
    desk.do(desk.intake.store_failed("full", AT))
    desk.send(actor=ANNA)

    assert desk.codes() == ["logbook-failed"]
    deadline = desk.intake.next_deadline()
    assert deadline is not None
    desk.holds_lines = False
    desk.do(desk.intake.tick(Moment(deadline, 1001)))
    assert desk.kinds() == ["turn", "refused"]
    desk.send(2, actor=ANNA)
    assert isinstance(desk.last(), Consult)


def test_after_a_failed_sync_nothing_is_acknowledged_or_accepted() -> None:
    desk = applied_desk()
    desk.send(2)
    desk.do(desk.intake.sync_failed("EIO", AT))
    desk.judge(Verdict.ALLOW, ticket=2)

    assert desk.answers()[0] == (1, Unknown(Index(4)))
    assert desk.codes() == ["logbook-failed"]


def test_the_book_says_what_was_cut_before_the_note_forgets_it() -> None:
    desk = writing_desk()
    desk.write(1)
    desk.holds_lines = True
    desk.do(desk.intake.seize(ANNA, AT))

    assert desk.intake.note().writing == 4
    desk.store_held()
    assert desk.intake.note().writing is None
    kept = [one.note.writing for one in desk.told if isinstance(one, KeepNote)]
    assert kept[-2:] == [4, None]


# ── a successor ───────────────────────────────────────────────────────────────


def test_a_successor_knows_turn_rights_and_outcomes_and_applies_nothing() -> None:
    desk = applied_desk()
    heir = desk.successor()

    assert heir.intake.turn.holder == BOT
    assert heir.intake.rights.envelope_of(BOT) == Envelope(WRITER)
    assert heir.kinds()[-1] == "resumed"
    heir.send(1, epoch=0)
    assert heir.answers() == [(1, Applied(Index(4)))]
    assert not any(isinstance(one, Apply) for one in heir.told)


@pytest.mark.parametrize("written", [0, 2])
def test_a_successor_settles_what_was_being_written_as_unknown(written: int) -> None:
    desk = writing_desk()
    desk.write(written)
    heir = desk.successor()

    assert heir.entries[-1].fields["as"] == "unknown"
    heir.send(1, epoch=0)
    assert heir.answers() == [(1, Unknown(Index(4)))]


def test_a_successor_that_dies_at_once_leaves_the_same_doubt() -> None:
    desk = writing_desk()
    heir = desk.successor(stores=False)

    assert heir.intake.note().writing == 4
    assert heir.successor().intake.inquire(BOT, desk.made(1).id) == Unknown(Index(4))


def test_a_successor_knows_that_a_stored_line_was_never_written() -> None:
    desk = Desk()
    desk.do(desk.intake.request(turn.Took(BOT), AT))
    desk.send()
    desk.holds_lines = True
    desk.judge(Verdict.ALLOW)
    [*_, held] = [one for one in desk.told if isinstance(one, Store)]
    desk.entries.append(held.entry)
    heir = desk.successor()

    assert heir.intake.inquire(BOT, desk.made(1).id) == Dropped(Index(4))
    assert heir.entries[-1].fields["as"] == "dropped"


def test_a_successor_knows_how_much_of_a_cut_input_went_in() -> None:
    desk = writing_desk()
    desk.write(2)
    desk.do(desk.intake.seize(ANNA, AT))
    heir = desk.successor()

    assert heir.intake.turn.holder == ANNA
    assert heir.intake.inquire(BOT, desk.made(1).id) == Cut(Index(4), 2)


def test_a_seize_survives_its_process_even_if_the_disk_never_saw_it() -> None:
    desk = writing_desk()
    desk.holds_lines = True
    desk.do(desk.intake.seize(ANNA, AT))
    heir = desk.successor()

    assert (heir.intake.turn.holder, heir.intake.turn.epoch) == (ANNA, 2)
    heir.send(2, epoch=1)
    assert heir.codes() == ["not-your-turn"]


def test_a_freeze_survives_its_process_even_if_the_disk_never_saw_it() -> None:
    desk = writing_desk()
    desk.holds_lines = True
    desk.do(desk.intake.freeze(ANNA, AT))
    heir = desk.successor()
    heir.send(2)

    assert heir.codes() == ["frozen"]


def test_the_next_life_begins_with_a_free_turn_and_says_so() -> None:
    desk = applied_desk()
    heir = desk.successor(life=2)

    assert heir.kinds()[-2:] == ["settled", "recovered"]
    assert (heir.intake.turn.holder, heir.intake.incarnation) == (None, 2)
    heir.send(2)
    assert heir.codes() == ["stale-incarnation"]


def test_whoever_may_approve_may_not_thereby_write() -> None:
    desk = Desk()
    rights = frozenset({Right.APPROVE, Right.OBSERVE})
    desk.do(desk.intake.grant(EVE, Envelope(rights), ANNA, AT))
    desk.send(actor=EVE)

    assert desk.codes() == ["not-allowed"]


def test_a_lease_granted_again_lets_input_through() -> None:
    desk = leased_desk()
    late = Moment(AT.now + 5, 1005)
    assert desk.lease is not None
    desk.lease.handle(Granted(Incarnation(1), 30, late.now), late.now)
    desk.do(desk.intake.submit(desk.made(1), late))

    assert isinstance(desk.last(), Consult)


def test_an_input_is_acknowledged_only_when_the_book_holds_that_it_went_in() -> None:
    desk = writing_desk()
    desk.holds_lines = True
    desk.do(desk.intake.grant(EVE, Envelope(WRITER), ANNA, AT))
    desk.write()
    desk.do(desk.intake.stored(AT))
    desk.do(desk.intake.synced(Index(5), AT))

    assert desk.answers() == []
    desk.do(desk.intake.stored(AT))
    desk.do(desk.intake.synced(Index(6), AT))
    assert desk.answers() == [(1, Applied(Index(4)))]


def test_one_sync_acknowledges_only_what_it_covers() -> None:
    desk = applied_desk()
    desk.send(2)
    desk.judge(Verdict.ALLOW, ticket=2)
    desk.write()
    [first] = [one.index for one in desk.told if isinstance(one, Sync)]
    desk.do(desk.intake.synced(first, AT))

    assert [sequence for sequence, _ in desk.answers()] == [1]


def test_the_note_of_a_seize_is_kept_before_anything_else_is_done() -> None:
    desk = writing_desk()
    kept, *_ = desk.do(desk.intake.seize(ANNA, AT))

    assert isinstance(kept, KeepNote)
    assert (kept.note.holder, kept.note.epoch) == (ANNA, 2)


def test_what_was_asked_about_before_a_seize_cannot_be_approved_after_it() -> None:
    desk = Desk()
    given = desk.send()
    desk.judge(Verdict.ASK)
    desk.do(desk.intake.seize(ANNA, AT))
    approval = gate.Approved(1, ANNA, given.digest(), given.epoch)
    desk.do(desk.intake.approve(approval, AT))

    assert desk.intake.gate.pending() == ()
    assert desk.codes() == ["turn-moved", "nothing-pending"]


def test_a_successor_writes_down_what_only_the_note_knew() -> None:
    desk = writing_desk()
    desk.holds_lines = True
    desk.write()
    heir = desk.successor()

    assert heir.entries[-1].fields["as"] == "applied"
    assert isinstance(heir.last(), Sync)
    after = heir.successor(life=2)
    assert after.intake.inquire(BOT, desk.made(1).id) == Applied(Index(4))


def test_an_input_is_known_once_it_was_taken() -> None:
    desk = Desk()
    given = desk.made(1)

    assert not desk.intake.serializer.is_known(given)
    desk.send()
    assert desk.intake.serializer.is_known(given)


def test_no_two_acts_wait_under_one_number() -> None:
    desk = Desk()
    number = desk.intake.issue_ticket()
    desk.send()

    assert desk.last() == Consult(number + 1, desk.made(1))
