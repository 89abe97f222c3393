"""After the death of a host, another one goes on from the copy it keeps; never two."""

import json
import re
from collections.abc import Iterator

import pytest
from tests.scenarios.elsewhere import Facts
from tests.scenarios.leased import needs_cgroups
from tests.scenarios.losing import lose_everything
from tests.scenarios.movers import Hosts, hosts
from tests.scenarios.support import eventually

from holdfast.linux.criu import program

pytestmark = [
    needs_cgroups,
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
]


@pytest.fixture
def two() -> Iterator[Hosts]:
    with hosts() as made:
        yield made


def restored(two: Hosts, *words: str) -> Facts:
    """Have a session go on at beta as soon as the relay lets it."""
    told: Facts = {}

    def is_granted() -> bool:
        done = two.beta.run("restore", "web", "--json", *words)
        assert done.returncode in (0, 75), done.stderr
        if done.returncode == 0:
            told.update(json.loads(done.stdout))
        return done.returncode == 0

    eventually("the lease has run out", is_granted)
    return told


def test_a_session_goes_on_from_its_copy_and_never_at_its_first_host_again(
    two: Hosts,
) -> None:
    session = two.begin()
    two.alpha.do("run", "web", "answer=$((6*7))")
    two.alpha.do("checkpoint", "web", "--to", "beta")
    two.alpha.do("run", "web", "answer=later")

    [copy] = json.loads(two.beta.do("images", "--json"))["copies"]
    assert (copy["session"], copy["name"]) == (session, "web")
    assert re.search(rf"{session}\.\d+ +web .* MB", two.beta.do("images"))
    early = two.beta.run("restore", "-d", "web")
    assert early.returncode == 75
    assert "may have the lease" in early.stderr
    assert two.lives_at(session) == ["alpha"]

    with two.alpha.inhabited():
        lose_everything()
    told = restored(two)

    assert told["incarnation"] >= 2
    assert told["copy"]["through"] > 0
    assert two.beta.do("run", "web", "echo $answer") == "42\n"
    assert "restored the session" in two.beta.do("log", "web")
    assert json.loads(two.beta.do("images", "--json"))["copies"] == []

    # Its first host is back; nobody has the session on this machine just now.
    with two.beta.inhabited():
        lose_everything()
    two.alpha.up(two.relay.url)
    for verb in ("recover", "restore"):
        refused = two.alpha.run(verb, "--detach", "web")
        assert refused.returncode in (75, 77), (verb, refused.stderr)
    two.beta.up(two.relay.url)
    again = json.loads(two.beta.do("recover", "web", "--json"))
    assert again["incarnation"] > told["incarnation"]
