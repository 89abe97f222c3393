import argparse
import json
from pathlib import Path

import pytest

from holdfast.cli.verbs import leases
from holdfast.model.process_status import HostStatus, LeaseStatus

HELD = LeaseStatus("s_a", "web", 1, "https://relay", "held", 7.4)
FENCED = LeaseStatus("s_b", "db", 2, "https://relay", "fenced", 0.0, "not reached")


def test_a_lease_is_shown_with_its_relay_and_what_is_in_the_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    leases._show(  # noqa: SLF001  # what it prints
        HostStatus(leases=(FENCED, HELD), lease_count=3, fenced_count=1)
    )

    said = capsys.readouterr()
    title, first, second = map(str.split, said.out.splitlines())
    assert title == ["NAME", "ID", "LIFE", "LEASE", "RELAY", "WHY"]
    assert first[:5] == ["db", "s_b", "2", "fenced", "https://relay"]
    assert first[5:] == ["not", "reached"]
    assert second == ["web", "s_a", "1", "7", "s", "https://relay"]
    assert said.err == "… and 1 more\n"


def test_a_host_without_movable_sessions_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    leases._show(HostStatus())  # noqa: SLF001  # ditto

    assert capsys.readouterr().err == "No session here is movable.\n"


@pytest.mark.parametrize("as_json", [True, False])
def test_without_a_host_no_lease_is_renewed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    as_json: bool,
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))

    assert leases.run(argparse.Namespace(json=as_json)) == 75

    assert "holdfast up" in capsys.readouterr().err


def test_the_facts_of_a_lease_are_json() -> None:
    facts = json.loads(json.dumps(HELD._asdict()))

    assert facts["expires_in"] == 7.4
