"""What operators sign of their inputs, and what fits none of them."""

from tests.holder.input_world import World

from holdfast.core.book.logbook import EntryKind
from holdfast.wire import messages as wire
from holdfast.wire.frames import FrameKind
from holdfast.wire.signatures import STEP, Sign


def test_a_signature_that_fits_nothing_is_refused_and_on_record(here: World) -> None:
    anna = here.join()
    anna.told()
    client = anna.connection.client
    assert client is not None
    nothing = {"key": bytes(32), "rotations": b"", "signature": bytes(64)}

    here.requests.take(
        anna.connection,
        Sign(client=client, last=1, steps=bytes(STEP), **nothing),
    )
    here.session.settle()

    (said,) = [one for one in anna.told() if isinstance(one, wire.Refuse)]
    assert said.refused == FrameKind.SIGN
    (declined,) = [
        one.fields for one in here.entries() if one.kind is EntryKind.DECLINED
    ]
    assert (declined["actor"], declined["request"]) == (anna.id, "sign")
