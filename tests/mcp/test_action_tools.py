"""Each tool that does something, once: what it answers, and what became of it."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.support import agent, given_up, intended, notes_of, told
from tests.scenarios.agents import ASKED, FREE, WHY, shell, until, until_exists
from tests.scenarios.gated import write_policy
from tests.scenarios.support import Machine, machine
from tests.scenarios.typed import is_typed

import holdfast
from holdfast.client.own_name import login_name
from holdfast.core.book.logbook import EntryKind
from holdfast.mcp.action_tools import NOT_STOPPED, WITHDRAWN

ON = {"session": "build", "intent": WHY}
SECRET: dict[str, object] = {"secret": "hush"}

ALWAYS = '[default]\nagent = "ask"\n'
"""A policy under which agents must ask for everything."""

STARTS = FREE + '[[rule]]\nname = "start"\nverdict = "allow"\ninput = "start"\n'
"""One under which they may also start sessions."""

HELD: list[tuple[str, dict[str, object], str]] = [
    ("run", {"command": "touch x"}, "run 'touch x'"),
    ("send", {"text": "touch x", "enter": True}, "send"),
    ("keys", {"keys": ["l", "Enter"]}, "keys"),
    ("signal", {"signal": "TERM"}, "signal"),
    ("answer", SECRET, "answer"),
]
"""Each tool whose act can be held, with what it is given and called afterwards."""

ASKING = "read -s secret"
SHELL = "bash"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHELL", f"/bin/{SHELL}")
    with machine() as made:
        yield made


def test_a_session_is_started_with_what_was_asked_for(
    here: Machine, tmp_path: Path
) -> None:
    write_policy(STARTS)

    async def story() -> None:
        async with agent() as bot:
            made = await bot.call(
                "create_session",
                intent="build it",
                expected_effect="a shell",
                name="build",
                command=["sh", "-c", "pwd; sleep 600"],
                cwd=str(tmp_path),
            )
            plain = await bot.call("create_session", intent=WHY)
            (one, other) = (await bot.call("list_sessions"))["sessions"]
            printed = await bot.call(
                "wait", session="build", condition="output", pattern=str(tmp_path)
            )
            said = await bot.call("log", session="build", max_entries=50)

        assert (made["session"], made["id"]) == ("build", one["id"])
        assert made["you"] == "mcp-agent"
        assert [who["program"] for who in made["attached"]] == ["mcp"]
        assert (one["cwd"], one["session"]) == (str(tmp_path), "build")
        assert one["command"].startswith("sh -c ")
        assert printed["found"]["text"].strip() == str(tmp_path)
        assert plain["id"] == other["id"]
        assert Path(other["command"].split()[0]).name == SHELL
        (intent,) = [entry for entry in said["entries"] if entry["kind"] == "intended"]
        assert (intent["intent"], intent["effect"]) == ("build it", "a shell")
        assert intent["act"] == "create-session"

    told(story)
    assert here.ask(do="list")["ok"]


def test_a_start_that_nobody_approves_in_time_is_given_up(
    here: Machine, tmp_path: Path
) -> None:
    del here
    write_policy('[[rule]]\nname = "start"\nverdict = "ask"\ninput = "start"\n')

    async def story() -> str:
        async with agent() as bot:
            error = await bot.refused(
                "create_session",
                intent=WHY,
                command=["touch", f"{tmp_path}/ran"],
                timeout=0.5,
            )
            return str(error["code"])

    assert told(story) == "approval-timeout"
    assert not (tmp_path / "ran").exists()


def test_a_line_is_run_as_it_is_asked_for(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            hidden = r"printf '\e[8mhidden'; yes | head -c 5000; printf 'end\n'"
            cut = await bot.call("run", **ON, command=hidden, max_bytes=100)
            whole = await bot.call("run", **ON, command="echo a; echo b")
            first = await bot.call("run", **ON, command="echo $RANDOM", key="once")
            again = await bot.call("run", **ON, command="echo $RANDOM", key="once")
            asks = await bot.call("run", **ON, command="read answer")
            await bot.call("send", **ON, text="x", enter=True)
            await bot.call("wait", session="build", condition="prompt")
            waits = await bot.call(
                "run", **ON, command="read answer", until_input=False, timeout=0.7
            )
            await bot.call("keys", **ON, keys=["C-c"])
            await bot.call("wait", session="build", condition="prompt")
            serves = await bot.call(
                "run", **ON, command="echo up; sleep 600", until_printed="up"
            )

        assert cut["bytes_left_out"] > 4000
        assert len(cut["output"]["text"]) <= 100
        assert "concealed" in {one["reason"] for one in cut["output"]["hidden"]}
        assert (whole["output"]["text"], whole["output"]["hidden"]) == ("a\nb\n", [])
        assert first["output"]["text"] == again["output"]["text"] != ""
        assert (asks["goes_on"], asks["state"]) == (True, "waiting-for-input")
        assert waits["stopped_waiting"] == "timeout"
        assert (waits["status"], waits["goes_on"]) == (None, True)
        assert waits["state"] == "waiting-for-input"
        assert "`wait`" in waits["next_step"]
        assert (serves["goes_on"], serves["output"]["text"]) == (True, "up\n")

    told(story)


def test_what_a_command_printed_before_its_time_was_over_is_told(
    here: Machine,
) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            line = "echo before; sleep 600"
            ran = await bot.call("run", **ON, command=line, timeout=0.7, max_bytes=9)
        assert ran["output"]["text"] == "before\n"
        assert ran["next_cursor"] == ran["cursor"] + len("before\r\n")

    told(story)


def test_text_and_keys_are_typed_and_the_answer_says_where_to_read_on(
    here: Machine,
) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            sent = await bot.call("send", **ON, text="echo on")
            stands = await bot.call("blame", session="build", what="line")
            await bot.call("keys", **ON, keys=["e", "Enter"])
            seen = await bot.call(
                "wait", session="build", condition="output", pattern="one\r"
            )
            odd = await bot.refused("keys", **ON, keys=["Entre"])

        assert sent["was_typed"]
        assert stands["typed"]["text"] == "echo on"
        assert seen["cursor"] >= sent["cursor"]
        assert odd["code"] == "malformed-argument"

    told(story)


def test_a_secret_is_typed_and_kept_nowhere(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            early = await bot.refused("answer", **ON, **SECRET)
            await bot.call("run", **ON, command=ASKING)
            answered = await bot.call("answer", **ON, **SECRET)
            await bot.call("wait", session="build", condition="prompt")
            ran = await bot.call("run", **ON, command="echo ${#secret}")
            book = await host.attach("build").log()

        assert early["was_done"] == "no"
        assert answered["was_typed"]
        assert ran["output"]["text"] == "4\n"
        assert "hush" not in str([one.fields for one in book])

    told(story)


def test_a_signal_is_sent_and_the_answer_says_what_is_so_now(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            loop = 'trap "echo caught" USR1; while :; do sleep 0.05; done'
            await bot.call("run", **ON, command=f"bash -c '{loop}'", timeout=0.5)
            sent = await bot.call("signal", **ON, signal="USR1")
            await bot.call(
                "wait", session="build", condition="output", pattern="caught\r"
            )
            await bot.call("signal", **ON)
            await bot.call("wait", session="build", condition="prompt")
        assert sent == {"was_sent": True, "state": "running"}

    told(story)


def test_the_turn_is_taken_given_asked_for_and_dropped(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with (
            agent() as bot,
            holdfast.connect() as host,
            host.attach("build") as person,
        ):
            free = await bot.call("who", session="build")
            taken = await bot.call("take_turn", session="build")
            given = await bot.call("give_turn", session="build", to=login_name())
            has = (await person.who()).has_turn
            late = await bot.refused("ask_turn", **ON, timeout=0.3)
            asking = bot.begin("ask_turn", **ON, timeout=10)
            await until(lambda: _waiting(person))
            await person.give("mcp-agent")
            asked = await asking
            dropped = await bot.call("drop_turn", session="build")
            gone = await bot.refused("give_turn", session="build", to="nobody")
            book = await person.log()

        assert (free["turn"], free["turn_is_yours"]) == (None, False)
        assert (taken["turn"], taken["turn_is_yours"]) == ("mcp-agent", True)
        assert (given["turn"], given["turn_is_yours"], has) == (
            login_name(),
            False,
            True,
        )
        assert late["code"] == "ask-refused"
        assert asked["turn_is_yours"]
        assert dropped["turn"] is None
        assert gone["code"] == "operator-not-here"
        intents = [one.fields for one in book if one.kind is EntryKind.INTENDED]
        assert [one["act"] for one in intents] == ["ask-turn", "ask-turn"]
        assert {one["intent"] for one in intents} == {WHY}

    told(story)


# ── calls that are given up ───────────────────────────────────────────────────


@pytest.mark.parametrize("has_turn", [True, False])
@pytest.mark.parametrize(("tool", "given", "called"), HELD)
def test_what_waits_for_approval_is_taken_back_when_the_call_is_cancelled(
    here: Machine,
    capfd: pytest.CaptureFixture[str],
    tool: str,
    given: dict[str, object],
    called: str,
    *,
    has_turn: bool,
) -> None:
    shell(here, ALWAYS)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            person = host.attach("build")
            if tool in ("signal", "answer"):
                await person.run(ASKING, until_input=True)
            typed = [one for one in await person.log() if is_typed(one)]
            if has_turn:
                await bot.call("take_turn", session="build")
            calling = bot.begin(tool, **ON, **given)
            await until(person.pending)
            await person.intend("wait", "somebody else means something else")
            await given_up(calling)
            notes = await notes_of(bot, until)
            after = await bot.call("who", session="build")
            book = await person.log()

        assert notes == [f"Your call of {called} {WITHDRAWN}"]
        assert after["waiting_for_approval"] == []
        assert "notes" not in after
        # `run` gives a free turn back; typing keeps it, for what comes next.
        assert after["turn_is_yours"] is (has_turn or tool != "run")
        assert [one for one in book if is_typed(one)] == typed

    told(story)
    assert "Traceback" not in capfd.readouterr().err
    assert not os.path.lexists("x")


@pytest.mark.parametrize(("tool", "given", "called"), HELD)
def test_what_nobody_approves_within_the_caller_s_time_was_not_done(
    here: Machine, tool: str, given: dict[str, object], called: str
) -> None:
    del called
    shell(here, ALWAYS)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            person = host.attach("build")
            if tool in ("signal", "answer"):
                await person.run(ASKING, until_input=True)
            error = await bot.refused(tool, **ON, **given, approval_timeout=0.3)
            pending = await person.pending()

        assert (error["code"], error["was_done"]) == ("approval-timeout", "no")
        assert pending == ()

    told(story)


@pytest.mark.parametrize("policy", [FREE, ASKED])
def test_a_run_that_is_cancelled_when_it_was_typed_goes_on_and_that_is_told(
    here: Machine, capfd: pytest.CaptureFixture[str], tmp_path: Path, policy: str
) -> None:
    shell(here, policy)
    begun = tmp_path / "begun"
    line = f"touch {begun}; sleep 600"

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            running = bot.begin("run", **ON, command=line)
            if policy == ASKED:
                person = host.attach("build")
                (waiting,) = await until(person.pending)
                await person.approve(waiting)
            await until_exists(begun)
            await given_up(running)
            notes = await notes_of(bot, until)
            state = await bot.call("state", session="build")

        assert notes == [f"Your call of run {line!r} {NOT_STOPPED}"]
        assert state["state"] == "running"

    told(story)
    assert "Traceback" not in capfd.readouterr().err


def test_what_another_agent_waits_for_is_not_taken_back(here: Machine) -> None:
    shell(here, ALWAYS)

    async def story() -> None:
        async with (
            agent() as bot,
            agent("other-agent") as other,
            holdfast.connect() as host,
        ):
            person = host.attach("build")
            await other.call("attach", session="build")
            held = other.begin("run", **ON, command="touch other")
            (waiting,) = await until(person.pending)
            mine = bot.begin("send", **ON, text="touch other", enter=True)
            await until(lambda: intended(person, 2))
            await given_up(mine)
            after = await bot.call("who", session="build")
            pending = await person.pending()
            await person.deny(waiting)
            await asyncio.wait({held})

        assert "notes" not in after
        assert pending == (waiting,)

    told(story)


async def _waiting(person: holdfast.Session) -> object:
    return (await person.who()).waiting
