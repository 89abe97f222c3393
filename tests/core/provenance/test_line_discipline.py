from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.provenance.line_discipline import (
    MAX_INTERRUPTS,
    NOT_PLAIN,
    LineDiscipline,
    Meaning,
)

NEW = LineDiscipline()
READLINE = LineDiscipline(canonical=False, echo=False, cr_to_nl=False, literal=0)


@pytest.mark.parametrize(
    ("byte", "meaning"),
    [
        (b"a", Meaning.TEXT),
        (b"\0", Meaning.TEXT),
        (b"\r", Meaning.END),
        (b"\n", Meaning.END),
        (b"\x04", Meaning.FLUSH),
        (b"\x7f", Meaning.ERASE),
        (b"\x08", Meaning.TEXT),
        (b"\x17", Meaning.ERASE_WORD),
        (b"\x15", Meaning.KILL),
        (b"\x16", Meaning.LITERAL),
        (b"\x03", Meaning.SIGNAL),
        (b"\x1a", Meaning.SIGNAL),
        (b"\x13", Meaning.IGNORED),
    ],
)
def test_a_new_terminal_edits_as_its_characters_say(
    byte: bytes, meaning: Meaning
) -> None:
    assert NEW.meanings[byte[0]] is meaning


@pytest.mark.parametrize(
    ("changed", "byte", "meaning"),
    [
        ({"kill": 0}, 0x15, Meaning.TEXT),
        ({"kill": 0x18}, 0x18, Meaning.KILL),
        ({"kill": 0x18}, 0x15, Meaning.TEXT),
        ({"ends": (0x3B, 0)}, 0x3B, Meaning.FLUSH),
        ({"extended": False}, 0x16, Meaning.TEXT),
        ({"extended": False}, 0x17, Meaning.TEXT),
        ({"signals": False}, 0x03, Meaning.TEXT),
        ({"keeps": True}, 0x03, Meaning.QUIET_SIGNAL),
        ({"cr_to_nl": False}, 0x0D, Meaning.TEXT),
        ({"nl_to_cr": True}, 0x0A, Meaning.TEXT),
        ({"ignores_cr": True}, 0x0D, Meaning.IGNORED),
        ({"ignores_cr": True}, 0x61, Meaning.TEXT),
        ({"ignores_cr": True}, 0x0A, Meaning.END),
        ({"alters": True}, 0x0D, Meaning.TEXT),
    ],
)
def test_what_was_changed_counts(
    changed: dict[str, object], byte: int, meaning: Meaning
) -> None:
    assert replace(NEW, **changed).meanings[byte] is meaning  # type: ignore[arg-type]


@given(st.integers(0, 255))
def test_i1_single_keys_are_handed_on(byte: int) -> None:
    is_other = byte in {*READLINE.interrupts, *READLINE.swallows}

    assert (READLINE.meanings[byte] is Meaning.TEXT) is not is_other


def test_i2_what_is_switched_off_means_nothing() -> None:
    off = LineDiscipline(
        erase=0,
        erase_word=0,
        kill=0,
        literal=0,
        end_of_file=0,
        ends=(0, 0),
        interrupts=(0, 0, 0),
        swallows=(0,),
    )

    found = {byte for byte in range(256) if off.meanings[byte] is not Meaning.TEXT}
    assert found == {0x0A, 0x0D}


@pytest.mark.parametrize(
    ("changed", "is_one"),
    [
        ({}, True),
        ({"canonical": True}, False),
        ({"echo": True}, False),
        ({"signals": False}, False),
        ({"literal": 0x16}, False),
    ],
)
def test_a_line_editor_is_known_by_all_of_its_settings(
    changed: dict[str, object],
    is_one: bool,  # noqa: FBT001  # a parameter
) -> None:
    found = replace(READLINE, **changed)  # type: ignore[arg-type]

    assert found.is_line_editor is is_one


@pytest.mark.parametrize(
    ("changed", "edits"),
    [({}, True), ({"alters": True}, False), ({"canonical": False}, False)],
)
def test_only_whole_lines_that_nothing_alters_can_be_followed(
    changed: dict[str, object],
    edits: bool,  # noqa: FBT001  # a parameter
) -> None:
    assert replace(NEW, **changed).edits is edits  # type: ignore[arg-type]


def test_only_printable_text_is_plain() -> None:
    usual, other = LineDiscipline(), LineDiscipline(kill=ord("@"))

    text = bytes(range(256)).translate(usual.plain)
    assert [byte for byte, is_plain in enumerate(text) if is_plain] == [
        *range(0x20, 0x7F),
        *range(0x80, 0x100),
    ]
    assert b"a@b".translate(other.plain)[1:2] == NOT_PLAIN


def test_only_the_interrupt_key_alone_interrupts() -> None:
    terminal = LineDiscipline()

    assert terminal.is_interrupt(b"\x03")
    assert terminal.is_interrupt(b"\x03" * MAX_INTERRUPTS)
    assert not terminal.is_interrupt(b"\x03" * (MAX_INTERRUPTS + 1))
    assert not terminal.is_interrupt(b"")
    assert not terminal.is_interrupt(b"\x1c")
    assert not terminal.is_interrupt(b"\x03x")


@pytest.mark.parametrize(("key", "is_one"), [(0, False), (0x78, False), (0x7F, True)])
def test_an_interrupt_key_is_a_control_character(key: int, *, is_one: bool) -> None:
    terminal = LineDiscipline(interrupts=(key, 0x1C, 0x1A))

    assert terminal.is_interrupt(bytes([key])) is is_one
    assert not LineDiscipline(signals=False).is_interrupt(b"\x03")
