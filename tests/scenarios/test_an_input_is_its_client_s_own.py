"""A client sends inputs under its own id, and under no other."""

import os
from collections.abc import Iterator

import pytest
from tests.scenarios.support import LIFE, Machine, machine

from holdfast.model.ids import ENTROPY, client_id
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def test_an_input_under_another_client_s_id_is_not_served(here: Machine) -> None:
    anna = here.join(here.new("cat"))
    anna.enter(b"mine\r")

    anna.send(
        wire.Submit(
            client=client_id(os.urandom(ENTROPY)),
            sequence=1,
            kind=InputKind.KEYS,
            incarnation=LIFE,
            epoch=anna.epoch,
            payload=b"others\r",
            seen=None,
            waits=True,
        )
    )

    refused = anna.wait(wire.Refuse, wire.Acknowledge)
    assert getattr(refused, "code", "") == "unexpected-message"
    anna.wait_output(b"mine")
    assert b"others" not in anna.output
