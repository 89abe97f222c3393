"""An agent puts a session that it began to disk, and goes on from there, by MCP."""

from collections.abc import Iterator

import pytest
from tests.mcp.support import agent, told
from tests.scenarios.agents import FREE, shell
from tests.scenarios.gated import write_policy
from tests.scenarios.support import Machine, machine

from holdfast.linux.capsule import trial
from holdfast.linux.criu import program

pytestmark = [
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
    pytest.mark.skipif(bool(trial.why_not()), reason="no capsule can be made here"),
]

STARTS = FREE + '[[rule]]\nname = "start"\nverdict = "allow"\ninput = "start"\n'
WHY = {"intent": "try something risky"}
BOX = {"session": "box", **WHY}


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        write_policy(STARTS)
        yield made


def test_what_it_began_goes_to_disk_and_on_from_there(here: Machine) -> None:
    del here

    async def story() -> None:
        async with agent() as bot:
            began = await bot.call("create_session", name="box", **WHY)
            await bot.call("run", command="known=42", **BOX)
            made = await bot.call("checkpoint", label="before", **BOX)
            stopped = await bot.call("checkpoint", stop=True, **BOX)
            listed = (await bot.call("images"))["images"]
            lost = (await bot.call("list_sessions"))["lost"]
            again = await bot.call("create_session", restore="box", **WHY)
            ran = await bot.call("run", command="echo $known", **BOX)
            story = (await bot.call("log", session="box", max_entries=200))["entries"]

        assert (made["was_made"], made["session_ended"]) == (True, False)
        assert made["stood_still_ms"] > 0
        assert stopped["session_ended"] is True
        assert [one["image"] for one in listed] == [stopped["image"], made["image"]]
        assert [one["label"] for one in listed] == ["", "before"]
        assert [one["life"] for one in lost] == ["stopped"]
        assert began["id"] == again["id"]
        assert "gone" not in again
        assert ran["output"]["text"].strip() == "42"
        kinds = [one["kind"] for one in story]
        assert "imaged" in kinds
        assert "stopped" in kinds

    told(story)


def test_without_the_right_it_makes_no_image_and_sees_none(here: Machine) -> None:
    shell(here, STARTS)

    async def story() -> None:
        async with agent() as owner:
            await owner.call("create_session", name="box", **WHY)
            await owner.call("checkpoint", label="secret plan", **BOX)
        async with agent("other-agent") as bot:
            refused = await bot.refused("checkpoint", **BOX)
            listed = await bot.call("images")
            restored = await bot.refused("create_session", restore="box", **WHY)

        assert refused["code"] == "not-allowed"
        assert listed == {"images": []}
        assert restored["code"] == "image-not-found"

    told(story)


def test_what_is_in_the_way_is_told_and_nothing_is_made(here: Machine) -> None:
    shell(here, STARTS)  # Not in a capsule, and somebody else's.

    async def story() -> None:
        async with agent() as bot:
            both = await bot.refused("create_session", restore="x", recover="y", **WHY)
            unknown = await bot.refused("create_session", restore="x", **WHY)
            seen = await bot.call("checkpoint", session="build", **WHY)

        assert both["code"] == "malformed-argument"
        assert unknown["code"] == "image-not-found"
        assert seen["was_made"] is False
        assert "capsule" in seen["blockers"][0]["what"]

    told(story)


def test_it_tries_a_line_out_and_goes_on_in_a_branch(here: Machine) -> None:
    del here

    async def story() -> None:
        async with agent() as bot:
            began = await bot.call("create_session", name="box", **WHY)
            await bot.call("run", command="cd $(mktemp -d); known=42", **BOX)
            line = "echo $known > made; known=0; false"
            seen = await bot.call("preview", command=line, **BOX)
            there = await bot.call("run", command="ls; echo $known", **BOX)
            branch = await bot.call("fork", name="try", **BOX)
            listed = (await bot.call("list_sessions"))["sessions"]
            on = {"session": "try", **WHY}
            await bot.call("run", command="known=43", **on)
            ran = await bot.call("run", command="echo $known", **BOX)
            gone = await bot.call("fork", discard=True, **on)
            no_branch = await bot.refused("fork", discard=True, **BOX)
            left = (await bot.call("list_sessions"))["sessions"]

        assert (seen["ended"], seen["exit_status"], seen["branch"]) == (True, 1, "")
        assert "made" in seen["report"]["text"]
        assert there["output"]["text"].split() == ["42"]
        assert {one["id"] for one in listed} == {began["id"], branch["id"]}
        assert ran["output"]["text"].strip() == "42"
        assert gone["discarded"].startswith("try ")
        assert no_branch["code"] == "no-branch"
        assert [one["id"] for one in left] == [began["id"]]

    told(story)
