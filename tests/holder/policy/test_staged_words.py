from holdfast.core.provenance.originators import Origin, Traced
from holdfast.core.shell.shell_state import ChangeKind, Item, ItemKind
from holdfast.holder.policy.staged_words import changed, shown
from holdfast.model.ids import actor_id
from holdfast.model.resolutions import (
    Link,
    Resolution,
    Resolved,
    Sort,
    Staging,
    Thing,
)
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.codec import decode, encode
from holdfast.wire.frames import FrameReader
from holdfast.wire.presence import MAX_CHANGED
from holdfast.wire.trials import Tried

BOT = actor_id(b"bot")


def traced(name: str, command: int) -> Traced:
    origin = Origin(command, BOT, (BOT,), "x", 0)
    return Traced(Item(ItemKind.ALIAS, name), ChangeKind.ADDED, b"", origin)


def test_what_is_no_line_runs_nothing() -> None:
    assert shown(None) == ("", ())


def test_whatever_a_line_runs_can_be_sent() -> None:
    long = "/" + "x" * 5000
    staged = tuple(
        Staging(Thing.FILE, f"{long}\udcff{number}", (BOT,) * 9) for number in range(50)
    )
    line = Resolution((Resolved((Link(Sort.SCRIPT, long),) * 9, staged),))

    runs, uses = shown(line)

    tried = Tried(Verdict.ASK, "rule", "", runs, uses, "d1")
    (frame,) = FrameReader().feed(encode(tried))
    assert decode(frame) == tried
    assert uses[0].name.startswith("…")
    assert uses[0].name.endswith("0")


def test_the_last_changes_come_first_and_only_so_many() -> None:
    many = [traced(f"a{number}", number) for number in range(MAX_CHANGED + 1)]

    told = changed(many)

    assert [one.command for one in told] == [*range(MAX_CHANGED, 0, -1)]
    assert told[0] == wire.Staged("alias", "a32", (BOT,), 32, sure=True)
