"""A session that an agent starts is a capsule, unless somebody wants it otherwise."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.gated import write_policy
from tests.scenarios.support import Machine, machine
from tests.sdk.support import go

import holdfast
from holdfast.cli.main import main
from holdfast.client import current_operator
from holdfast.client.keeper import sessions
from holdfast.linux import process_start
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


@pytest.fixture
def behind_a_link(tmp_path: Path) -> Iterator[Machine]:
    """Have a machine of which no capsule is made: a link leads to its policy."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    def begin() -> None:
        os.environ["HOLDFAST_CONFIG_DIR"] = f"{tmp_path}/link/config"
        process_start.ensure_keeper()

    with machine(begin=begin) as made:
        write_policy(FREE)
        yield made


def test_where_none_can_be_made_that_is_said_or_nothing_starts(
    behind_a_link: Machine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here, agent = behind_a_link, bot()

    made = started(here, agent)

    assert made["runtime"] == "plain"
    assert f"{tmp_path}/link is a link" in str(made["no_capsule"])
    (listed,) = sessions()
    assert listed.no_capsule == made["no_capsule"]
    assert main(["ls"]) == 0
    assert main(["log", str(made["id"])]) == 0
    told = capfd.readouterr().out
    assert "running, no capsule" in told
    assert "The session started, without a capsule: " in told

    write_policy(f'{FREE}[runtime]\nagent = "capsule"\n')

    refused = started(here, agent)
    assert (refused["ok"], refused["code"]) == (False, "no-capsule")
    assert len(sessions()) == 1


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
