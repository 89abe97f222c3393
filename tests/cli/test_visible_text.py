from holdfast.cli.visible_text import facts, legend, marked
from holdfast.term.unseen import Hidden, Reason


def test_a_stretch_stands_between_marks_that_say_why() -> None:
    hidden = [Hidden(1, 3, 6, Reason.CONCEALED), Hidden(1, 0, 1, Reason.SAME_COLOUR)]

    assert marked(["plain", "a b cat d"], hidden) == [
        "plain",
        "⟦same-colour: a⟧ b⟦concealed:  ca⟧t d",
    ]


def test_what_has_no_letters_is_written_as_numbers_or_not_at_all() -> None:
    hidden = [Hidden(0, 1, 2, Reason.BIDI), Hidden(0, 3, 4, Reason.ZERO_WIDTH)]

    assert marked(["a\ufffdb\u3164c"], hidden) == ["a⟦bidi⟧b⟦zero-width: U+3164⟧c"]


def test_no_program_can_forge_or_close_a_mark() -> None:
    line = "⟦fine⟧ x⟧ rm"

    assert marked([line], [Hidden(0, 7, 12, Reason.CONCEALED)]) == [
        "\ufffdfine\ufffd ⟦concealed: x\ufffd rm⟧"
    ]


def test_the_legend_names_every_reason_once() -> None:
    told = legend(tuple(Hidden(0, at, at + 1, Reason.BIDI) for at in range(3)))

    assert told.endswith(": bidi")


def test_programs_are_told_the_place_the_reason_and_the_text() -> None:
    assert facts(Hidden(0, 1, 3, Reason.CONCEALED), ("abcd",)) == {
        "row": 0,
        "start": 1,
        "end": 3,
        "reason": "concealed",
        "text": "bc",
    }
