"""What whoever attaches to a live session is told of it."""

from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    command = ["sh", "-c", "printf hello; exec sleep 600"]
    asked = {"command": command, "cwd": "/", "env": {}, "size": [100, 30]}
    answer = here.ask(do="create", name="web", **asked)
    assert answer["ok"], answer
    return SessionId(str(answer["id"]))


def test_whoever_attaches_is_told_what_the_session_is(
    here: Machine, session: SessionId
) -> None:
    client = here.join(session)
    eventually("it has spoken", lambda: client.attach().end == len("hello"))
    told = client.attach()

    assert (told.session, told.name, told.state) == (session, "web", "running")
    assert told.incarnation == FIRST_INCARNATION
    assert told.size == wire.Cells(100, 30)
    assert (told.start, told.end) == (0, len("hello"))
    assert told.holder == ""
    assert [one.client for one in told.operators] == [client.client]


@pytest.mark.parametrize("is_replaced", [False, True])
def test_another_size_is_told_to_who_comes_later(
    here: Machine, session: SessionId, *, is_replaced: bool
) -> None:
    client = here.join(session)
    columns = 120 + is_replaced
    client.submit(b"%dx40" % columns, InputKind.RESIZE)
    eventually("it is set", lambda: client.attach().size == wire.Cells(columns, 40))
    if is_replaced:
        here.replace_holder(session)
    assert client.attach().size == wire.Cells(columns, 40)
    facts = here.facts(session)
    assert facts is not None
    assert facts["size"] == [columns, 40]
