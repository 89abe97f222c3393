import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import FakeSession
from tests.cli.support.kernel import evidence, graph, process

from holdfast.client import looking
from holdfast.client.looking import MAX_PARTS, joined
from holdfast.model.errors import (
    GraphUnavailable,
    NotAllowed,
    PeerError,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import ActorId
from holdfast.wire.graphs import GraphRequest, Listener


def test_a_state_is_asked_for_and_returned(web: FakeSession) -> None:  # noqa: F811
    web.operating.kernel.states = [evidence("at-prompt")]

    assert looking.state(web.id) == evidence("at-prompt")


def test_a_graph_is_put_together_from_its_parts(web: FakeSession) -> None:  # noqa: F811
    listener = Listener(8, "::", 80, "tcp6")
    parts = [
        graph(process(7), more=True),
        graph(process(8), listeners=(listener,)),
    ]
    web.operating.kernel.graphs = [parts]

    found = looking.graph(web.id, descriptors=True)

    assert found == graph(process(7), process(8), listeners=(listener,))
    assert joined(parts) == found
    assert web.operating.requested == [GraphRequest(descriptors=True)]


def test_a_graph_that_does_not_end_is_refused(web: FakeSession) -> None:  # noqa: F811
    web.operating.kernel.graphs = [[graph(more=True)] * (MAX_PARTS + 2)]

    with pytest.raises(PeerError):
        looking.graph(web.id)


def test_a_graph_that_stops_half_way_is_no_graph(web: FakeSession) -> None:  # noqa: F811
    web.operating.kernel.graphs = [[graph(process(7), more=True)]]

    with pytest.raises(WaitedInVain):
        looking.graph(web.id, patience=0.1)


def test_a_refusal_is_an_error_with_its_facts(web: FakeSession) -> None:  # noqa: F811
    web.operating.refusal = GraphUnavailable("too many ask")
    with pytest.raises(GraphUnavailable):
        looking.graph(web.id)

    web.operating.refusal = NotAllowed(ActorId("a_" + "a" * 32), "observe")
    with pytest.raises(NotAllowed):
        looking.state(web.id)


def test_a_session_that_is_gone_cannot_be_asked(web: FakeSession) -> None:  # noqa: F811
    web.die()

    with pytest.raises(SessionUnreachable):
        looking.state(web.id, patience=0.1)
