"""A session goes from host to host, and whoever is killed, it lives once."""

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.scenarios.leased import needs_cgroups
from tests.scenarios.movers import Attached, Hosts, hosts, let_in, moving
from tests.scenarios.support import eventually

import holdfast
from holdfast.linux.criu import program

pytestmark = [
    needs_cgroups,
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
]

REPL = "import sys; data = list(range(100_000)); print('loaded', len(data))\r"
LARGE = "import os; data = os.urandom(150_000_000); print('loaded', len(data))\r"
TRIPS = int(os.environ.get("TRIPS", "2"))


@pytest.fixture
def two() -> Iterator[Hosts]:
    with hosts() as made:
        yield made


def test_a_shell_goes_on_elsewhere_with_all_it_knows(two: Hosts) -> None:
    session = two.begin()
    two.alpha.do("run", "web", "answer=$((6*7))")

    moved = json.loads(two.alpha.do("move", "web", "beta", "--json"))

    assert moved["incarnation"] == 2
    assert two.lives_at(session) == ["beta"]
    assert two.beta.do("run", "web", "echo $answer") == "42\n"
    assert "restored the session" in two.beta.do("log", "web")
    assert "Nothing" not in two.beta.do("log", "web", "--verify")
    listed = two.alpha.do("images")
    assert session not in listed, "its image was not removed"
    two.leased(two.beta)
    again = two.alpha.run("move", "web", "beta")
    assert again.returncode == 64
    assert "has moved to beta" in again.stderr


def test_who_is_attached_follows_there_and_back(two: Hosts) -> None:
    two.begin()
    seat = Attached(two.alpha, "web")
    try:
        eventually("it is shown", lambda: seat.shows("$") or seat.shows("#"))
        seat.type("n=0; go() { n=$((n+1)); echo went-$n; }\r")
        way = [(two.alpha, two.beta, "beta"), (two.beta, two.alpha, "alpha")]
        for trip in range(TRIPS):
            here, there, name = way[trip % 2]
            here.do("move", "web", name)
            seat.type("go\r")
            said = f"went-{trip + 1}\r"
            eventually("it goes on", partial(seat.shows, said))
            assert not seat.shows(f"went-{trip + 2}"), "it ran twice"
            two.leased(there)
    finally:
        seat.close()


def test_an_agent_with_the_turn_works_on_through_several_moves(two: Hosts) -> None:
    for place in (two.alpha, two.beta):
        policy = Path(place.folder) / "config" / "policy.toml"
        policy.write_text('[default]\nagent = "allow"\n')
        place.do("gate", "apply", "--yes")
    two.begin()
    two.alpha.do("operators", "add", "bot", "--kind", "agent")
    two.alpha.do("grant", "web", "bot", "observe", "input", "command", "take")
    way = [(two.alpha, "beta"), (two.beta, "alpha")] * 2

    async def work() -> tuple[list[str], list[str]]:
        async with holdfast.connect(operator="bot") as host:
            session = host.attach("web")
            async with session, session.turn():
                await session.run("n=0; go() { n=$((n+1)); echo went-$n; }")
                said, at = [], []
                for here, there in way:
                    # What runs when it stops goes on there, and is heard of once.
                    async with asyncio.TaskGroup() as tasks:
                        slow = tasks.create_task(session.run("sleep 4; go", timeout=90))
                        await asyncio.to_thread(here.do, "move", "web", there)
                    said.append(slow.result().output)
                    said.append((await session.run("go", timeout=60)).output)
                    at.append(session.host)
                    await asyncio.to_thread(
                        two.leased, two.beta if there == "beta" else two.alpha
                    )
                return said, at

    with two.alpha.inhabited():
        said, at = asyncio.run(work())

    assert said == [f"went-{count}\n" for count in range(1, 2 * len(way) + 1)]
    assert at == ["beta", "", "beta", ""]


def test_who_asks_for_a_session_that_left_is_led_there(two: Hosts) -> None:
    session = two.begin()
    two.alpha.do("move", "web", "beta")

    async def look() -> tuple[str, str]:
        async with holdfast.connect() as host:
            found = host.attach("web")
            return (await found.run("echo $((6*7))")).output, found.host

    with two.alpha.inhabited():
        assert asyncio.run(look()) == ("42\n", "beta")
    assert two.alpha.do("run", "web", "echo here") == "here\n"
    assert two.alpha.facts("state", session)["state"] == "at-prompt"
    two.relay.kill()
    refused = two.alpha.run("state", "web")
    assert refused.returncode == 64
    assert "web has moved to beta" in refused.stderr


def test_the_turn_goes_along(two: Hosts) -> None:
    two.begin()
    two.alpha.do("take", "web")
    before = json.loads(two.alpha.do("who", "web", "--json"))

    two.alpha.do("move", "web", "beta")

    after = json.loads(two.beta.do("who", "web", "--json"))
    assert after["holder"] == before["holder"] != ""


def test_a_host_that_was_not_let_in_stops_nothing(two: Hosts) -> None:
    session = two.begin()
    two.beta.do("operators", "remove", "--force", "mover")

    refused = two.alpha.run("move", "web", "beta")

    assert refused.returncode in (75, 77)
    assert two.lives_at(session) == ["alpha"]
    assert two.alpha.do("run", "web", "echo here") == "here\n"


def test_what_is_in_the_way_there_is_named_and_nothing_stops(
    two: Hosts,
) -> None:
    session = two.begin()
    two.beta.new(name="web")

    refused = two.alpha.run("move", "web", "beta")

    assert refused.returncode == 64
    assert "a session there is called web" in refused.stderr
    assert "Nothing was stopped" in refused.stderr
    assert two.lives_at(session) == ["alpha"]
    assert not [*Path(two.beta.folder).glob("state/images/arriving/*")]


def test_a_policy_there_that_denies_it_is_asked_before_anything_stops(
    two: Hosts,
) -> None:
    session = two.begin()
    two.alpha.do("run", "web", "answer=$((6*7))")
    rule = '[[rule]]\nname = "none"\ninput = "start"\nverdict = "deny"\n'
    (Path(two.beta.folder) / "config" / "policy.toml").write_text(rule)
    two.beta.do("gate", "apply", "--yes")

    refused = two.alpha.run("move", "web", "beta")

    assert refused.returncode == 64, refused.stderr
    assert "its policy denies it by none" in refused.stderr
    assert "Nothing was stopped" in refused.stderr
    assert two.lives_at(session) == ["alpha"]
    assert two.alpha.do("run", "web", "echo $answer") == "42\n"
    assert "restored" not in two.alpha.do("log", "web")
    assert not [*Path(two.beta.folder).glob("state/images/arriving/*")]


def test_a_drain_moves_what_can_move_and_all_of_that_comes_back(two: Hosts) -> None:
    old, new = two.begin(name="old"), two.begin(name="new")
    two.alpha.do("run", "old", "answer=$((6*7))")
    boxed = two.alpha.facts("new", "--detach", "--capsule", "--name", "box")["id"]
    plain = two.alpha.new(name="plain")

    drained = two.alpha.run("drain", "--to", "beta", "--json")

    told = json.loads(drained.stdout)
    assert drained.returncode == 1, drained.stderr
    assert {one["id"]: one["host"] for one in told["left"] if one["host"]} == {
        old: "beta",
        new: "beta",
    }
    assert [one["id"] for one in told["left"] if one["image"]] == [boxed]
    assert [one["id"] for one in told["stayed"]] == [plain]
    assert two.lives_at(old) == two.lives_at(new) == ["beta"]

    two.leased(two.beta)
    back = two.beta.run("evacuate", "alpha")

    assert back.returncode == 0, (back.stdout, back.stderr)
    assert "2 moved, 0 on disk, 0 not." in back.stderr
    assert two.alpha.do("run", "old", "echo $answer") == "42\n"
    assert " drain " in two.alpha.do("log", "old"), "it is not said who moved it"


@pytest.mark.parametrize("seed", range(4))
def test_a_mover_that_is_killed_is_followed_by_one_that_finishes(
    two: Hosts, seed: int
) -> None:
    session = two.begin()
    two.alpha.do("run", "web", "answer=$((6*7))")
    chance = random.Random(seed)  # noqa: S311  # a story that can be told again
    for _ in range(3):
        mover = moving(two.alpha, "web", "beta")
        time.sleep(chance.uniform(0.3, 2.0))
        mover.send_signal(signal.SIGKILL)
        mover.communicate()
        assert len(two.lives_at(session)) <= 1
        if two.lives_at(session) == ["beta"]:
            break

    done = two.alpha.run("move", "web", "beta")

    eventually("it lives", lambda: two.lives_at(session))
    assert done.returncode == 0 or "has moved" in done.stderr, done.stderr
    assert two.lives_at(session) == ["beta"]
    assert two.beta.do("run", "web", "echo $answer") == "42\n"


@pytest.mark.parametrize("wait", [0.7, 1.0, 1.4])
def test_a_host_there_that_is_killed_leaves_it_at_one_of_the_two(
    two: Hosts, wait: float
) -> None:
    session = two.begin()
    two.alpha.do("run", "web", "answer=$((6*7))")
    mover = moving(two.alpha, "web", "beta")
    time.sleep(wait)

    two.beta.kill_host()
    _, said = mover.communicate(timeout=90)

    assert mover.returncode in (0, 64, 75), said
    [where] = two.lives_at(session)
    place = two.alpha if where == "alpha" else two.beta
    assert place.do("run", "web", "echo $answer") == "42\n"


def test_a_stopped_session_is_not_restored_past_its_relay(two: Hosts) -> None:
    session = two.begin()
    shutil.copytree(
        f"{two.alpha.folder}/state", f"{two.alpha.folder}/kept", symlinks=True
    )
    two.alpha.do("move", "web", "beta")
    images = Path(f"{two.alpha.folder}/state/images/{session}")

    refused = two.alpha.run("restore", "-d", session)

    assert refused.returncode == 64
    assert not [*images.glob("[0-9]*/manifest")]
    assert two.lives_at(session) == ["beta"]


def test_another_host_s_sessions_are_not_taken_from_it(two: Hosts) -> None:
    session = two.begin()
    two.alpha.do("move", "web", "beta")
    two.leased(two.beta)

    let_in(two.beta, two.alpha, "beta")
    refused = two.alpha.run("move", session, "beta")

    assert refused.returncode == 64
    assert two.lives_at(session) == ["beta"]


def test_a_repl_goes_on_with_its_data(two: Hosts) -> None:
    two.begin("--", "/usr/bin/python3", "-q")
    two.alpha.do("send", "web", REPL)
    two.alpha.do("wait", "web", "--for", "loaded 100000")

    two.alpha.do("drop", "web")
    two.alpha.do("move", "web", "beta")

    two.beta.do("send", "web", "print('sum', sum(data))\r")
    two.beta.do("wait", "web", "--for", "sum 4999950000")


def test_a_cut_in_the_middle_of_the_stream_costs_what_was_on_the_way(
    two: Hosts,
) -> None:
    session = two.begin("--", "/usr/bin/python3", "-q")
    two.alpha.do("send", "web", LARGE)
    two.alpha.do("wait", "web", "--for", "loaded 150000000")
    two.alpha.do("drop", "web")
    arriving = Path(two.beta.folder) / "state/images/arriving"

    def arrived() -> int:
        return sum(one.stat().st_size for one in arriving.rglob("*.img"))

    mover = moving(two.alpha, "web", "beta")
    eventually("a part has come", lambda: arrived() > 5_000_000)
    two.relay.kill()
    before = arrived()
    two.relay.start()
    said, trouble = mover.communicate(timeout=90)

    assert mover.returncode == 0, (said, trouble)
    assert 0 < before < 150_000_000, "it was not cut in the middle"
    assert two.lives_at(session) == ["beta"]
    two.beta.do("send", "web", "print('still', len(data))\r")
    two.beta.do("wait", "web", "--for", "still 150000000")


def test_a_target_that_runs_out_of_disk_leaves_it_where_it_was(two: Hosts) -> None:
    session = two.begin("--", "/usr/bin/python3", "-q")
    two.alpha.do("send", "web", LARGE)
    two.alpha.do("wait", "web", "--for", "loaded 150000000")
    two.alpha.do("drop", "web")
    images = Path(two.beta.folder) / "state/images"
    images.mkdir(parents=True, exist_ok=True, mode=0o700)
    disk = ("-t", "tmpfs", "-o", "size=500m,mode=0700", "tmpfs", str(images))
    subprocess.run(["mount", *disk], check=True)  # noqa: S607  # wherever it is
    try:
        mover = moving(two.alpha, "web", "beta")
        eventually("it is on its way", lambda: [*images.glob("arriving/*/image/*/*")])
        with (
            contextlib.suppress(OSError),  # That is when it is full.
            (images / "filler").open("wb", buffering=0) as filler,
        ):
            while filler.write(bytes(1 << 20)):
                pass
        _, said = mover.communicate(timeout=90)

        assert mover.returncode == 75, said
        assert "goes on here" in said
        assert two.lives_at(session) == ["alpha"]
        two.alpha.do("send", "web", "print('still', len(data))\r")
        two.alpha.do("wait", "web", "--for", "still 150000000")
    finally:
        subprocess.run(["umount", "-l", str(images)], check=True)  # noqa: S607  # ditto
