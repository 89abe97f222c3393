"""The facts of a request for a session are those of a Creation, proven the same way."""

from pathlib import Path

import pytest
from tests.cli.support.operating import be_known

from holdfast.cli import new_request
from holdfast.cli.new_request import NewOptions
from holdfast.client import wanted_session
from holdfast.client.wanted_session import proven_facts, proven_facts_by_us
from holdfast.crypto.proof import is_creation_proof, proven_creation
from holdfast.model.ids import ActorId
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Creation, packet_of
from holdfast.wire.creation import proven_bytes

BOT = ActorId("a_" + "b" * 32)
TOKEN = b"t" * 32


@pytest.fixture(autouse=True)
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    be_known(tmp_path, monkeypatch)


def options(**chosen: object) -> NewOptions:
    made = NewOptions([])
    for name, value in chosen.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"command": ["cat", "-v"], "name": "web", "size": "80x24"},
        {"on": "box"},
        {"on": "box", "cwd": "/srv", "env": ["A=b"], "exec_gate": True},
        {"no_integration": True, "cwd": "/usr"},
    ],
)
def test_what_is_asked_for_is_the_packet_of_a_creation(
    chosen: dict[str, object],
) -> None:
    asked = new_request.asked(options(**chosen))

    assert asked == packet_of(record_of(Creation, asked))
    assert ("command" in asked) is ("on" not in chosen)


def test_facts_are_proven_as_a_creation_is() -> None:
    asked = Creation(name="web", command=("cat",), env={"A": "b"}, client=None)

    facts = proven_facts(packet_of(asked), BOT, TOKEN)

    made = record_of(Creation, facts)
    assert packet_of(made) == facts
    assert made == proven_creation(made, TOKEN)
    assert made.creator == BOT
    assert is_creation_proof(TOKEN, proven_bytes(facts), bytes.fromhex(made.proof))


def test_a_client_that_was_chosen_is_kept() -> None:
    asked = Creation(client="c_" + "b" * 16)

    assert proven_facts(packet_of(asked), BOT, TOKEN)["client"] == asked.client
    first, second = (proven_facts_by_us({"do": "create"}) for _ in range(2))
    assert first["client"] != second["client"]


def test_without_a_token_in_its_place_the_ordinary_way_finds_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = wanted_session.own_token()

    def missing(name: str) -> bytes:
        raise FileNotFoundError(name)

    monkeypatch.setattr(wanted_session, "own_file", missing)
    assert wanted_session.own_token() == before
