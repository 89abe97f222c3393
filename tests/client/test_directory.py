import pytest

from holdfast.client import directory
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId

BOT = ActorId("a_" + "b" * 32)


@pytest.mark.parametrize(
    "facts",
    [None, "bot", {}, {"name": "bot"}, {"name": 7, "kind": "agent"}, {"kind": "human"}],
)
def test_what_a_host_says_amiss_is_no_name(facts: object) -> None:
    assert list(directory._actors({BOT: facts})) == []  # noqa: SLF001  # a hostile host


def test_t57_a_name_from_a_host_is_harmless_on_a_terminal() -> None:
    facts = {"name": "\x1b[2Jbot" + "x" * 99, "kind": "human"}
    ((known, actor),) = directory._actors({BOT: facts})  # noqa: SLF001  # as above

    assert (known, actor.kind) == (BOT, ActorKind.HUMAN)
    assert "\x1b" not in actor.name
    assert actor.name.endswith("…")
