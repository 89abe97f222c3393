import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.gated import write_policy
from tests.scenarios.support import Machine, apply_policy, eventually
from tests.sdk.support import go, shell

import holdfast
from holdfast import errors
from holdfast.crypto.branch_token import Branch, issue
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored.host_key import host_seed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

POLICY = """
[default]
agent = "{verdict}"
"""


def command(name: str, *words: str) -> list[str]:
    return [sys.executable, str(EXAMPLES / name), *words]


def example(name: str, *words: str) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        command(name, *words),
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_build_is_run_and_its_status_is_the_programs_own(here: Machine) -> None:
    del here

    ran = example("build.py", "echo built; (exit 4)")

    assert ran.returncode == 4, ran.stderr
    assert ran.stdout.startswith("built\nstatus 4 after ")


def test_without_await_it_is_the_same(here: Machine) -> None:
    del here

    ran = example("blocking.py", "echo built; (exit 4)")

    assert (ran.returncode, ran.stdout) == (4, "built\n"), ran.stderr


def test_a_password_is_answered_when_it_is_asked_for(here: Machine) -> None:
    del here

    ran = example("answer_prompt.py")

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("13 letters\n")
    assert "correct horse" not in ran.stdout


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("policy", ["allow"], indirect=True)
def test_an_agent_acts_in_its_turn() -> None:
    async def open_shell() -> None:
        async with holdfast.connect() as host:
            await (await shell(host, "shared")).run("true")

    go(open_shell())
    ran = example("agent_loop.py", "shared")

    assert ran.returncode == 0, ran.stderr
    assert [line.partition(":")[0] for line in ran.stdout.splitlines()] == [
        "pwd",
        "ls | wc -l",
        "date +%Y",
    ]


def test_several_sessions_are_watched_until_they_end(here: Machine) -> None:
    del here

    async def start() -> None:
        async with holdfast.connect() as host:
            for name, status in (("one", 0), ("two", 3)):
                await host.create(
                    ["sh", "-c", f"echo I am {name}; exit {status}"], name=name
                )

    go(start())
    ran = example("watch_several.py", "one", "two")

    assert ran.returncode == 0, ran.stderr
    told = ran.stdout.splitlines()
    assert {"one: 'I am one'", "two: 'I am two'"} <= {*told}
    assert {"one: ended with 0", "two: ended with 3"} <= {*told}


@pytest.fixture
def policy(here: Machine, request: pytest.FixtureRequest) -> Iterator[None]:
    del here
    write_policy(POLICY.format(verdict=request.param))
    yield
    apply_policy("")


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("policy", ["ask"], indirect=True)
def test_what_an_agent_wants_is_approved_or_denied() -> None:
    async def prepare() -> None:
        async with holdfast.connect() as host:
            await (await shell(host, "gated")).run("true")

    async def act() -> str:
        async with holdfast.connect(operator="busy-bot") as host:
            session = host.attach("gated")
            done = await session.run("echo harmless")
            with pytest.raises(errors.DeniedByOperator):
                await session.run("rm -r /nowhere")
            return done.output

    async def finish() -> None:
        async with holdfast.connect() as host:
            await host.attach("gated").end()

    async def is_attended() -> bool:
        async with holdfast.connect() as host:
            return len((await host.attach("gated", observe=True).who()).present) > 1

    go(prepare())
    with subprocess.Popen(
        command("approve.py", "gated"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as approver:
        eventually("somebody decides", lambda: go(is_attended()))

        assert go(act()) == "harmless\n"
        go(finish())
        said, _ = approver.communicate(timeout=30)

    assert [line.partition(": ")[2] for line in said.splitlines()] == [
        "approved 'echo harmless'",
        "denied 'rm -r /nowhere'",
        "",
    ]


def test_a_store_refuses_a_life_that_is_over(here: Machine, tmp_path: Path) -> None:
    del here
    key = SigningKey.from_seed(host_seed())
    session = "s_" + "a" * 16
    first, second = (issue(Branch(session, life, ""), key) for life in (1, 2))
    other = issue(Branch("s_" + "b" * 16, 1, ""), key)
    path = str(tmp_path / "ledger")

    told = [
        example("fenced_ledger.py", path, token, amount)
        for token, amount in (
            *((first, "1"), (first, "2"), (second, "10")),
            *((first, "100"), (other, "20"), (second, "30")),
        )
    ]

    assert [one.stdout for one in told] == ["1\n", "3\n", "13\n", "", "33\n", "63\n"]
    assert told[3].returncode == 1
    assert "incarnation 1 is over" in told[3].stderr
    forged = issue(Branch(session, 3, ""), SigningKey.from_seed(bytes(32)))
    assert "not genuine" in example("fenced_ledger.py", path, forged, "1").stderr
    late = issue(Branch(session, 3, "", expires_ms=1), key)
    assert "has run out" in example("fenced_ledger.py", path, late, "1").stderr
