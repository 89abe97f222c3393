"""What a client is told of an input that it only tries out."""

from tests.holder.input_world import Client, World

from holdfast.client import current_operator
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.trials import Tried, Try

DENIED = b'[[rule]]\nname = "no-rm"\nverdict = "deny"\nfirst = "rm"\n'


def tried(
    here: World,
    client: Client,
    of: ActorId,
    payload: bytes = b"ls\r",
    candidate: bytes | None = None,
    kind: InputKind = InputKind.COMMAND,
) -> Tried:
    """Try an input out, and return what the client is told."""
    here.requests.take(client.connection, Try(of, kind, payload, candidate))
    (told,) = [one for one in client.told() if isinstance(one, Tried)]
    return told


def test_what_the_policy_in_force_would_say_is_told(here: World) -> None:
    anna = here.join()

    assert tried(here, anna, anna.id).verdict is Verdict.ALLOW
    assert here.typed() == b""


def test_another_policy_is_tried_without_being_applied(here: World) -> None:
    anna = here.join()

    told = tried(here, anna, anna.id, b"rm x\r", DENIED)

    assert (told.verdict, told.rule) == (Verdict.DENY, "no-rm")
    assert tried(here, anna, anna.id, b"rm x\r").verdict is Verdict.ALLOW


def test_a_policy_that_is_none_is_a_denial_that_says_so(here: World) -> None:
    anna = here.join()

    told = tried(here, anna, anna.id, candidate=b"[[[")

    assert told.verdict is Verdict.DENY
    assert told.rule == "malformed-policy"


def test_who_is_not_known_would_be_denied(here: World) -> None:
    anna = here.join()

    told = tried(here, anna, actor_id(b"nobody"))

    assert (told.verdict, told.rule) == (Verdict.DENY, "unknown-operator")


def test_one_who_was_never_here_is_told_of_as_if_it_had_come_in(here: World) -> None:
    anna = here.join()
    bot = current_operator.enrol("bot", ActorKind.AGENT).actor

    told = tried(here, anna, bot.id)

    assert told.rule != "unknown-operator"
    assert not here.context.clients.knows(bot.id)
    assert here.intake.rights.envelope_of(bot.id) is None


def test_what_no_client_makes_is_denied(here: World) -> None:
    anna = here.join()

    told = tried(here, anna, anna.id, kind=InputKind.START)

    assert (told.verdict, told.rule) == (Verdict.DENY, "not-allowed")
