"""Quotas: each is exceeded by one, the excess is refused by name, the rest lives."""

import os
import signal
from collections.abc import Iterator

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.core.input.budget import RESIZES_PER_SECOND
from holdfast.holder.links.attached_clients import MAX_CLIENTS_EACH
from holdfast.keeper import checks
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def test_t23_one_client_too_many_of_one_operator_is_refused(here: Machine) -> None:
    session = here.new("cat")
    bots = [here.join(session, "bot", ActorKind.AGENT)]
    bots += [Client(session, bots[0].operator) for _ in range(MAX_CLIENTS_EACH - 1)]
    here.clients += bots
    anna, late = here.join(session), here.join(session)
    late.close()
    late.operator, late.end = bots[0].operator, None

    refused = late.greet()

    assert isinstance(refused, wire.Refuse)
    facts = {"whose": "bot", "limit": MAX_CLIENTS_EACH}
    assert (refused.code, refused.facts) == ("session-full", facts)
    assert isinstance(anna.greet(), wire.Attached)
    bots[5].close()
    eventually("room", lambda: isinstance(late.greet(), wire.Attached))


def test_t24_resizes_come_at_a_bounded_rate(here: Machine) -> None:
    session = here.new("cat")
    anna = here.join(session)

    for number in range(10 * RESIZES_PER_SECOND):
        anna.post(f"{100 + number}x30".encode(), InputKind.RESIZE)
    answers = [anna.settle() for _ in range(10 * RESIZES_PER_SECOND)]

    done = [one for one in answers if isinstance(one, wire.Acknowledge)]
    refused = [one for one in answers if isinstance(one, wire.Refuse)]
    assert RESIZES_PER_SECOND <= len(done) < 5 * RESIZES_PER_SECOND
    assert {one.code for one in refused} == {"budget-spent"}
    assert all(int(one.facts["wait_ms"]) <= 50 for one in refused)


def test_t24_the_last_size_of_a_dragged_window_arrives(here: Machine) -> None:
    session = here.new("sh", "-c", "echo ready; cat")
    user = User("attach", session, size=(90, 20))
    user.sees(b"ready")

    for columns in range(91, 191):
        user.resize(columns, 30)
        user.signal(signal.SIGWINCH)
        here.ask(do="status")  # Takes about as long as a hand needs for one column.

    eventually("the last", lambda: size(here, session) == [190, 30])
    user.types(b"\x1dd")
    assert user.left() == 0


def size(here: Machine, session: SessionId) -> object:
    facts = here.facts(session)
    return facts and facts["size"]


def test_t23_one_session_too_many_is_refused() -> None:
    os.environ[checks.LIMIT] = "2"
    try:
        with machine() as small:
            made = [small.new("cat"), small.new("cat")]
            create = {"do": "create", "command": ["cat"], "cwd": "/", "env": {}}

            refused = small.ask(**create)

            assert (refused["ok"], refused["code"]) == (False, "host-full")
            assert refused["facts"] == {"limit": 2}
            small.kill("keeper")
            small.wait_whole(made[0])
            assert small.ask(**create)["code"] == "host-full"
            small.ask(do="forget", id=made[1])
            assert small.new("cat")
    finally:
        del os.environ[checks.LIMIT]
