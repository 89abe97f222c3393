import asyncio
import itertools
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.sdk.support import go

import holdfast
from holdfast import errors
from holdfast.sdk.events import Event, Gap, Output

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "elsewhere.py"


@pytest.fixture(scope="module")
def between() -> Iterator[RelayPlace]:
    with relay() as made:
        yield made


@pytest.fixture(scope="module")
def home(between: RelayPlace) -> Iterator[Place]:
    with places() as (home, away):
        home.up(between.url)
        away.do(
            "join",
            "-",
            "--name",
            "box",
            said=home.invite("--as", "anna", "--can", "+create"),
        )
        with away.inhabited():
            yield home


@pytest.mark.usefixtures("home")
def test_at_a_host_elsewhere_everything_is_the_same() -> None:
    async def story() -> list[object]:
        async with holdfast.connect("box") as host:
            session = await host.create("bash", name="far")
            async with session:
                done = await session.run("echo it is $((6*7)); (exit 3)")
                async with session.turn():
                    offset = await session.send("echo ty''ped", enter=True)
                await session.wait_for("typed", 20, after=offset)
                while "typed" not in (await session.screen()).text:
                    pass
                listed = await host.find("far")
                found = [
                    done.output,
                    done.status,
                    listed.host,
                    (await session.state()).word != "",
                    len((await session.graph()).processes) > 0,
                    (await session.who()).present[0].program,
                    len(await session.log()) > 3,
                ]
            await session.end()
            left = [one.id for one in await host.sessions()]
            return [*found, session.id in left]

    assert go(story()) == ["it is 42\n", 3, "box", True, True, "sdk", True, False]


@pytest.mark.usefixtures("home")
def test_shell_and_folder_are_those_of_the_other_machine(tmp_path: Path) -> None:
    us = pwd.getpwuid(os.getuid())

    async def story() -> list[tuple[list[str], str]]:
        async with holdfast.connect("box") as host:
            made = [await host.create(), await host.create("cat", cwd=str(tmp_path))]
            found = [await host.find(one.id) for one in made]
            for one in made:
                await one.end()
            return [(list(one.command), one.cwd) for one in found]

    assert go(story()) == [
        ([us.pw_shell or "/bin/sh"], us.pw_dir),
        (["cat"], str(tmp_path)),
    ]


@pytest.mark.usefixtures("home")
def test_the_example_runs_a_command_there() -> None:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), "box", "echo far"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (ran.returncode, ran.stdout) == (0, "box: far (status 0)\n"), ran.stderr


@pytest.mark.usefixtures("home")
def test_no_byte_is_lost_when_the_relay_dies_and_comes_back(
    between: RelayPlace,
) -> None:
    heard: list[Event] = []

    async def listen(session: holdfast.Session) -> None:
        heard.extend([event async for event in session.events(after=0)])

    async def story() -> bytes:
        async with holdfast.connect("box") as host:
            program = "for i in $(seq 300); do echo line $i; sleep 0.01; done; read x"
            session = await host.create(["bash", "-c", program])
            async with session, asyncio.TaskGroup() as group:
                group.create_task(listen(session))
                await session.wait_for("line 20\r\n", 20)
                await asyncio.to_thread(between.kill)
                await asyncio.to_thread(between.process.wait)
                await asyncio.to_thread(between.start)
                await session.wait_for("line 300\r\n", 50)
                kept = (await session.read()).data
                await session.send("", enter=True, timeout=30)
            return kept

    kept = go(story())
    printed = [event for event in heard if isinstance(event, Output)]

    assert not [event for event in heard if isinstance(event, Gap)]
    assert b"".join(event.data for event in printed).startswith(kept)
    assert all(one.end == other.offset for one, other in itertools.pairwise(printed))


def test_a_host_that_does_not_answer_is_unavailable(between: RelayPlace) -> None:
    async def story() -> None:
        async with holdfast.connect("gone") as host:
            with pytest.raises(errors.Unavailable):
                await host.sessions()

    with places() as (home, away):
        home.up(between.url)
        away.do(
            "join",
            "-",
            "--name",
            "gone",
            said=home.invite("--as", "anna", "--can", "+create"),
        )
        home.do("down")
        with away.inhabited():
            began_at = time.monotonic()
            go(story())

    assert time.monotonic() - began_at < 30
