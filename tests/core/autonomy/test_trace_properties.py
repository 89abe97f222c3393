"""I1 to I3 of core/autonomy/trace.py, for whatever a book has."""

from hypothesis import given
from hypothesis import strategies as st
from tests.core.autonomy.book import ANNA, BOT, SESSION, entry

from holdfast.core.autonomy.trace import Trace
from holdfast.core.book.logbook import Entry, EntryKind

KINDS = [
    EntryKind.INTENDED,
    EntryKind.ASKED,
    EntryKind.ANSWERED,
    EntryKind.INPUT,
    EntryKind.REFUSED,
    EntryKind.SETTLED,
    EntryKind.BEGAN,
    EntryKind.FINISHED,
    EntryKind.OBSERVED,
    EntryKind.TURN,
    EntryKind.DECLINED,
]
NAMES = [
    *("actor", "actor_kind", "client", "input", "ticket", "by", "yes", "of", "as_"),
    *("number", "status", "duration", "trigger", "from_", "reason", "count"),
    *("files", "action", "attempt", "expects"),
]
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 4),
    st.sampled_from([BOT, ANNA, "agent", "human", "command", "keys", "seized", "x\ny"]),
)


@st.composite
def books(draw: st.DrawFn) -> list[Entry]:
    made = []
    for index in range(draw(st.integers(0, 12))):
        fields = draw(st.dictionaries(st.sampled_from(NAMES), values, max_size=8))
        made.append(entry(draw(st.sampled_from(KINDS)), index, index, **fields))
    return made


@given(books())
def test_no_entry_raises_anything_and_every_judged_input_is_one_act(
    book: list[Entry],
) -> None:
    trace = Trace(SESSION)
    for one in book:
        trace.feed(one)

    judged = [
        one
        for one in book
        if one.kind in (EntryKind.INPUT, EntryKind.REFUSED)
        and one.fields.get("actor_kind") != "human"
    ]
    told = [act for act in trace.acts if act.input or act.code]
    assert len(told) == len(judged)
    assert all(act.index <= book[-1].index for act in trace.acts)
    for act in trace.acts:
        assert act.is_clean in (True, False, None)
        assert act.has_succeeded in (True, False, None)
