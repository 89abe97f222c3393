from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.requests_world import Here, refusals, requested

from holdfast.core.session.session_state import Evidence
from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.holder.processes.recent_activity import LONGEST, SHORTEST, RecentActivity
from holdfast.linux.procfs import TICKS
from holdfast.model.actors import ActorKind
from holdfast.model.inputs import InputKind
from holdfast.model.session_record import NO_ATTENTION
from holdfast.term.attention import Call
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.codec import Message
from holdfast.wire.intents import Notify

COME = Call("message", "come")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    with requested(tmp_path, monkeypatch) as made:
        yield made


def events(said: list[Message]) -> list[tuple[str, dict[str, object]]]:
    return [(one.name, dict(one.fields)) for one in said if isinstance(one, wire.Event)]


def test_a_call_is_told_to_everybody_and_kept_in_the_record(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")

    here.session.attention.printed(COME)

    ((name, fields),) = events(anna.told())
    assert events(bert.told()) == [(name, fields)]
    assert name == "attention.called"
    kept = here.world.context.descriptors.record.attention
    assert fields == kept._asdict()
    assert (kept.what, kept.text, kept.source) == ("message", "come", "program")


@pytest.mark.parametrize(
    ("kind", "payload"), [(InputKind.KEYS, b"x"), (InputKind.SIGNAL, b"28")]
)
def test_an_input_clears_it_and_a_resize_does_not(
    here: Here, kind: InputKind, payload: bytes
) -> None:
    anna = here.join()
    here.session.attention.printed(COME)
    anna.submit(b"90x30", InputKind.RESIZE)
    assert here.world.context.descriptors.record.attention.what == "message"
    anna.told()

    anna.submit(payload, kind)

    cleared = ("attention.cleared", {"what": "message", "actor": anna.id})
    assert events(anna.told()) == [cleared]
    assert here.world.context.descriptors.record.attention == NO_ATTENTION
    assert not here.session.attention.is_on


def test_a_key_where_nothing_stands_tells_nobody(here: Here) -> None:
    anna = here.join()

    anna.submit(b"x")

    assert events(anna.told()) == []
    assert here.session.attention.typed_at > 0


def test_a_bell_after_a_key_is_told_when_it_has_waited(here: Here) -> None:
    anna, timers = here.join(), here.world.context.timers
    anna.submit(b"\t")
    anna.told()

    here.session.attention.printed(Call("bell"))

    assert events(anna.told()) == []
    assert timers.waits  # A session does not doze meanwhile.
    timers.tick(here.session.attention.typed_at + 1)
    assert [name for name, _ in events(anna.told())] == ["attention.called"]


def test_who_comes_later_is_told_what_stands(here: Here) -> None:
    here.session.attention.printed(COME)
    anna = here.join()

    here.session.presence.brief(anna.connection)

    assert [fields["text"] for _, fields in events(anna.told())] == ["come"]


def test_the_end_of_a_session_takes_its_call_along(here: Here) -> None:
    anna = here.join()
    here.session.attention.ended()
    here.session.attention.printed(COME)
    anna.told()

    here.session.attention.ended()

    assert here.world.context.descriptors.record.attention == NO_ATTENTION
    assert events(anna.told()) == []


def test_an_operator_calls_who_may_type_or_run_and_no_observer(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)

    for rights, codes in (
        (("observe",), ["not-allowed"]),
        (("input",), []),
        (("command",), []),
    ):
        here.ask(anna, presence.Grant(bot.id, rights, 0))
        bot.told()
        said = here.ask(bot, Notify(f"with {rights[0]}\x1b[2J"))
        assert [code for code, _ in refusals(said)] == codes
    kept = here.world.context.descriptors.record.attention
    assert (kept.what, kept.source) == ("needs-input", bot.id)
    assert kept.text == "with command\\x1b[2J"


# ── what was done lately ──────────────────────────────────────────────────────


def lately(here: Here, capacity: int = 64) -> tuple[RecentActivity, StreamWindow]:
    window = StreamWindow.create(memoryview(bytearray(HEADER + capacity)))
    return RecentActivity(window, here.session.attention), window


def used(seconds: float, group: int = 7) -> Evidence:
    return Evidence(group, ticks=round(seconds * TICKS))


def test_the_alternate_screen_is_found_once_and_stays_known(here: Here) -> None:
    look, window = lately(here)

    found = []
    for printed in (b"$ vim", b"\x1b[?10", b"49h", b"x" * 60, b"\x1b[?1049l$ "):
        window.append(printed)
        found.append(look.look(used(0), 1).is_alternate)

    assert found == [False, False, True, True, False]


def test_what_follows_a_key_is_its_echo(here: Here) -> None:
    look, _ = lately(here)
    attention = here.session.attention

    assert look.look(used(0), 99).quiet is None
    attention.printed_at = 100
    assert look.look(used(0), 101).quiet == 1
    attention.typed_at, attention.printed_at = 110, 110.1
    assert look.look(used(0), 111).quiet is None
    assert look.look(used(0), 114.1).quiet == 4
    attention.printed_at = 112
    assert look.look(used(0), 115).quiet == 3


def test_processor_time_is_compared_with_the_last_look_at_the_same_group(
    here: Here,
) -> None:
    look, _ = lately(here)

    assert look.look(used(1), 100).processor is None
    assert look.look(used(1), 100 + SHORTEST / 2).processor is None
    assert look.look(used(1.5), 101).processor == 0.5
    assert look.look(used(9, group=8), 102).processor is None
    assert look.look(used(9, group=8), 103).processor == 0
    assert look.look(used(10, group=8), 104 + LONGEST).processor is None
