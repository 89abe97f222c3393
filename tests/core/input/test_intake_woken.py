"""A session that dozed is taken up without a word in the book."""

from dataclasses import replace

from holdfast.core.book.inheritance import inherit
from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import KeepNote, Settings
from holdfast.model.ids import Incarnation, SessionId
from holdfast.model.moments import Moment

SESSION = SessionId("s_one")
LIFE = Incarnation(1)
AT = Moment(5.0, 1_000.0)


def intake() -> Intake:
    return Intake(Settings(SESSION, LIFE, b"secret"), Logbook(genesis(SESSION)))


def test_a_death_is_in_the_book() -> None:
    effects = intake().resume(inherit([], None, LIFE), AT)

    stored = [one.entry.kind for one in effects if isinstance(one, Store)]
    assert stored == [EntryKind.OPENED]


def test_a_sleep_is_not() -> None:
    found = replace(inherit([], None, LIFE), beginning=None)

    effects = intake().resume(found, AT)

    assert [type(one) for one in effects] == [KeepNote]
