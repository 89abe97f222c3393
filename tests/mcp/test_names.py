from holdfast.mcp.names import mentions, named, names_of
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ENTROPY, ActorId, client_id
from holdfast.wire.messages import ClientKind, Mode
from holdfast.wire.presence import Present

ANNA, BERT = ActorId("a_" + "a" * 32), ActorId("a_" + "b" * 32)
PRESENT = Present(
    actor=ANNA,
    kind=ActorKind.HUMAN,
    name="anna",
    client=client_id(bytes(ENTROPY)),
    program=ClientKind.CLI,
    mode=Mode.OPERATE,
    for_ms=5,
)


def test_who_is_here_has_a_name_and_of_a_stranger_the_beginning_of_the_id() -> None:
    name = names_of([PRESENT], is_here=False)

    assert name(ANNA) == "anna"
    assert name(BERT) == "a_bbbbbbbb"


def test_a_kind_is_said_if_it_matters() -> None:
    name = names_of([PRESENT], is_here=False, with_kind=True)

    assert named(f"{ANNA} has the turn", name) == "anna (human) has the turn"


def test_only_whole_ids_are_replaced() -> None:
    name = names_of([PRESENT], is_here=False)

    assert named("a_aaaa and a_", name) == "a_aaaa and a_"
    assert mentions(f"see {BERT}")
    assert not mentions("see a_bbbb")
