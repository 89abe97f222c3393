import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.docs.test_logbook_spec import WRITTEN

from holdfast.cli.story import Line, Story, Tone, actors_of, shown_keys
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.model.ids import FIRST_INCARNATION, Epoch, Index
from holdfast.model.text import printable
from holdfast.wire.lines import Value

ANNA, BOT = "a_anna", "a_bot"
UNSEEN = "5ec4e7"


class Book:
    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, kind: str, at: int = 0, /, **fields: Value) -> "Book":
        index = Index(len(self.entries))
        self.entries.append(
            Entry(
                index,
                b"",
                b"",
                EntryKind(kind),
                FIRST_INCARNATION,
                Epoch(1),
                at,
                {name.rstrip("_"): value for name, value in fields.items()},
            )
        )
        return self

    def types(self, text: str | None, at: int = 0, actor: str = ANNA) -> "Book":
        fields: dict[str, Value] = {"actor": actor, "input": "keys", "rule": "r"}
        if text is None:
            return self.add("input", at, **fields, size=8, secret=UNSEEN)
        data = base64.b64encode(text.encode()).decode()
        return self.add("input", at, **fields, data=data)

    def does(self, what: str, payload: str, **more: Value) -> "Book":
        data = base64.b64encode(payload.encode()).decode()
        return self.add("input", actor=ANNA, input=what, rule="r", data=data, **more)

    def told(self) -> list[Line]:
        story = Story(lambda actor: printable(actor.removeprefix("a_")))
        lines = [line for entry in self.entries for line in story.tell(entry)]
        return [*lines, *story.rest()]

    def texts(self) -> list[str]:
        return [line.text for line in self.told()]


def test_keys_in_quick_succession_are_one_line_that_ends_with_enter() -> None:
    book = Book()
    for number, key in enumerate("ls\rpwd"):
        book.types(key, at=number * 300).add("settled", of=number, as_="applied")

    assert book.texts() == ["typed ls⏎", "typed pwd"]


def test_a_pause_or_another_operator_begins_a_new_line() -> None:
    book = Book().types("a").types("b", 2000).types("c", 4001).types("d", 4001, BOT)

    assert [(line.actor, line.text) for line in book.told()] == [
        (ANNA, "typed ab"),
        (ANNA, "typed c"),
        (BOT, "typed d"),
    ]


def test_a_clock_set_back_begins_a_new_line() -> None:
    assert Book().types("a", 5000).types("b", 1000).texts() == ["typed a", "typed b"]


def test_a_letter_cut_in_two_between_inputs_is_shown_whole() -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    book = Book()
    for half in (first, second):
        data = base64.b64encode(half).decode()
        book.add("input", actor=ANNA, input="keys", data=data)

    assert book.texts() == ["typed é"]


def test_what_was_not_echoed_is_not_told_not_even_its_length() -> None:
    book = Book().types("su\r").types(None).types(None)

    assert book.texts() == [
        "typed su⏎",
        "typed something that the terminal did not echo",
    ]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (b"\x03", "⌃C"),
        (b"\x1b[A\x1b[B", "↑↓"),
        (b"\x1bOP", "⎋OP"),
        (b"a\tb\x7f", "a⇥b⌫"),
        (b"\xff", "\\xff"),
        ("⏎⌃C".encode(), "\\u23ce\\u2303C"),
        ("\u202egnp".encode(), "\\u202egnp"),
        (b"x" * 250, "x" * 200 + "… and 50 more"),
        (b"", ""),
    ],
)
def test_keys_are_shown_by_signs_that_cannot_be_typed(typed: bytes, shown: str) -> None:
    assert shown_keys(typed) == shown


@pytest.mark.parametrize(
    ("what", "payload", "text"),
    [
        ("command", "make test", "ran make test"),
        ("signal", "2", "sent SIGINT"),
        ("signal", "two", "sent input of kind signal"),
        ("resize", "120x40", "resized the terminal to 120x40"),
        ("poem", "", "sent input of kind poem"),
        (
            "start",
            "cd /srv && PATH=/usr/local/sbin:/usr/local/bin:/usr/bin:/bin make",
            "started the session with cd /srv && PATH=/usr/local/sbin:/usr/loc… make",
        ),
    ],
)
def test_other_inputs_are_told_by_what_they_do(
    what: str, payload: str, text: str
) -> None:
    assert Book().does(what, payload).texts() == [text]


@pytest.mark.parametrize("what", ["answer", "command", "resize", "signal", "poem"])
def test_other_inputs_that_were_not_echoed_are_told_without_what_they_say(
    what: str,
) -> None:
    book = Book().add("input", actor=ANNA, input=what, secret=UNSEEN)

    (text,) = book.texts()
    assert text
    assert UNSEEN not in text


def test_who_else_staged_what_an_input_runs_is_told() -> None:
    book = Book().does("command", "deploy", originators=f"{BOT},a_eve", approver=BOT)
    book.types("x").add("input", actor=ANNA, input="keys", data="DQ==", originators=BOT)

    assert book.texts() == [
        "ran deploy  — staged by bot, eve  — approved by bot, rule r",
        "typed x⏎  — staged by bot",
    ]
    assert [*actors_of(book.entries[0])] == [ANNA, BOT, BOT, "a_eve"]


def test_an_approved_input_names_who_approved_it_and_the_rule() -> None:
    book = Book().does("command", "rm x", approver=BOT)

    assert book.texts() == ["ran rm x  — approved by bot, rule r"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"as_": "cut", "written": 3}, "only 3 bytes of the input at 0 were written"),
        ({"as_": "dropped"}, "nothing of the input at 0 was written"),
        ({"as_": "unknown"}, "whether the input at 0 was written is not known"),
    ],
)
def test_an_outcome_that_is_not_plain_is_told_of_whoever_typed(
    fields: dict[str, Value], text: str
) -> None:
    line = Book().types("abc\r").add("settled", of=0, **fields).told()[-1]

    assert (line.actor, line.text, line.tone) == (ANNA, text, Tone.LOUD)


@pytest.mark.parametrize(
    ("reason", "actor", "text"),
    [
        ("taken", BOT, "took the turn"),
        ("given", ANNA, "gave the turn to bot"),
        ("answered", ANNA, "gave the turn to bot, who had asked"),
        ("defaulted", BOT, "got the turn: anna did not answer"),
        ("dropped", ANNA, "released the turn"),
        ("seized", BOT, "seized the turn from anna"),
        ("expired", ANNA, "lost the turn: its time ran out"),
        ("abandoned", ANNA, "lost the turn: away too long"),
        ("revoked", ANNA, "lost the turn: its rights were revoked"),
        ("stolen", BOT, "moved the turn"),
    ],
)
def test_a_turn_is_told_of_whoever_moved_it(reason: str, actor: str, text: str) -> None:
    (line,) = Book().add("turn", from_=ANNA, to=BOT, reason=reason).told()

    assert (line.actor, line.text) == (actor, text)


def test_a_turn_tells_what_was_thrown_away() -> None:
    book = Book().add(
        "turn", to=BOT, reason="seized", dropped_inputs=2, dropped_bytes=40
    )

    assert book.texts() == [
        "seized the turn from nobody; 2 inputs of 40 bytes discarded"
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "actor", "text"),
    [
        ("opened", {}, "", "The session started."),
        (
            "opened",
            {"no_capsule": "its disk is odd"},
            "",
            "The session started, without a capsule: its disk is odd",
        ),
        ("attached", {"actor": BOT}, BOT, "attached"),
        (
            "refused",
            {"actor": BOT, "code": "denied-by-policy", "rule": "no-rm"},
            BOT,
            "was refused: denied-by-policy (rule no-rm)",
        ),
        (
            "answered",
            {"by": ANNA, "ticket": 4, "yes": True},
            ANNA,
            "approved request 4",
        ),
        ("answered", {"by": ANNA, "ticket": 4, "yes": False}, ANNA, "denied request 4"),
        (
            "granted",
            {"by": ANNA, "actor": BOT, "rights": "input,take"},
            ANNA,
            "granted bot: input,take",
        ),
        (
            "granted",
            {"by": "", "actor": BOT, "rights": "observe"},
            BOT,
            "has observe by default",
        ),
        ("ending", {"by": ANNA, "signal": 15}, ANNA, "ended the session with SIGTERM"),
        ("frozen", {"by": ANNA, "dropped_inputs": 0}, ANNA, "froze the session"),
        ("exited", {"how": "code 0"}, "", "The program exited: code 0"),
        ("exited", {}, "", "The program exited: ?"),
    ],
)
def test_every_other_kind_has_its_sentence(
    kind: str, fields: dict[str, Value], actor: str, text: str
) -> None:
    (line,) = Book().add(kind, **fields).told()

    assert (line.actor, line.text) == (actor, text)


def test_a_real_book_is_told_without_a_question_mark() -> None:
    story = Story(str)
    lines = [line for entry in WRITTEN for line in story.tell(entry)]

    assert lines
    assert not [line for line in lines if "?" in line.text]


def test_the_actors_of_an_entry_are_all_it_names() -> None:
    (entry,) = Book().add("turn", from_=ANNA, to=BOT, reason="x").entries

    assert list(actors_of(entry)) == [ANNA, BOT]


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
NAMES = st.sampled_from(
    sorted({name for entry in WRITTEN for name in entry.fields} | {"secret", "written"})
)


@given(
    st.lists(
        st.tuples(st.sampled_from(EntryKind), st.dictionaries(NAMES, VALUES)),
        max_size=6,
    )
)
def test_no_entry_however_strange_stops_the_story_or_reaches_the_terminal(
    entries: list[tuple[EntryKind, dict[str, Value]]],
) -> None:
    book = Book()
    for kind, fields in entries:
        book.add(kind.value, **{f"{name}_": value for name, value in fields.items()})

    for text in book.texts():
        assert text.isprintable()


def test_what_a_roll_back_has_undone_is_marked() -> None:
    book = Book().types("a\r").types("b\r").add("imaged", by=ANNA, image=1, label="")
    book.types("c")
    story = Story(lambda actor: actor, [range(1, 4)])

    lines = [line for entry in book.entries for line in story.tell(entry)]
    lines += story.rest()

    assert [line.text.endswith("(undone)") for line in lines] == [
        False,
        True,
        False,
        True,
    ]
    assert lines[1].tone is Tone.QUIET
