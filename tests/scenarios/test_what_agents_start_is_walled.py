"""A session that an agent starts is a capsule, unless somebody wants it otherwise."""

import os
from collections.abc import Iterator

import pytest
from tests.scenarios.gated import write_policy
from tests.scenarios.support import Machine, machine
from tests.sdk.support import go

import holdfast
from holdfast.client import current_operator
from holdfast.linux.capsule import trial
from holdfast.model.actors import ActorKind

pytestmark = pytest.mark.skipif(
    bool(trial.why_not()), reason="no capsule can be made here"
)

FREE = """
[default]
agent = "allow"

[[rule]]
verdict = "allow"
kind = "agent"
input = "start"
"""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        write_policy(FREE)
        yield made


def started(here: Machine, creator: str, **more: object) -> dict[str, object]:
    """Ask for a session in somebody's name; return the answer."""
    words = {"command": ["sleep", "600"], "cwd": "/", "size": [80, 24]}
    return here.ask(do="create", creator=creator, **words, **more)


def bot() -> str:
    """Return an agent that is known here."""
    name = f"bot-{os.urandom(4).hex()}"
    return current_operator.enrol(name, ActorKind.AGENT).actor.id


def test_an_agent_s_is_a_capsule_and_a_person_s_is_not(here: Machine) -> None:
    person = current_operator.ourselves().actor.id

    assert started(here, bot())["runtime"] == "capsule"
    assert started(here, person)["runtime"] == "plain"


def test_an_agent_may_ask_for_a_plain_one(here: Machine) -> None:
    assert started(here, bot(), runtime="plain")["runtime"] == "plain"


def test_a_policy_leaves_it_no_choice(here: Machine) -> None:
    write_policy(f'{FREE}[runtime]\nagent = "capsule"\n')

    refused = started(here, bot(), runtime="plain")

    assert (refused["ok"], refused["code"]) == (False, "denied-by-policy")
    assert started(here, bot())["runtime"] == "capsule"


def test_a_policy_lets_agents_have_plain_ones(here: Machine) -> None:
    write_policy(f'{FREE}[runtime]\nagent = "plain"\n')

    assert started(here, bot())["runtime"] == "plain"
    assert started(here, bot(), runtime="capsule")["runtime"] == "capsule"


@pytest.mark.parametrize("wrong", [{"runtime": "vm"}, {"net": "x"}, {"runtime": 1}])
def test_what_there_is_not_is_refused(here: Machine, wrong: dict[str, object]) -> None:
    answer = started(here, bot(), **wrong)

    assert answer["ok"] is False
    assert here.ask(do="list")["sessions"] == []


def test_a_program_asks_for_a_capsule_by_the_sdk(here: Machine) -> None:
    del here

    async def runtimes() -> list[str]:
        async with holdfast.connect() as host:
            for runtime in ("", "plain", "capsule"):
                await host.create("sleep 600", runtime=runtime)
            return [one.runtime for one in await host.sessions()]

    assert sorted(go(runtimes())) == ["capsule", "plain", "plain"]
