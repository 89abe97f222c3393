import os

import pytest
from tests.scenarios.support import Machine
from tests.sdk.support import go, shell

import holdfast
from holdfast import errors
from holdfast.wire.graphs import Process


def test_a_command_is_run_and_its_status_and_output_are_known(here: Machine) -> None:
    del here

    async def story() -> holdfast.CommandResult:
        async with holdfast.connect() as host:
            session = await shell(host)
            return await session.run("cd /tmp; echo one; echo two; (exit 3)")

    result = go(story())

    assert (result.status, result.output, result.cwd) == (3, "one\ntwo\n", "/tmp")  # noqa: S108
    assert not result.is_truncated
    assert result.stopped is holdfast.Stop.ENDED
    assert result.duration >= 0


def test_of_much_output_both_ends_are_returned(here: Machine) -> None:
    del here

    async def story() -> holdfast.CommandResult:
        async with holdfast.connect() as host:
            return await (await shell(host)).run("seq 100000", max_output=100)

    result = go(story())

    assert result.is_truncated
    assert result.output.endswith("99999\n100000\n")
    assert (len(result.head), len(result.raw)) == (25, 75)
    assert result.output.startswith("1\n2\n3\n")
    assert f"\n[… {result.omitted} bytes left out …]\n" in result.output
    assert result.end is not None
    assert result.omitted == result.end - result.start - 100


def test_the_same_key_never_runs_twice(
    here: Machine, tmp_path: os.PathLike[str]
) -> None:
    del here
    line = f"echo x >>{os.fspath(tmp_path)}/ran; cat {os.fspath(tmp_path)}/ran"

    async def story() -> tuple[holdfast.CommandResult, holdfast.CommandResult]:
        async with holdfast.connect() as host:
            session = await shell(host)
            first = await session.run(line, key="deploy-7")
            with pytest.raises(errors.KeyUsed):
                await session.run("true", key="deploy-7")
            return first, await session.run(line, key="deploy-7")

    first, second = go(story())

    assert (first.output, first.number) == ("x\n", second.number)
    assert second.output == "x\n"


def test_a_command_that_goes_on_says_so_and_can_be_waited_for_again(
    here: Machine,
) -> None:
    del here

    async def story() -> str:
        async with holdfast.connect() as host:
            session = await shell(host)
            await session.wait_prompt(30)  # Its start is no part of the time below.
            with pytest.raises(errors.CommandGoesOn):
                await session.run("read word; echo got $word", key="k", timeout=0.3)
            asked = await session.run(
                "read word; echo got $word", key="k", until_input=True
            )
            assert asked.stopped is holdfast.Stop.ASKED
            assert asked.status is None
            await session.send("it", enter=True)
            return (await session.run("read word; echo got $word", key="k")).output

    assert go(story()).endswith("got it\n")


def test_what_is_typed_is_echoed_and_waited_for(here: Machine) -> None:
    del here

    async def story() -> tuple[holdfast.Match, holdfast.Chunk, holdfast.Screen]:
        async with holdfast.connect() as host, await shell(host) as session:
            await session.wait_prompt(10)
            offset = await session.send("echo answer-$((6*7))", enter=True)
            found = await session.wait_for(rb"answer-(\d+)", 10)
            await session.wait_quiet(0.2, 10)
            return found, await session.read(offset), await session.screen()

    found, chunk, screen = go(story())

    assert (found.text, found.groups) == ("answer-42", (b"42",))
    assert chunk.offset <= found.offset < found.end <= chunk.end
    assert "answer-42" in chunk.text
    assert "answer-42" in screen.text
    assert screen.size == holdfast.Size(80, 24)


async def processes(session: holdfast.Session) -> tuple[Process, ...]:
    return (await session.graph()).processes


def test_keys_interrupt_what_runs(here: Machine) -> None:
    del here

    async def story() -> int | None:
        async with holdfast.connect() as host, await shell(host) as session:
            await session.wait_prompt(10)
            await session.send("sleep 1000", enter=True)
            # Not only the shell that is about to start it.
            while not any("sleep" in one.command for one in await processes(session)):
                pass
            await session.keys("C-c")
            await session.wait_prompt(10)
            return (await session.run("echo $?")).status

    assert go(story()) == 0


def test_a_secret_is_answered_only_when_it_is_asked_for(here: Machine) -> None:
    del here

    async def story() -> tuple[str, bytes]:
        async with holdfast.connect() as host, await shell(host) as session:
            await session.wait_prompt(10)
            with pytest.raises(errors.Unavailable):
                await session.answer("too early")
            await session.send("read -s pin; echo got ${#pin}", enter=True)
            state = await session.wait_secret(10)
            await session.answer("s3cret")
            await session.wait_for("got 6", 10)
            return state.word, (await session.read()).data

    word, printed = go(story())

    assert word == "waiting-for-secret"
    assert b"s3cret" not in printed


def test_a_port_is_waited_for(here: Machine) -> None:
    del here
    serve = "import socket,time;s=socket.create_server(('127.0.0.1',0));"
    serve += "print('port',s.getsockname()[1],flush=True);time.sleep(99)"

    async def story() -> tuple[int, holdfast.Listening]:
        async with holdfast.connect() as host:
            session = await host.create(["python3", "-c", serve])
            found = await session.wait_for(rb"port (\d+)", 20)
            port = int(found.groups[0] or b"")
            listening = await session.wait_port(port, 10)
            await session.end()
            return port, listening

    port, listening = go(story())

    assert (listening.port, listening.address) == (port, "127.0.0.1")


def test_a_list_says_what_each_session_does(here: Machine) -> None:
    del here

    async def story() -> tuple[holdfast.State, str, str]:
        async with holdfast.connect() as host:
            first = await shell(host)
            asking = await host.create(["sh", "-c", "read x"])
            state = await asking.wait_input(10)
            words = {one.id: one.word for one in await host.sessions()}
            return state, words[first.id], words[asking.id]

    state, first, second = go(story())

    assert first == "at-prompt"
    assert second == state.word == "waiting-for-input"


def test_the_end_is_waited_for_and_known_afterwards(here: Machine) -> None:
    del here

    async def story() -> tuple[int, int, list[str]]:
        async with holdfast.connect() as host:
            session = await host.create(["sh", "-c", "read x; exit 7"], name="brief")
            await session.send("", enter=True)
            first, again = await session.wait_exit(10), await session.wait_exit(10)
            with pytest.raises(errors.SessionOver):
                await host.attach("brief").send("too late")
            await session.end()
            return first, again, [one.name for one in await host.sessions()]

    first, again, left = go(story())

    assert (first, again) == (7, 7)
    assert "brief" not in left


def test_the_logbook_says_who_typed_and_blame_who_set_something(here: Machine) -> None:
    del here

    async def story() -> tuple[set[str], str, str]:
        async with holdfast.connect() as host:
            session = await shell(host)
            await session.run("alias up='cd ..'")
            while (report := await session.blame("alias", "up")).silent:
                pass
            entries = await session.log()
            assert [one.index for one in entries] == list(range(len(entries)))
            later = await session.log(entries[-1].index)
            assert later[:1] == entries[-1:]  # Somebody may have left meanwhile.
            assert report.behind is not None
            typed = {str(one.fields["actor"]) for one in entries if one.kind == "input"}
            return typed, report.behind.trigger, (await session.who()).us

    typed, trigger, us = go(story())

    assert typed == {trigger} == {us}


def test_names_that_mean_nothing_are_refused(here: Machine) -> None:
    del here

    async def story() -> None:
        async with holdfast.connect() as host:
            with pytest.raises(errors.SessionNotFound):
                async with host.attach("nobody"):
                    pass
            session = await shell(host, "taken")
            with pytest.raises(errors.NameTaken):
                await shell(host, "taken")
            with pytest.raises(errors.MalformedArgument):
                await session.run("two\nlines")
            with pytest.raises(errors.MalformedArgument):
                await session.keys("C-nothing")
            with pytest.raises(errors.MalformedArgument):
                await session.wait_for("(")
            with pytest.raises(errors.OffsetAhead):
                await session.read(10**9)
            await session.end()
        with pytest.raises(errors.HostNotKnown):
            async with holdfast.connect("nowhere"):
                pass

    go(story())


def test_an_error_of_the_block_is_raised_as_it_is(here: Machine) -> None:
    del here

    async def story() -> None:
        async with holdfast.connect() as host, await shell(host) as session:
            await session.state()
            raise errors.NothingPending(3)

    with pytest.raises(errors.NothingPending):
        go(story())
