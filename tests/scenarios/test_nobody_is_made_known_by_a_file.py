"""A program that can write holdfast's files, and no more, gives nobody a right."""

import contextlib
import hashlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import PATIENCE, Machine, machine

from holdfast.cli.main import main
from holdfast.client import current_operator, own_name
from holdfast.crypto.keys import SigningKey
from holdfast.crypto.local_proof import local_proof
from holdfast.linux.stored import invites, operators, places
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import InviteUnknown
from holdfast.model.ids import SessionId, actor_id
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties
from holdfast.wire.codec import Message, decode, encode
from holdfast.wire.frames import FrameReader
from holdfast.wire.versions import SPOKEN

FAR_AWAY = 4e9
KNOWN = b"k" * 32
"""A token, or a seed, that the attacker has chosen."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        current_operator.ourselves()
        yield made


@pytest.fixture
def bot() -> Enrolled:
    return current_operator.enrol("bot", ActorKind.AGENT)


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("cat")


def facts_of(one: Enrolled) -> Path:
    return Path(one.folder, "operator.json")


def rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def _becomes_human(bot: Enrolled) -> None:
    rewrite(facts_of(bot), kind="human")


def _gets_an_envelope(bot: Enrolled) -> None:
    every = {"rights": [*Right], "session": None, "expires_ms": None}
    rewrite(facts_of(bot), invite="00" * 16, envelope=every)


def _takes_a_seal(bot: Enrolled) -> None:
    person = json.loads(facts_of(current_operator.ourselves()).read_text())
    rewrite(facts_of(bot), kind="human", seal=person["seal"])


def _without_a_seal(bot: Enrolled) -> None:
    facts = json.loads(facts_of(bot).read_text())
    facts.pop("seal")
    facts_of(bot).write_text(json.dumps({**facts, "kind": "human"}))


@pytest.mark.parametrize(
    "attack", [_becomes_human, _gets_an_envelope, _takes_a_seal, _without_a_seal]
)
@pytest.mark.usefixtures("here")
def test_an_edited_operator_is_nobody(
    bot: Enrolled,
    session: SessionId,
    attack: Callable[[Enrolled], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    attack(bot)

    assert refused(session, bot).code == "unknown-operator"
    assert main(["--as", "bot", "operators", "add", "ally", "--kind", "human"]) != 0
    assert operators.by_name("ally") is None
    assert main(["--as", own_name.login_name(), "operators"]) == 0
    assert "'bot' is damaged" in capsys.readouterr().err


def refused(session: SessionId, who: Enrolled, token: bytes = b"") -> wire.Refuse:
    """Return why a holder does not take somebody for who they say they are."""
    with contextlib.closing(Link(session)) as link:
        answer = link.identify(who, token or Path(who.folder, "token").read_bytes())
    assert isinstance(answer, wire.Refuse), answer
    return answer


class Link:
    """A client that proves itself with whatever token it has."""

    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._link = socket.socket(socket.AF_UNIX)
        self._link.settimeout(PATIENCE)
        self._link.connect(str(places.session_socket(session)))
        self._reader = FrameReader()

    def close(self) -> None:
        self._link.close()

    def identify(self, who: Enrolled, token: bytes) -> Message:
        self._link.sendall(encode(wire.Hello(SPOKEN, "test", "cli")))
        challenge = self._heard(wire.Challenge)
        assert isinstance(challenge, wire.Challenge)
        proof = local_proof(token, self._session, challenge.nonce)
        # In one piece: who is not believed is hung up on before a second one.
        identify = encode(wire.Identify(who.actor.id, proof))
        self._link.sendall(identify + encode(parties.Who()))
        return self._heard(wire.Refuse, parties.Presence)

    def _heard(self, *kinds: type[Message]) -> Message:
        while raw := self._link.recv(65536):
            for message in map(decode, self._reader.feed(raw)):
                if isinstance(message, kinds):
                    return message
        raise AssertionError("it hung up")


@pytest.mark.usefixtures("here")
def test_a_token_that_somebody_else_wrote_proves_nothing(session: SessionId) -> None:
    us = current_operator.ourselves()
    Path(us.folder, "token").write_bytes(KNOWN)

    assert refused(session, us, KNOWN).code == "operator-file-damaged"


@pytest.mark.usefixtures("here")
def test_a_folder_that_somebody_else_made_is_nobody(bot: Enrolled) -> None:
    home = Path(bot.folder).parent
    evil = SigningKey.from_seed(KNOWN)
    facts = {
        "actor": actor_id(evil.public),
        "kind": "human",
        "name": "evil",
        "public_key": evil.public.hex(),
        "token": hashlib.sha256(KNOWN).hexdigest(),
    }
    copied = json.loads(facts_of(bot).read_text()) | {"name": "twin"}
    for name, told in (("evil", facts), ("twin", copied)):
        (home / name).mkdir(mode=0o700)
        (home / name / "operator.json").write_text(json.dumps(told))
        (home / name / "token").write_bytes(KNOWN)
        (home / name / "key").write_bytes(KNOWN)

    known = {one.actor.name for one in operators.enrolled()}
    assert known == {own_name.login_name(), "bot"}
    assert operators.by_actor(actor_id(evil.public)) is None
    assert main(["--as", "evil", "gate", "apply", "--yes"]) != 0


@pytest.mark.usefixtures("here")
def test_an_invitation_that_somebody_else_wrote_lets_nobody_in() -> None:
    only = Envelope(frozenset({Right.OBSERVE}))
    real = invites.make("dave", ActorKind.AGENT, only, FAR_AWAY)
    (path,) = places.invites_dir().iterdir()
    facts = json.loads(path.read_text())
    made_up = path.with_name(f"{'ab' * 16}.json")
    made_up.write_text(json.dumps({**facts, "kind": "human", "secret": KNOWN.hex()}))
    other = path.with_name(f"{'cd' * 16}.json")
    other.write_text(path.read_text())

    assert [one.id for one in invites.known()] == [real.id]
    for changes in ({"kind": "human"}, {"expires_ms": 1}, {"secret": KNOWN.hex()}):
        path.write_text(json.dumps(facts | changes))
        assert invites.known() == []
        with pytest.raises(InviteUnknown):
            invites.use(real.id, "a_x", 0.0)


@pytest.mark.usefixtures("here")
def test_a_key_that_somebody_else_drafted_is_not_taken() -> None:
    us = current_operator.ourselves()
    for draft in (KNOWN, json.dumps({"seed": KNOWN.hex()}).encode()):
        Path(us.folder, "key.next").write_bytes(draft)

        assert main(["operators", "rotate"]) == 0

        assert (
            current_operator.ourselves().public_key
            != SigningKey.from_seed(KNOWN).public
        )


@pytest.mark.usefixtures("here")
def test_sealing_costs_an_attach_next_to_nothing() -> None:
    us = current_operator.ourselves()
    began = time.perf_counter()
    for _ in range(200):
        assert operators.by_actor(us.actor.id) == us
    each = (time.perf_counter() - began) / 200

    assert each < 0.005
