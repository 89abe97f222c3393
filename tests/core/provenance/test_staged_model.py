"""The line against plain models of it: all bytes, and two authors."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.core.provenance.staged import LINE_EDITOR, StagedLine
from holdfast.model.ids import ActorId, actor_id

ANNA, BOT = actor_id(b"\1" * 32), actor_id(b"\2" * 32)
SPECIAL = b"\x03\x04\x08\t\n\r\x0f\x11\x13\x15\x16\x17\x1a\x1b\x1c\x7f a_-\xc3\xa9"

keys = st.sampled_from(SPECIAL) | st.integers(0, 255)
presses = st.lists(st.tuples(st.sampled_from([ANNA, BOT]), keys), max_size=40)


class Model:
    """At a prompt with marks: who may have a hand in the line, and nothing else."""

    def __init__(self) -> None:
        self.lines: list[set[ActorId]] = [set()]

    def press(self, actor: ActorId, key: int) -> None:
        if key in b"\x11\x13":  # The terminal's own.
            return
        if key in b"\r\n":
            if self.lines[-1]:
                self.lines[-1].add(actor)
            self.lines.append(set())
        elif key in b"\x03\x1c\x1a":
            if self.lines[-1]:
                self.lines[-1].add(actor)
                self.lines.append(set())
        else:
            self.lines[-1].add(actor)

    def prompt(self) -> None:
        if len(self.lines) > 1:
            del self.lines[0]

    @property
    def hands(self) -> set[ActorId]:
        return set().union(*self.lines)


steps = st.lists(st.tuples(st.sampled_from([ANNA, BOT]), keys) | st.none(), max_size=50)


@given(steps)
def test_i3_i4_at_a_prompt_everybody_s_hand_is_known_until_a_mark(
    given_steps: list[tuple[ActorId, int] | None],
) -> None:
    line, model = StagedLine(is_marked=True), Model()
    line.prompted()
    for step in given_steps:
        if step is None:
            line.prompted()
            model.prompt()
        else:
            line.typed(step[0], bytes([step[1]]), echo_off=False)
            model.press(*step)
        assert set(line.stands().by) == model.hands
        assert line.stands().is_empty is not bool(model.hands)


@given(presses)
def test_i1_what_was_typed_plainly_has_its_authors_in_order(
    pressed: list[tuple[ActorId, int]],
) -> None:
    plain = [(who, key) for who, key in pressed if 0x20 <= key < 0x7F]
    line = StagedLine(is_marked=True)
    line.prompted()
    for who, key in plain:
        line.typed(who, bytes([key]), echo_off=False)

    found = line.stands()
    assert found.data == bytes(key for _, key in plain)
    assert line.owners() == tuple(who for who, _ in plain)
    assert found.by == tuple(dict.fromkeys(who for who, _ in plain))
    assert not found.is_edited


texts = st.lists(
    st.tuples(st.sampled_from([ANNA, BOT]), st.lists(keys, max_size=30).map(bytes)),
    max_size=8,
)
terminals = st.sampled_from([LINE_EDITOR, LineDiscipline(), LineDiscipline(utf8=True)])


@given(texts, terminals, st.booleans(), st.booleans())
def test_what_comes_at_once_means_what_it_means_key_by_key(
    typed: list[tuple[ActorId, bytes]],
    terminal: LineDiscipline,
    is_marked: bool,  # noqa: FBT001  # drawn
    echo_off: bool,  # noqa: FBT001  # drawn
) -> None:
    whole, single = StagedLine(is_marked=is_marked), StagedLine(is_marked=is_marked)
    for who, data in typed:
        ended = whole.typed(who, data, terminal, echo_off=echo_off)
        one_by_one = [
            found
            for key in data
            for found in single.typed(who, bytes([key]), terminal, echo_off=echo_off)
        ]

        assert ended == one_by_one
        assert whole.stands() == single.stands()
        assert whole.owners() == single.owners()
