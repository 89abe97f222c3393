import base64
from dataclasses import replace

import pytest

from holdfast.core.book.inheritance import (
    MAX_PAST,
    Doubt,
    Inheritance,
    Note,
    Restored,
    inherit,
)
from holdfast.core.book.logbook import Entry, EntryKind, Logbook, genesis, read_entries
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, Index, SessionId
from holdfast.model.inputs import InputKind, digest_of
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown
from holdfast.model.session_record import ParentRecord

SESSION = SessionId("s_one")
ANNA, BOT = ActorId("anna"), ActorId("bot")
LIFE, NEXT_LIFE = Incarnation(1), Incarnation(2)

Told = tuple[EntryKind, dict[str, str | int | None], int, int]


def told(
    kind: EntryKind, *, epoch: int = 1, life: int = 1, **fields: str | int | None
) -> Told:
    return kind, fields, epoch, life


def an_input(sequence: int, *, client: str = "c") -> Told:
    return told(
        EntryKind.INPUT,
        actor="anna",
        client=client,
        sequence=sequence,
        input="keys",
        data=base64.b64encode(b"ls\r").decode(),
    )


def refused(sequence: int, *, actor: str = "anna") -> Told:
    return told(
        EntryKind.REFUSED, actor=actor, client="c", sequence=sequence, code="frozen"
    )


def settled(of: int, word: str, **fields: int) -> Told:
    return EntryKind.SETTLED, {"of": of, "as": word, **fields}, 1, 1


def book_of(*story: Told) -> list[Entry]:
    book = Logbook(genesis(SESSION))
    lines: list[bytes] = []
    for kind, fields, epoch, life in story:
        entry = book.draft(kind, fields, Incarnation(life), Epoch(epoch), 0)
        book.commit(entry)
        lines.append(entry.line)
    return list(read_entries(lines, SESSION))


def note(
    *,
    epoch: int = 1,
    holder: ActorId | None = ANNA,
    writing: int | None = None,
    applied: int | None = None,
    frozen: bool = False,
    life: int = 1,
) -> Note:
    return Note(
        Incarnation(life),
        Epoch(epoch),
        holder,
        None if writing is None else Index(writing),
        None if applied is None else Index(applied),
        frozen,
    )


def outcomes(inherited: Inheritance) -> list[Outcome]:
    return [past.outcome for past in inherited.inputs]


def test_an_input_that_another_follows_was_applied() -> None:
    entries = book_of(an_input(1), an_input(2))

    inherited = inherit(entries, note(applied=1), LIFE)

    assert outcomes(inherited) == [Applied(Index(0)), Applied(Index(1))]
    first = inherited.inputs[0]
    assert (first.actor, first.id.client, first.id.sequence) == (ANNA, "c", 1)
    assert first.digest == digest_of(InputKind.KEYS, b"ls\r")


@pytest.mark.parametrize(
    ("left", "outcome"),
    [
        (note(applied=1), Applied(Index(1))),
        (note(writing=1, applied=1), Applied(Index(1))),
        (note(writing=1, applied=0), Unknown(Index(1))),
        (note(writing=1), Unknown(Index(1))),
        (note(applied=0), Dropped(Index(1))),
        (note(), Dropped(Index(1))),
        (None, Unknown(Index(1))),
        (note(life=9, applied=1), Unknown(Index(1))),
    ],
)
def test_only_the_last_input_can_be_in_doubt(
    left: Note | None, outcome: Outcome
) -> None:
    inherited = inherit(book_of(an_input(1), an_input(2)), left, LIFE)

    assert outcomes(inherited) == [Applied(Index(0)), outcome]
    word = type(outcome).__name__.lower()
    assert inherited.doubtful == Doubt(Index(1), word)


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        (settled(0, "cut", written=2), Cut(Index(0), 2)),
        (settled(0, "dropped"), Dropped(Index(0))),
        (settled(0, "unknown"), Unknown(Index(0))),
        (settled(0, "applied"), Applied(Index(0))),
    ],
)
def test_what_the_book_has_settled_is_in_no_doubt(
    entry: Told, outcome: Outcome
) -> None:
    inherited = inherit(book_of(an_input(1), entry), note(writing=0), LIFE)

    assert outcomes(inherited) == [outcome]
    assert inherited.doubtful is None


def test_a_settlement_of_an_earlier_input_leaves_the_last_in_doubt() -> None:
    story = book_of(an_input(1), an_input(2), settled(0, "dropped"))

    inherited = inherit(story, note(writing=1), LIFE)

    assert outcomes(inherited) == [Dropped(Index(0)), Unknown(Index(1))]


def test_a_settlement_of_what_is_no_input_settles_nothing() -> None:
    story = book_of(told(EntryKind.OPENED), settled(0, "dropped"))

    assert inherit(story, note(), LIFE).inputs == ()


def test_a_refusal_is_inherited_with_its_code_and_without_a_digest() -> None:
    inherited = inherit(book_of(refused(1)), note(), LIFE)

    [past] = inherited.inputs
    assert past.digest is None
    assert isinstance(past.outcome, Refused)
    assert past.outcome.error.facts == {"code": "frozen"}


def test_i3_a_seize_the_disk_never_saw_is_in_the_note() -> None:
    entries = book_of(told(EntryKind.TURN, epoch=3, to="bot"))

    inherited = inherit(entries, note(epoch=4, holder=ANNA), LIFE)

    assert (inherited.epoch, inherited.holder) == (4, ANNA)


def test_i3_the_log_knows_better_than_an_older_note() -> None:
    entries = book_of(told(EntryKind.TURN, epoch=3, to="bot"))

    inherited = inherit(entries, note(epoch=2, holder=ANNA), LIFE)

    assert (inherited.epoch, inherited.holder) == (3, BOT)


def test_without_a_note_the_log_says_who_has_the_turn() -> None:
    taken = told(EntryKind.TURN, epoch=3, to="bot")
    dropped = told(EntryKind.TURN, epoch=4, to=None)

    assert inherit(book_of(taken), None, LIFE).holder == BOT
    assert inherit(book_of(taken, dropped), None, LIFE).holder is None


@pytest.mark.parametrize("last", [EntryKind.FROZEN, EntryKind.THAWED])
def test_without_a_note_the_log_says_whether_the_session_is_frozen(
    last: EntryKind,
) -> None:
    entries = book_of(told(EntryKind.FROZEN), told(last))

    assert inherit(entries, None, LIFE).frozen == (last is EntryKind.FROZEN)


@pytest.mark.parametrize("frozen", [True, False])
def test_a_freeze_the_disk_never_saw_is_in_the_note(*, frozen: bool) -> None:
    entries = book_of(told(EntryKind.THAWED if frozen else EntryKind.FROZEN))

    assert inherit(entries, note(frozen=frozen), LIFE).frozen == frozen


def test_rights_are_what_was_last_granted_and_not_revoked() -> None:
    granted = told(
        EntryKind.GRANTED, actor="anna", rights="input", scope=None, expires=5000
    )
    other = told(
        EntryKind.GRANTED, actor="bot", rights="input", scope=None, expires=None
    )
    entries = book_of(granted, other, told(EntryKind.REVOKED, actor="bot"))

    envelopes = inherit(entries, note(), LIFE).envelopes

    assert envelopes[BOT].rights == frozenset()
    assert envelopes[ANNA].rights == {"input"}
    assert envelopes[ANNA].expires_wall == 5


def test_the_next_life_has_a_free_turn_under_a_new_epoch() -> None:
    entries = book_of(
        told(EntryKind.TURN, epoch=3, to="bot"),
        told(EntryKind.FROZEN, epoch=3),
    )

    inherited = inherit(entries, None, NEXT_LIFE)

    assert inherited.beginning is EntryKind.RECOVERED
    assert (inherited.epoch, inherited.holder, inherited.frozen) == (4, None, False)


def test_the_first_entry_of_the_next_life_says_who_began_it_and_where() -> None:
    found = inherit(book_of(an_input(1)), None, NEXT_LIFE)

    begun = replace(found, by=ANNA, offset=70).begun()

    nothing = dict.fromkeys(("image", "through", "command", "hands", "of"))
    assert begun == {"by": ANNA, "offset": 70, **nothing}
    restored = Restored(3, through=41, command=7, hands=(ANNA, BOT))
    assert replace(found, restored=restored).begun() == {
        "by": None,
        "offset": 0,
        "of": None,
        "image": 3,
        "through": 41,
        "command": 7,
        "hands": f"{ANNA},{BOT}",
    }
    assert inherit([], None, LIFE).begun() == {}


def test_the_first_entry_says_where_a_branch_is_from_and_why_no_capsule_is() -> None:
    found = inherit([], None, LIFE)
    parent = ParentRecord("s_" + "b" * 16, 3, 2, 40)

    assert replace(found, by=ANNA, parent=parent).begun() == {
        "by": ANNA,
        "parent": parent.session,
        "image": 3,
        "parent_incarnation": 2,
        "parent_index": 40,
    }
    later = inherit(book_of(an_input(1)), None, NEXT_LIFE)
    assert "parent" not in replace(later, parent=parent).begun()
    assert replace(found, no_capsule="why").begun() == {"no_capsule": "why"}
    assert "no_capsule" not in replace(later, no_capsule="why").begun()


def test_the_next_life_remembers_outcomes_and_doubts_the_last() -> None:
    inherited = inherit(book_of(an_input(1), an_input(2)), None, NEXT_LIFE)

    assert outcomes(inherited) == [Applied(Index(0)), Unknown(Index(1))]
    assert inherited.doubtful == Doubt(Index(1), "unknown")
    assert inherited.applied is None


def test_a_life_that_died_before_its_first_entry_was_lived_all_the_same() -> None:
    entries = book_of(told(EntryKind.TURN, to="bot"), an_input(1))
    left = note(life=2, epoch=7, holder=ANNA, writing=1)

    inherited = inherit(entries, left, NEXT_LIFE)

    assert inherited.beginning is EntryKind.RESUMED
    assert (inherited.epoch, inherited.holder) == (7, ANNA)
    assert inherited.doubtful == Doubt(Index(1), "unknown")


def test_a_doubt_about_an_earlier_life_stays_until_the_book_settles_it() -> None:
    recovered = told(EntryKind.RECOVERED, life=2)

    inherited = inherit(book_of(an_input(1), recovered), note(life=2), NEXT_LIFE)

    assert inherited.beginning is EntryKind.RESUMED
    assert inherited.doubtful == Doubt(Index(0), "unknown")


def test_an_empty_book_has_nothing_to_inherit() -> None:
    inherited = inherit([], None, LIFE)

    assert inherited.beginning is EntryKind.OPENED
    assert (inherited.epoch, inherited.inputs) == (1, ())


def test_a_session_that_is_over_stays_over_in_that_life() -> None:
    entries = book_of(told(EntryKind.EXITED, how="code 0"))

    assert inherit(entries, None, LIFE).over == "code 0"
    assert inherit(entries, None, NEXT_LIFE).over is None


def test_what_is_looked_back_on_is_bounded() -> None:
    entries = book_of(*(an_input(number + 1) for number in range(MAX_PAST + 5)))

    inherited = inherit(entries, note(applied=MAX_PAST + 4), LIFE)

    assert len(inherited.inputs) <= MAX_PAST
    assert inherited.inputs[-1].id.sequence == MAX_PAST + 5


@pytest.mark.parametrize("life", [LIFE, NEXT_LIFE])
def test_a_flood_of_refusals_hides_no_doubt(life: Incarnation) -> None:
    flood = (refused(number + 1, actor="eve") for number in range(MAX_PAST + 1))
    entries = book_of(an_input(1), *flood)

    inherited = inherit(entries, None, life)

    assert inherited.doubtful == Doubt(Index(0), "unknown")


def test_i1_a_flood_of_refusals_makes_nobody_forget_what_was_applied() -> None:
    flood = (refused(number + 1, actor="eve") for number in range(MAX_PAST + 1))
    entries = book_of(an_input(1), *flood)

    inherited = inherit(entries, note(applied=0), LIFE)

    assert Applied(Index(0)) in outcomes(inherited), "I1"


def test_i1_what_a_client_wrote_last_is_never_forgotten() -> None:
    others = (an_input(number + 1, client="d") for number in range(MAX_PAST + 1))
    entries = book_of(an_input(1), *others)

    inherited = inherit(entries, note(applied=MAX_PAST + 1), LIFE)

    assert inherited.inputs[0].id.client == "c", "I1"
    assert len(inherited.inputs) == MAX_PAST


def test_a_client_of_whom_nothing_is_left_is_known_to_be_forgotten() -> None:
    many = (an_input(1, client=f"c{number}") for number in range(MAX_PAST + 2))
    entries = book_of(*many)

    forgotten = inherit(entries, note(applied=MAX_PAST + 1), LIFE).forgotten

    assert forgotten.following(ANNA, ClientId("c1")) == 2
    assert forgotten.following(ANNA, ClientId(f"c{MAX_PAST + 1}")) is None


def test_whoever_wrote_under_an_earlier_turn_is_forgotten_by_its_epoch() -> None:
    many = (an_input(1, client=f"c{number}") for number in range(MAX_PAST + 1))
    turn = told(EntryKind.TURN, epoch=2, to="anna")

    forgotten = inherit(book_of(*many, turn), note(epoch=2), LIFE).forgotten

    assert forgotten.may_hold(Epoch(1))
    assert not forgotten.may_hold(Epoch(2))


def test_a_move_in_good_order_leaves_the_turn_where_it_was() -> None:
    turn = told(EntryKind.TURN, epoch=3, to="anna", why="took")
    frozen = told(EntryKind.FROZEN, epoch=3, by="anna")

    moved = inherit(book_of(turn, frozen), None, NEXT_LIFE, is_moved=True)
    restored = inherit(book_of(turn, frozen), None, NEXT_LIFE)

    assert (moved.holder, moved.epoch, moved.frozen) == (ANNA, Epoch(3), False)
    assert (restored.holder, restored.epoch) == (None, Epoch(4))


def test_the_book_says_later_that_a_life_was_moved() -> None:
    turn = told(EntryKind.TURN, epoch=3, to="anna", why="took")
    came = told(EntryKind.RECOVERED, epoch=3, life=2, by="bot", origin="h_there")

    again = inherit(book_of(turn, came), None, NEXT_LIFE)

    assert again.holder == ANNA


def test_the_first_entry_of_a_moved_life_names_the_host_it_comes_from() -> None:
    found = inherit(book_of(an_input(1)), None, NEXT_LIFE, is_moved=True)
    image = Restored(3, 7, 2)

    plain = replace(found, restored=image).begun()
    moved = replace(found, restored=image._replace(origin="h_there")).begun()

    assert "origin" not in plain
    assert moved == {**plain, "origin": "h_there"}
