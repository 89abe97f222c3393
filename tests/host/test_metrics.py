"""Metrics of a machine with real sessions: one that sleeps is counted and not woken."""

from pathlib import Path

import pytest
from tests.scenarios.dozing import dozing_machine, leave, wait_dozing
from tests.scenarios.support import Machine, eventually

from holdfast.host.metrics import collect

Values = dict[tuple[str, tuple[str, ...]], float]

HOLDERS = ("holdfast_processes", ("holders",))
BACK = ("holdfast_reattaches_total", ("unchanged",))


def values() -> Values:
    return collect().values


def back(here: Machine) -> Values:
    """Have a client come back to another holder of its session; return the numbers."""
    session = here.new("cat")
    client = here.join(session)
    client.enter(b"x\n")
    here.replace_holder(session)
    client.attach()
    eventually("it came back", lambda: values().get(BACK))
    found = values()
    leave(client)
    return found


def test_numbers_outlive_a_holder_name_nobody_and_wake_nobody() -> None:
    with dozing_machine() as here:
        found = back(here)

        assert found["holdfast_attaches_total", ("human",)] == 2
        assert found["holdfast_takeovers_total", ()] >= 1
        assert found["holdfast_incarnations_total", ("new",)] == 1
        assert found["holdfast_sessions", ("running",)] == 1
        assert found["holdfast_up", ("keeper",)] == 1
        assert found["holdfast_up", ("host",)] == 0
        assert found["holdfast_resident_bytes", ("keeper",)] > 1_000_000
        wait_dozing(here, 1)
        # The holder that let it doze may still be on its way out.
        eventually("no holder is left", lambda: not values()[HOLDERS])
        for _ in range(3):
            asleep = values()
            assert asleep["holdfast_sessions_dozing", ()] == 1
            assert asleep[HOLDERS] == 0
        listed = here.ask(do="list")["sessions"]
        assert isinstance(listed, list)
        text = collect().text()
        assert 'holdfast_sessions{state="running"} 1\n' in text
        assert str(listed[0]["id"]) not in text
        assert collect().facts()[0]["name"] == "holdfast_attaches_total"


def test_without_a_keeper_it_is_said_that_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))

    found = values()

    assert found["holdfast_up", ("keeper",)] == 0
    assert ("holdfast_sessions_dozing", ()) not in found
