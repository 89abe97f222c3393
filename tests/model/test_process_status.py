import json

import pytest

from holdfast.model.errors import MalformedMessage
from holdfast.model.process_status import (
    GivenUpHolder,
    HostStatus,
    KeeperStatus,
    RelayStatus,
    RemoteOperator,
    ReplacedProcesses,
)
from holdfast.model.session_record import Cells, as_facts, record_of

KEEPER = KeeperStatus(
    "1.0",
    7,
    2.5,
    stalled={"judge": "it is stopped"},
    replaced=ReplacedProcesses(2, "the judge", 65.0),
    given_up=(GivenUpHolder("s_x", 3, "it died", 9),),
    holders=(10,),
)
HOST = HostStatus(
    links=(RelayStatus("https://r", up=True), RelayStatus("https://q", why="no")),
    operators=(RemoteOperator("a_x"), RemoteOperator("a_y", "s_x", 1, 2)),
)


@pytest.mark.parametrize("status", [KEEPER, HOST, KeeperStatus(), HostStatus()])
def test_what_is_said_is_read_again(status: KeeperStatus | HostStatus) -> None:
    told = json.loads(json.dumps(as_facts(status)))

    assert record_of(type(status), told) == status


def test_json_says_it_without_our_names() -> None:
    assert as_facts(KEEPER)["replaced"] == {"count": 2, "last": "the judge", "ago": 65}
    assert as_facts((Cells(9, 5), "x")) == [[9, 5], "x"]


@pytest.mark.parametrize(
    "facts",
    [{"links": {}}, {"links": [3]}, {"traffic": []}, {"uptime": "long"}, {"pid": 1.5}],
)
def test_a_value_of_another_type_is_refused(facts: dict[str, object]) -> None:
    with pytest.raises(MalformedMessage):
        record_of(HostStatus, facts)


def test_everybody_is_who_runs() -> None:
    status = KEEPER._replace(nursery=8, holders=(11, 12))

    assert status.everybody() == [7, 8, 11, 12]
