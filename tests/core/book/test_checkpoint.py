"""What a successor reads from a checkpoint on, compared with one that reads all."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.book.book_state import MAX_LAST
from holdfast.core.book.checkpoint import (
    MAX_HANDS,
    Account,
    Checkpoint,
    checkpoint_fields,
    read_checkpoint,
    standing_of,
)
from holdfast.core.book.inheritance import Note, inherit
from holdfast.core.book.log_scan import scan
from holdfast.core.book.logbook import Anchor, Entry, EntryKind, Logbook, genesis
from holdfast.core.provenance.changed_entries import (
    changed_fields,
    initial_fields,
    lost_fields,
)
from holdfast.core.provenance.commands import Commands
from holdfast.core.provenance.originators import Origins
from holdfast.core.shell.shell_state import Change, ChangeKind, Item, ItemKind
from holdfast.model.errors import MalformedMessage
from holdfast.model.ids import ClientId, Epoch, Incarnation, Index, SessionId
from holdfast.model.outcomes import Refused
from holdfast.wire.lines import Value

SESSION = SessionId("s_one")
LIFE = Incarnation(1)
ACTORS = ["a_anna", "a_bot"]
PATH = Item(ItemKind.VARIABLE, "PATH")

Told = tuple[EntryKind, dict[str, Value]]


def an_input(sequence: int, who: str, client: str, kind: str = "keys") -> Told:
    return EntryKind.INPUT, {
        "actor": who,
        "actor_kind": "human",
        "client": client,
        "sequence": sequence,
        "input": kind,
        "size": 3,
        "seen": None,
        "verdict": "allow",
        "rule": "all",
        "approver": None,
        "data": base64.b64encode(b"ls\r").decode(),
    }


def began(number: int, client: str | None, who: str) -> Told:
    return EntryKind.BEGAN, {
        "number": number,
        "client": client,
        "offset": number * 10,
        "line": "ls",
        "trigger": who,
        "authors": who,
        "since": number * 1000,
        "up": number * 1000,
    }


def finished(number: int) -> Told:
    return EntryKind.FINISHED, {
        "number": number,
        "status": 0,
        "offset": number * 10 + 5,
        "duration": 5,
        "cwd": "/",
        "until": number * 1000 + 500,
        "up": number * 1000 + 500,
        "hands": "",
        "shared": 0,
    }


def changed(number: int, digest: bytes) -> Told:
    one = Change(PATH, ChangeKind.CHANGED, digest)
    return EntryKind.CHANGED, changed_fields(number, number, (one,))


def granted(who: str, rights: str) -> Told:
    fields: dict[str, Value] = {"actor": who, "by": "", "rights": rights}
    return EntryKind.GRANTED, {**fields, "scope": None, "expires": None}


def turn(giver: str | None, taker: str | None) -> Told:
    return EntryKind.TURN, {
        "from": giver,
        "to": taker,
        "reason": "taken",
        "dropped_inputs": 0,
        "dropped_bytes": 0,
    }


who = st.sampled_from(ACTORS)
client = st.sampled_from(["c_one", "c_two", "c_three"])
event = st.one_of(
    st.tuples(st.just("input"), who, client, st.sampled_from(["keys", "command"])),
    st.tuples(st.just("settle"), st.sampled_from(["applied", "cut", "dropped", "?"])),
    st.tuples(st.just("turn"), st.none() | who, st.none() | who),
    st.tuples(st.just("grant"), who, st.sampled_from(["", "input", "input,seize"])),
    st.tuples(st.just("revoke"), who),
    st.tuples(st.just("signed"), who, client),
    st.tuples(st.just("run"), who, st.none() | client),
    st.tuples(st.just("end")),
    st.tuples(st.just("seen"), st.binary(min_size=16, max_size=16)),
    st.tuples(st.just("lost")),
    st.tuples(st.just("plain"), st.sampled_from(["frozen", "thawed", "exited"])),
    st.tuples(st.just("refused"), who, client),
    st.tuples(st.just("life")),
)


class Story:
    """Writes what happens into a book."""

    def __init__(self) -> None:
        self.book = Logbook(genesis(SESSION))
        self.entries: list[Entry] = []
        self.counts: dict[tuple[str, str], int] = {}
        self.life, self.epoch, self.number, self.open = 1, 1, 0, -1

    def write(self, kind: EntryKind, fields: dict[str, Value]) -> None:
        life, epoch = Incarnation(self.life), Epoch(self.epoch)
        at = 1000 * len(self.entries)
        entry = self.book.draft(kind, fields, life, epoch, at)
        self.book.commit(entry)
        self.entries.append(entry)

    def tell(self, *happened: tuple[object, ...]) -> "Story":
        for what, *rest in happened:
            getattr(self, f"_{what}")(*rest)
        return self

    def _input(self, actor: str, by: str, kind: str) -> None:
        count = self.counts[actor, by] = self.counts.get((actor, by), 0) + 1
        self.open = len(self.entries)
        self.write(*an_input(count, actor, by, kind))

    def _settle(self, word: str) -> None:
        if self.open >= 0:
            fields: dict[str, Value] = {"of": self.open, "as": word}
            more: dict[str, Value] = {"written": 1} if word == "cut" else {}
            self.write(EntryKind.SETTLED, fields | more)

    def _turn(self, giver: str | None, taker: str | None) -> None:
        self.epoch += 1
        self.write(*turn(giver, taker))

    def _grant(self, actor: str, rights: str) -> None:
        self.write(*granted(actor, rights))

    def _revoke(self, actor: str) -> None:
        self.write(EntryKind.REVOKED, {"actor": actor, "by": ""})

    def _signed(self, actor: str, by: str) -> None:
        last = self.counts.get((actor, by), 0)
        self.write(EntryKind.SIGNED, {"actor": actor, "client": by, "last": last})

    def _run(self, actor: str, by: str | None) -> None:
        self.number += 1
        self.write(*began(self.number, by, actor))

    def _end(self) -> None:
        self.write(*finished(self.number))

    def _seen(self, digest: bytes) -> None:
        self.write(*changed(self.number, digest))

    def _lost(self) -> None:
        self.write(EntryKind.CHANGED, lost_fields())

    def _plain(self, word: str) -> None:
        self.write(EntryKind(word), {"by": "", "how": "code 0"})

    def _refused(self, actor: str, by: str) -> None:
        fields: dict[str, Value] = {"actor": actor, "client": by, "sequence": 9}
        self.write(EntryKind.REFUSED, {**fields, "code": "frozen"})

    def _life(self) -> None:
        self.life += 1
        self.epoch += 1
        self.write(EntryKind.RECOVERED, {})


def summed(entries: list[Entry], past: Checkpoint | None = None) -> Account:
    account = Account(SESSION, past)
    for entry in entries:
        account.read(entry)
    return account


def again(made: Checkpoint) -> Checkpoint:
    return read_checkpoint(made.to_bytes(), SESSION)


def scanned(entries: list[Entry]) -> list[Entry]:
    begin = genesis(SESSION)
    lines = [entry.line for entry in entries]
    return list(scan(lines, SESSION, Anchor(begin.index, begin.hash)))


@given(st.lists(event, max_size=30), st.integers(0, 30))
def test_i1_the_sum_is_the_same_from_any_checkpoint_on(
    happened: list[tuple[object, ...]], cut: int
) -> None:
    entries = Story().tell(*happened).entries
    whole = summed(entries).checkpoint()

    past = again(summed(entries[:cut]).checkpoint())

    assert summed(entries[cut:], past).checkpoint() == whole, "I1"
    assert summed(scanned(entries)).checkpoint() == whole, "I1, without a close look"
    assert again(whole) == whole, "I2"


@given(st.lists(event, max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_i1_what_is_inherited_is_the_same_from_any_checkpoint_on(
    happened: list[tuple[object, ...]], cut: int, window: int
) -> None:
    story = Story().tell(*happened)
    entries, life = story.entries, Incarnation(story.life)
    at = Note(life, Epoch(story.epoch), None, None, Index(story.open), frozen=False)
    begin = max(0, min(cut, len(entries)) - window)
    before = standing_of(again(summed(entries[:cut]).checkpoint()))

    heir = inherit(entries[begin:], at, life, before)
    one = inherit(entries, at, life)

    for name in ("beginning", "epoch", "holder", "envelopes", "over", "doubtful"):
        assert getattr(heir, name) == getattr(one, name), name
    assert {*map(str, heir.inputs)} <= {*map(str, one.inputs)}
    written = [past for past in one.inputs if not isinstance(past.outcome, Refused)]
    last = {(past.actor, past.id.client): past for past in written}
    for past in last.values():
        assert past in heir.inputs, "the last of each client is known"


@given(st.lists(event, max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_i1_an_heir_knows_the_commands_and_who_is_behind_them(
    happened: list[tuple[object, ...]], cut: int, window: int
) -> None:
    entries = Story().tell(*happened).entries
    past = again(summed(entries[:cut]).checkpoint())
    begin = max(0, min(cut, len(entries)) - window)
    one, heir = Commands(), Commands()
    one.take_up(entries)
    heir.load(past.commands)
    heir.take_up(entries[begin:], past.through)
    origins = Origins()
    origins.take_up(entries)
    others = Origins.load(past.origins)
    others.take_up(entries[cut:])

    assert [c.number for c in heir.kept] == [c.number for c in one.kept]
    assert [(c.line, c.end, c.status) for c in heir.kept] == [
        (c.line, c.end, c.status) for c in one.kept
    ]
    if one.kept and not one.kept[-1].end:
        assert heir.phase == one.phase
    assert all(heir.knows(ClientId(c)) == one.knows(ClientId(c)) for _, c in KNOWN)
    assert others.of(PATH) == origins.of(PATH)
    assert others.last == origins.last


def test_i1_an_heir_of_whom_nothing_was_written_since_knows_the_last_inputs() -> None:
    story = Story().tell(("input", "a_anna", "c_one", "keys"), ("settle", "applied"))
    at = Note(LIFE, Epoch(1), None, None, Index(story.open), frozen=False)
    before = standing_of(again(summed(story.entries).checkpoint()))

    heir = inherit([], at, LIFE, before)

    assert heir.inputs == inherit(story.entries, at, LIFE).inputs
    assert len(heir.inputs) == 1


KNOWN = [(a, c) for a in ACTORS for c in ("c_one", "c_two", "c_three")]


def test_who_typed_into_what_runs_is_taken_from_who_knows() -> None:
    story = Story().tell(("run", "a_anna", None))
    machine = Commands()
    machine.take_up(story.entries)
    story.tell(("input", "a_bot", "c_one", "keys"))
    machine.take_up(story.entries)

    made = summed(story.entries).checkpoint(machine.last)
    heir = Commands()
    heir.load(made.commands)
    heir.take_up([], made.through)

    assert heir.last is not None
    assert heir.last.hands == ("a_bot",)
    assert summed(story.entries).checkpoint().commands.commands[-1].hands == ()


def test_i3_what_is_kept_of_clients_and_of_turns_is_bounded() -> None:
    story = Story()
    for number in range(MAX_LAST + 3):
        story.tell(("input", "a_anna", f"c_{number}", "keys"))
    story.tell(("settle", "cut"))
    for number in range(MAX_HANDS + 3):
        story.tell(("turn", f"a_{number}", None))

    made = summed(story.entries).checkpoint()

    assert len(made.standing.last) == MAX_LAST, "I3"
    assert len(made.hands.had) == MAX_HANDS, "I3"
    forgotten = standing_of(made).forgotten
    assert forgotten.may_hold(Epoch(1)), "whoever was forgotten is not new"
    again_made = summed([], again(made)).checkpoint()
    assert again_made == made


def test_what_a_shell_began_with_is_kept() -> None:
    story = Story()
    for fields in initial_fields({PATH: b"x" * 16}, 8):
        story.write(EntryKind.CHANGED, fields)

    heir = Origins.load(again(summed(story.entries).checkpoint()).origins)

    assert heir.of(PATH) is None
    assert heir.digest(PATH) == b"x" * 16


def test_the_book_has_the_digest_of_what_was_written_down() -> None:
    raw = summed([]).checkpoint().to_bytes()

    fields = checkpoint_fields(raw)

    assert fields == {"state": hashlib.sha256(raw).hexdigest(), "size": len(raw)}


@pytest.mark.parametrize(
    "raw",
    [b"", b"{}", b"[]", b"nonsense", b"{" * 100_000],
)
def test_i2_what_is_no_checkpoint_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read_checkpoint(raw, SESSION)


def test_i2_a_checkpoint_of_another_session_is_refused() -> None:
    raw = summed([]).checkpoint().to_bytes()

    with pytest.raises(MalformedMessage):
        read_checkpoint(raw, SessionId("s_two"))
    with pytest.raises(MalformedMessage):
        read_checkpoint(raw[:-1], SESSION)


def test_what_became_of_the_last_inputs_is_written_down() -> None:
    story = Story()
    for number, word in enumerate(("applied", "cut", "dropped", "unknown")):
        story.tell(("input", "a_anna", f"c_{number}", "keys"), ("settle", word))
    made = summed(story.entries).checkpoint()

    assert standing_of(again(made)).past() == summed(story.entries).standing.past()


def test_a_doubt_about_an_input_that_is_not_read_again_is_settled_all_the_same() -> (
    None
):
    story = Story().tell(("input", "a_anna", "c_one", "keys"))
    entries = story.entries
    before = standing_of(again(summed(entries).checkpoint()))
    before.last.clear()
    at = Note(LIFE, Epoch(1), None, None, None, frozen=False)

    heir = inherit([], at, LIFE, before)

    assert heir.doubtful is not None
    assert heir.doubtful.word == "dropped"
    assert heir.inputs == ()


def test_the_last_input_before_what_is_read_is_known() -> None:
    story = Story().tell(
        ("input", "a_anna", "c_one", "keys"), ("input", "a_bot", "c_two", "keys")
    )
    before = standing_of(again(summed(story.entries).checkpoint()))
    at = Note(LIFE, Epoch(1), None, None, Index(1), frozen=False)

    heir = inherit(story.entries[1:], at, LIFE, before)

    assert [past.id.client for past in heir.inputs] == ["c_one", "c_two"]
