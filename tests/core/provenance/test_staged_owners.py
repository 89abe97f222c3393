from hypothesis import given
from hypothesis import strategies as st
from tests.core.provenance.test_staged import ANNA, BOT, LINES

from holdfast.core.provenance.staged import StagedLine
from holdfast.model.ids import ActorId


@given(
    st.lists(
        st.tuples(st.sampled_from([ANNA, BOT]), st.binary(max_size=8), st.booleans())
    ),
    st.booleans(),
    st.booleans(),
)
def test_i1_whatever_is_typed_every_kept_byte_has_one_owner(
    typed: list[tuple[ActorId, bytes, bool]],
    is_marked: bool,  # noqa: FBT001  # drawn
    is_cooked: bool,  # noqa: FBT001  # drawn
) -> None:
    line = StagedLine(is_marked=is_marked)
    for actor, data, echo_off in typed:
        if is_cooked:
            line.typed(actor, data, LINES, echo_off=echo_off)
        else:
            line.typed(actor, data, echo_off=echo_off)

    assert len(line.owners()) == len(line.stands().data)
    assert set(line.owners()) <= set(line.stands().by)
