from holdfast.core.telemetry.host_values import HostValues, pids_of
from holdfast.model.process_status import (
    HostStatus,
    KeeperStatus,
    RelayStatus,
    RemoteOperator,
    ReplacedProcesses,
    Traffic,
)

KEEPER = KeeperStatus(
    pid=10,
    trustee=11,
    nursery=12,
    replaced=ReplacedProcesses(count_=3),
    holders=(20, 21),
)


def told(values: HostValues) -> dict[tuple[str, ...], float]:
    return {
        (name.removeprefix("holdfast_"), *labels): number
        for (name, labels), number in values.values().items()
    }


def test_sessions_are_counted_by_state_and_dozing_ones_apart() -> None:
    values = HostValues()
    values.sessions(
        [
            {"state": "running", "dozing": True},
            {"state": "frozen", "runtime": "capsule", "reaps_ms": 5},
            {},
            {"state": "exited", "exit": 0, "dozing": True},
            {"state": "running", "exit": 1},
            {"state": "odd\nname"},
            "no facts",
        ]
    )

    assert told(values) == {
        ("sessions", "running"): 2,
        ("sessions", "frozen"): 1,
        ("sessions", "exited"): 2,
        ("sessions", "other"): 1,
        ("sessions_runtime", "plain"): 3,
        ("sessions_runtime", "capsule"): 1,
        ("sessions_dozing",): 1,
        ("sessions_reap_warned",): 1,
    }


def test_a_keeper_or_host_that_does_not_answer_is_down_and_nothing_else_is_told() -> (
    None
):
    values = HostValues()
    values.keeper(None)
    values.host(None)

    assert told(values) == {("up", "keeper"): 0, ("up", "host"): 0}


def test_a_host_tells_of_its_links_leases_and_remote_operators() -> None:
    values = HostValues()
    values.keeper(KEEPER)
    values.host(
        HostStatus(
            links=(RelayStatus("a", up=True), RelayStatus("b"), RelayStatus("c")),
            lease_count=5,
            fenced_count=2,
            operators=(RemoteOperator("a_x"),),
            traffic=Traffic(7, 2, 1, 300, 400),
        )
    )

    assert told(values) == {
        ("up", "keeper"): 1,
        ("processes_replaced_total",): 3,
        ("up", "host"): 1,
        ("uplinks", "up"): 1,
        ("uplinks", "down"): 2,
        ("leases", "held"): 3,
        ("leases", "lost"): 2,
        ("remote_operators",): 1,
        ("remote_channels_total", "admitted"): 7,
        ("remote_channels_total", "refused"): 2,
        ("remote_channels_total", "missed"): 1,
        ("remote_bytes_total", "in"): 300,
        ("remote_bytes_total", "out"): 400,
    }


def test_memory_is_told_by_what_a_process_is_and_dead_ones_have_none() -> None:
    values = HostValues()
    values.processes(
        pids_of(KEEPER, HostStatus(pid=30, relay=31)), {10: 5, 20: 7, 30: 1}
    )
    values.took(0.25)

    found = told(values)

    assert found["resident_bytes", "keeper"] == 5
    assert found["resident_bytes", "holders"] == 7
    assert found["processes", "holders"] == 1
    assert found["processes", "host"] == 1
    assert found["processes", "relay"] == 0
    assert found["resident_bytes", "dozer"] == 0
    assert found["metrics_seconds",] == 0.25


def test_the_pid_of_a_host_is_the_keepers_word_or_its_own() -> None:
    assert pids_of(KEEPER, None)["host"] == []
    assert pids_of(KEEPER, HostStatus(pid=30))["host"] == [30]
    assert pids_of(KEEPER._replace(host=29), HostStatus(pid=30))["host"] == [29]
