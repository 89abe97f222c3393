"""What is written down when a policy is put in force."""

import time
from pathlib import Path

import pytest

from holdfast.client import current_operator, policies
from holdfast.core.policy.applied_policy import Applied
from holdfast.linux.stored import places, policy_files


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        folder = tmp_path / name.lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(folder))


def applied(text: str) -> Applied:
    places.policy_file().write_text(text)
    us = current_operator.ourselves()
    return policies.apply(us, policy_files.standing())


def test_a_later_policy_is_dated_later_whatever_the_clock_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = applied("")
    long_ago = time.time_ns() - 3600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: long_ago)

    second = applied('[default]\nagent = "ask"\n')

    assert second.at_wall_ms == first.at_wall_ms + 1
    assert policy_files.standing().applied == second
