"""Nobody changes from elsewhere what holds for a whole host."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, places, relay


@pytest.fixture(scope="module")
def joined() -> Iterator[tuple[Place, Place]]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        away.do("join", "-", "--name", "box", said=home.invite("--as", "anna"))
        yield home, away


ASK = """
import sys
from typing import NamedTuple
from holdfast.client import session_location
from holdfast.model import session_requests
from holdfast.model.errors import HoldfastError
class Given(NamedTuple):
    text: str = ""
    name: str = ""
    kind: str = ""
try:
    session_requests._WORDS[Given] = sys.argv[1]
    session_location.ask_far("box", Given("-", "ally", "human"))
except HoldfastError as error:
    print(error.code, error, error.next_step, sep="\\n")
"""


def test_a_policy_is_not_applied_through_a_relay(joined: tuple[Place, Place]) -> None:
    home, away = joined
    policy = Path(home.folders["HOLDFAST_CONFIG_DIR"]) / "policy.toml"
    policy.write_text('[default]\nagent = "allow"\n')

    for words in (["gate", "apply", "box"], ["gate", "apply", "box/", "--yes"]):
        done = away.run(*words)
        assert done.returncode == 64, done
        said = " ".join(done.stderr.split())
        assert (
            "applying the policy of box can only be done on the machine itself" in said
        )
        assert "Do it on that machine" in said

    assert json.loads(home.run("status", "--json").stdout)["policy"]["notices"]


@pytest.mark.parametrize("do", ["apply", "enrol", "invite", "revoke"])
def test_what_changes_a_whole_host_is_refused_by_name(
    joined: tuple[Place, Place], do: str
) -> None:
    _, away = joined

    said = subprocess.run(
        [sys.executable, "-c", ASK, do],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **away.folders},
    )

    code, text, step = said.stdout.splitlines()

    assert code == "only-here"
    assert "can only be done on the machine itself" in text
    assert step == "Do it on that machine."


def test_a_first_policy_is_told_in_a_few_lines_and_later_ones_as_they_differ() -> None:
    with places(1) as (host,):
        host.do("gate", "init")
        first = host.do("gate", "apply", "--yes")
        policy = Path(host.folders["HOLDFAST_CONFIG_DIR"]) / "policy.toml"
        with policy.open("a") as file:
            file.write(
                '\n[[rule]]\nname = "last"\nverdict = "allow"\ninput = "resize"\n'
            )
        second = host.do("gate", "apply", "--yes")

    assert len(first.splitlines()) < 20
    assert "by default: human allow, agent ask, service deny, device deny" in first
    assert "denied by 4 rules: no-disks," in first
    assert f"less {policy}" in first
    assert '+name = "last"' in second
    assert "looser:  rule last added (allow)" in second
