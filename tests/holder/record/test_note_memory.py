import pytest

from holdfast.core.book.inheritance import Note
from holdfast.holder.record.note_memory import AREA, NoteMemory
from holdfast.model.ids import ActorId, Epoch, Incarnation, Index


def note(epoch: int) -> Note:
    holder = ActorId("anna")
    return Note(Incarnation(1), Epoch(epoch), holder, None, Index(3), frozen=False)


def test_the_newest_note_is_read_by_a_successor() -> None:
    memory = memoryview(bytearray(AREA))
    first = NoteMemory(memory)
    first.keep(note(1))
    first.keep(note(2))

    assert NoteMemory(memory).read() == note(2)


def test_there_is_no_note_at_first() -> None:
    assert NoteMemory(memoryview(bytearray(AREA))).read() is None


def test_a_successor_goes_on_counting() -> None:
    memory = memoryview(bytearray(AREA))
    NoteMemory(memory).keep(note(1))
    NoteMemory(memory).keep(note(2))
    NoteMemory(memory).keep(note(3))

    assert NoteMemory(memory).read() == note(3)


@pytest.mark.parametrize("damage", range(0, AREA, 7))
def test_a_note_half_written_leaves_the_one_before(damage: int) -> None:
    memory = memoryview(bytearray(AREA))
    notes = NoteMemory(memory)
    notes.keep(note(1))
    before = bytes(memory)
    notes.keep(note(2))
    after = bytes(memory)
    # Some prefix of the bytes that changed has arrived, and the rest has not.
    memory[:] = after[:damage] + before[damage:]

    assert NoteMemory(memory).read() in (note(1), note(2))
