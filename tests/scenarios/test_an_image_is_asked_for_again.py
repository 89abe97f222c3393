"""A client whose link is cut asks for its image again, and there is one."""

import os

import pytest
from tests.scenarios.support import Client, Machine, machine

from holdfast.linux.capsule import trial
from holdfast.linux.criu import program
from holdfast.linux.stored import image_list
from holdfast.model.ids import SessionId
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest

pytestmark = [
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
    pytest.mark.skipif(bool(trial.why_not()), reason="no capsule can be made here"),
]


def capsule(here: Machine) -> SessionId:
    env = {one: os.environ[one] for one in ("PATH", "HOME")}
    asked = {"command": ["sleep", "600"], "cwd": "/", "env": env, "runtime": "capsule"}
    answer = here.ask(do="create", **asked)
    assert answer["ok"], answer
    return SessionId(str(answer["id"]))


def asked(key: str) -> CheckpointRequest:
    return CheckpointRequest(stop=False, label="", branch=False, key=key)


def told(client: Client, key: str) -> str:
    client.send(asked(key))
    return client.wait(Checkpointed).image


def test_one_key_makes_one_image_whoever_dies_meanwhile() -> None:
    with machine() as here:
        session = capsule(here)
        client = here.join(session)
        # It is on its way when the link is cut, and is asked for by another.
        client.send(asked("first"))
        client.attach()
        first = told(client, "first")
        assert told(client, "first") == first
        here.replace_holder(session)
        client.attach()
        assert told(client, "first") == first

        assert [one.image for one in image_list.listed(session)] == [first]
        second = told(client, "second")
        stranger = here.join(session, "anna")
        third = told(stranger, "second")
        fourth = told(client, "")
        fifth = told(client, "")

        made = [first, second, third, fourth, fifth]
        assert len(set(made)) == 5
        assert sorted(one.image for one in image_list.listed(session)) == made
