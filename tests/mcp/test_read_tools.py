"""Each tool that only looks, once: what it answers of a session that is there."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.support import agent, told
from tests.scenarios.agents import WHY, Agent, shell, until
from tests.scenarios.support import Machine, machine

import holdfast
from holdfast.client.own_name import login_name
from holdfast.mcp.server import MAX_CALLS

ON = {"session": "build"}
ACT = {**ON, "intent": WHY}


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def test_sessions_are_listed_and_attached_to_and_left(here: Machine) -> None:
    session = shell(here)

    async def story() -> None:
        async with agent() as bot:
            listed = await bot.call("list_sessions")
            seen = await bot.call("attach", **ON, observe=True)
            joined = await bot.call("attach", **ON)
            left = await bot.call("detach", **ON)
            again = await bot.call("detach", **ON)
            lost = await bot.refused("attach", session="nowhere")
            none = await bot.refused("list_sessions", host="nowhere")

        (one,) = listed["sessions"]
        assert (listed["you"], listed["hosts_elsewhere"]) == ("mcp-agent", [])
        assert (one["session"], one["id"], one["life"]) == ("build", session, "live")
        assert (one["cwd"], one["exit_status"]) == ("/", None)
        assert one["state"] in ("at-prompt", "running")
        assert one["command"].split()[0] == "bash"
        assert [who["mode"] for who in seen["attached"]] == ["observe"]
        assert "operate" in [who["mode"] for who in joined["attached"]]
        assert (seen["session"], seen["id"]) == ("build", session)
        assert seen["state"] in ("at-prompt", "running")
        assert left == {"session": "build", "was_attached": True}
        assert again == {"session": "build", "was_attached": False}
        assert lost["code"] == "session-not-found"
        assert none["code"] == "host-not-known"

    told(story)


def test_what_is_shown_and_printed_is_told_from_a_cursor_on(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            ran = await bot.call("run", **ACT, command="echo $((6 * 7)); echo last")
            shown = await bot.call("screen", **ON)
            end = await bot.call("read", **ON, max_bytes=4096)
            some = await bot.call("read", **ON, cursor=ran["cursor"], max_bytes=4)
            rest = await bot.call("read", **ON, cursor=some["next_cursor"])
            none = await bot.call("read", **ON, cursor=rest["next_cursor"])

        assert "42\nlast" in shown["screen"]["text"]
        assert shown["size"] == {"columns": 80, "rows": 24}
        assert shown["next_cursor"] == rest["next_cursor"]
        assert "42\nlast\n" in end["output"]["text"]
        assert not end["has_more"]
        assert (some["output"]["text"], some["cursor"]) == ("42\n", ran["cursor"])
        assert some["has_more"]
        assert rest["output"]["text"].startswith("last\n")
        assert (none["output"]["text"], none["has_more"]) == ("", False)

    told(story)


def test_what_runs_and_who_is_here_is_told(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with (
            agent() as bot,
            holdfast.connect() as host,
            host.attach("build") as person,
        ):
            before = await bot.call("state", **ON)
            await person.take()
            with pytest.raises(holdfast.errors.CommandGoesOn):
                await person.run("sleep 600", timeout=0.3)
            runs = await bot.call("state", **ON)
            graph = await bot.call("graph", **ON)
            who = await bot.call("who", **ON)

        assert before["state"] == "at-prompt"
        assert runs["state"] == "running"
        assert any("sleep 600" in one["command"] for one in graph["processes"])
        assert (graph["not_listed"], graph["listeners"]) == (0, [])
        assert (who["turn"], who["turn_is_yours"]) == (login_name(), False)
        assert {one["name"] for one in who["attached"]} == {"mcp-agent", login_name()}
        assert "input" in who["your_rights"]
        assert "approve" not in who["your_rights"]

    told(story)


def test_the_book_is_read_from_an_entry_on_and_names_people(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            for number in range(3):
                await bot.call("run", **ACT, command=f"echo {number}")
            last = await bot.call("log", **ON, max_entries=2)
            first = await bot.call("log", **ON, since=0, max_entries=2)
            second = await bot.call("log", **ON, since=first["next_since"])
            none = await bot.call("log", **ON, since=second["next_since"])

        assert len(last["entries"]) == len(first["entries"]) == 2
        assert not last["has_more"]
        assert (first["has_more"], second["has_more"]) == (True, False)
        indices = [one["index"] for one in (*first["entries"], *second["entries"])]
        assert indices == sorted(set(indices))
        assert indices[0] == 0
        assert none["entries"] == []
        typed = [one for one in second["entries"] if one["kind"] == "input"]
        assert typed[-1]["typed"].startswith("echo 2")
        assert typed[-1]["actor"] == "mcp-agent"

    told(story)


def test_who_is_behind_something_is_told(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            await host.attach("build").run("alias deploy='rm x'")
            alias: dict[str, Any] = {}
            while not alias.get("behind"):  # The shell tells of it beside its prompt.
                alias = await bot.call("blame", **ON, what="alias", name="deploy")
            odd = await bot.refused("blame", **ON, what="alias")
            also = await bot.refused("blame", **ON, what="line", name="x")
            await bot.call("send", **ACT, text="ls")
            line = await bot.call("blame", **ON, what="line")

        assert alias["behind"]["pressed_enter"] == login_name()
        assert alias["behind"]["line"].startswith("alias deploy")
        assert odd["code"] == also["code"] == "malformed-argument"
        assert line["typed"]["text"] == "ls"
        assert line["typed_by"] == [{"bytes": 2, "actor": "mcp-agent"}]

    told(story)


def test_each_condition_is_waited_for(here: Machine) -> None:
    shell(here)

    async def waited(bot: Agent, condition: str, **more: object) -> dict[str, Any]:
        return await bot.call("wait", **ON, condition=condition, timeout=15, **more)

    async def story() -> None:
        async with agent() as bot:
            prompt = await waited(bot, "prompt")
            await bot.call("send", **ACT, text="read -s x", enter=True)
            secret = await waited(bot, "secret")
            late = await bot.refused("wait", **ON, condition="prompt", timeout=0.3)
            await bot.call("keys", **ACT, keys=["Enter"])
            await waited(bot, "prompt")
            await bot.call("send", **ACT, text="cat", enter=True)
            reads = await waited(bot, "input")
            quiet = await waited(bot, "quiet", seconds=0.2)
            await bot.call("send", **ACT, text="needle", enter=True)
            found = await waited(bot, "output", pattern="need(le)")
            none = await bot.refused("wait", **ON, condition="output")
            await bot.call("keys", **ACT, keys=["C-d"])
            await waited(bot, "prompt")

        assert (prompt["state"], secret["state"]) == ("at-prompt", "waiting-for-secret")
        assert not secret["shows_what_is_typed"]
        assert late["code"] == "waited-in-vain"
        assert reads["state"] == "waiting-for-input"
        assert quiet["quiet_for"] == 0.2
        assert found["found"]["text"] == "needle"
        assert found["next_cursor"] == found["cursor"] + len("needle")
        assert none["code"] == "malformed-argument"

    told(story)


def test_the_end_of_a_session_is_waited_for(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            await bot.call("send", **ACT, text="exit 3", enter=True)
            over = await bot.call("wait", **ON, condition="exit", timeout=15)
            (listed,) = (await bot.call("list_sessions"))["sessions"]

        assert over == {"exit_status": 3}
        assert (listed["life"], listed["exit_status"]) == ("exited", 3)

    told(story)


def test_a_port_is_waited_for(here: Machine, tmp_path: Path) -> None:
    shell(here)
    line = (
        "import socket, time; s = socket.create_server(('127.0.0.1', 0));"
        f" open('{tmp_path}/port', 'w').write(str(s.getsockname()[1])); time.sleep(600)"
    )

    async def port() -> int:
        file = tmp_path / "port"
        text = file.read_text() if os.path.exists(file) else ""  # noqa: ASYNC240, PTH110
        return int(text or 0)

    async def story() -> None:
        async with agent() as bot:
            await bot.call("run", **ACT, command=f'python3 -c "{line}"', timeout=0.5)
            wanted = await until(port)
            heard = await bot.call("wait", **ON, condition="port", port=wanted)
            graph = await bot.call("graph", **ON)

        assert (heard["port"], heard["address"]) == (wanted, "127.0.0.1")
        assert {one["port"] for one in graph["listeners"]} == {wanted}
        assert {one["pid"] for one in graph["listeners"]} == {heard["pid"]}

    told(story)


def test_tools_say_whether_they_only_look(here: Machine) -> None:
    del here

    async def story() -> None:
        async with agent() as bot:
            tools = (await bot.client.list_tools()).tools
            odd = await bot.refused("seize_turn", **ON)

        hints = {one.name: one.annotations for one in tools}
        assert all(one is not None for one in hints.values())
        looks = {name for name, one in hints.items() if one and one.read_only_hint}
        risky = {name for name, one in hints.items() if one and one.destructive_hint}
        assert looks >= {"screen", "read", "log", "wait", "attach"}
        assert risky == {
            *("run", "send", "keys", "signal", "answer", "checkpoint", "fork"),
        }
        assert not looks & risky
        assert odd["code"] == "malformed-argument"

    told(story)


def test_screens_are_resources_that_can_be_read(here: Machine) -> None:
    session = shell(here)

    async def story() -> None:
        async with agent() as bot:
            await bot.call("run", **ACT, command="echo $((6 * 7))")
            client = bot.client
            listed = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            uri = next(str(one.uri) for one in listed if "build" in one.name)
            (read,) = (await client.read_resource(uri)).contents

        assert len(listed) == 2
        assert session in uri or "build" in uri
        assert len(templates) == 1
        assert "42" in getattr(read, "text", "")

    told(story)


def test_a_flood_of_calls_is_refused_and_the_rest_are_answered(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            await bot.call("attach", **ON)
            calls = [
                bot.tried("wait", **ON, condition="exit", timeout=1)
                for _ in range(MAX_CALLS + 4)
            ]
            answers = await asyncio.gather(*calls)
            after = await bot.call("state", **ON)

        found = [one["error"]["code"] for one in answers]
        assert found.count("asked-too-often") == 4
        assert found.count("waited-in-vain") == MAX_CALLS
        assert after["state"] == "at-prompt"

    told(story)


def test_somebody_is_called_with_the_agent_s_own_words(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            called = await bot.call("notify", session="build", text="may I deploy?")
            (one,) = (await bot.call("list_sessions"))["sessions"]
            empty = await bot.refused("notify", session="build", text="")
            lost = await bot.refused("notify", session="nowhere", text="help")
            await bot.call("run", session="build", command=":", intent="go on")
            (after,) = (await bot.call("list_sessions"))["sessions"]

        assert (called["was_called"], called["session"]) == (True, "build")
        assert one["attention"]["what"] == "needs-input"
        assert one["attention"]["source"].startswith("a_")
        assert "may I deploy?" in one["attention"]["said"]["text"]
        assert empty["code"] == "malformed-argument"
        assert lost["code"] == "session-not-found"
        assert after["attention"] is None

    told(story)
