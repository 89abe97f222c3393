"""Who has typed, as a checkpoint keeps it."""

from holdfast.core.book.checkpoint import MAX_HANDS, Account
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.core.provenance.commands import Command, began_fields
from holdfast.core.provenance.originators import Origins
from holdfast.model.ids import Epoch, Incarnation, SessionId
from holdfast.wire.lines import Value

SESSION = SessionId("s_one")


def typed(sequence: int, who: str, kind: str) -> dict[str, Value]:
    return {
        "actor": who,
        "actor_kind": "human",
        "client": "c_one",
        "sequence": sequence,
        "input": kind,
        "size": 3,
        "seen": None,
        "verdict": "allow",
        "rule": "all",
        "approver": None,
        "data": "bHMN",
    }


def test_i3_who_typed_is_kept_unless_the_holder_knows_better() -> None:
    chain, account = Logbook(genesis(SESSION)), Account(SESSION)

    def read(fields: dict[str, Value]) -> None:
        entry = chain.draft(EntryKind.INPUT, fields, Incarnation(1), Epoch(1), 0)
        chain.commit(entry)
        account.read(entry)

    for number in range(MAX_HANDS + 1):
        read(typed(number, f"a_{number}", "keys"))
    read(typed(1, "a_sizes", "resize"))

    everybody = account.checkpoint().line
    assert everybody == tuple(f"a_{number}" for number in range(1, MAX_HANDS + 1))
    assert Account(SESSION, account.checkpoint()).checkpoint().line == everybody
    assert account.checkpoint(line=()).line == ()


def test_a_next_life_keeps_the_number_of_the_last_command_alone() -> None:
    chain, account = Logbook(genesis(SESSION)), Account(SESSION)

    def read(kind: EntryKind, fields: dict[str, Value], life: int = 1) -> None:
        entry = chain.draft(kind, fields, Incarnation(life), Epoch(life), 0)
        chain.commit(entry)
        account.read(entry)

    for number in (1, 2):
        read(EntryKind.BEGAN, began_fields(Command(number, None, "ls", 5)))
    read(EntryKind.RECOVERED, {"by": "a_1", "offset": 70}, life=2)

    found = account.checkpoint()

    [last] = found.commands.commands
    assert (last.number, last.start, last.end) == (2, 70, 70)
    assert found.origins == Origins().dump()


def test_what_ran_when_a_session_was_moved_still_runs() -> None:
    chain, account = Logbook(genesis(SESSION)), Account(SESSION)
    moved: dict[str, Value] = {"by": "a_1", "offset": 70, "origin": "h_1"}
    began = began_fields(Command(2, None, "ls", 5))
    for life, kind, fields in (
        (1, EntryKind.BEGAN, began),
        (2, EntryKind.RECOVERED, moved),
    ):
        entry = chain.draft(kind, fields, Incarnation(life), Epoch(life), 0)
        chain.commit(entry)
        account.read(entry)

    [last] = account.checkpoint().commands.commands
    assert (last.number, last.start, last.end) == (2, 5, None)
