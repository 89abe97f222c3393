from hypothesis import given
from hypothesis import strategies as st
from tests.core.resolving_world import World, state

from holdfast.core.provenance.line_resolution import MAX_LINKS, Shell, resolve
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.simple_command import Command


@given(st.binary(max_size=80))
def test_i1_there_is_one_answer_for_each_command_whatever_was_typed(raw: bytes) -> None:
    world = World(now=state(aliases={"a": "b c", "ls": "sudo ls"}, functions=("f",)))
    world.file("/bin/ls", b"#!/bin/sh")
    commands = read_line(raw, ended=True)
    shell = Shell(world.now, world.origins())

    found = resolve(commands, shell, world.files.get)

    assert len(found.commands) == len(commands)


@given(st.lists(st.sampled_from(["sudo", "env", "a", "ls", "sh", "-c", "time", "A=b"])))
def test_i1_and_i4_no_chain_is_longer_than_it_may_be(words: list[str]) -> None:
    world = World(now=state(aliases={"a": "sudo a; a", "ls": "env "}))
    world.file("/bin/ls", b"#!/bin/ls")
    shell = Shell(world.now, world.origins())

    found = resolve((Command(tuple(words)),), shell, world.files.get)

    assert len(found.commands[0].links) <= MAX_LINKS
