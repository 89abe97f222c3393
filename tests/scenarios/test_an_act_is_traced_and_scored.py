"""An agent's act, from its declaration to its score, on a real session."""

import json
import os
from pathlib import Path

import pytest
from tests.scenarios.support import apply_policy, eventually, machine
from tests.sdk.support import go

import holdfast
from holdfast.cli.main import main
from holdfast.client import current_operator
from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.expectations import Expectation
from holdfast.model.ids import SessionId

POLICY = '[default]\nagent = "allow"\n'


def test_what_a_command_did_is_compared_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with machine():
        apply_policy(POLICY)
        current_operator.enrol("bot", ActorKind.AGENT)

        async def story() -> str:
            async with holdfast.connect() as people:
                env = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "PS1": "$ "}
                made = await people.create("bash", env=env, cwd=str(tmp_path))
                await made.wait_prompt()
            async with (
                holdfast.connect(operator="bot") as host,
                host.attach(made.id) as session,
            ):
                for line, expected in (
                    ("touch out", Expectation(("out",))),
                    ("touch out odd", Expectation(("out",))),
                ):
                    await session.intend(
                        "run", "to see", prompt="m-1", expects=expected
                    )
                    await session.run(line, timeout=60)
                await session.intend("run", "to see", idempotent=True)
                await session.run("false", timeout=60, idempotent=True, retries=1)
                return made.id

        name = go(story())

        def entries(kind: EntryKind) -> list[Entry]:
            raw = places.log_dir().joinpath(f"{name}.log").read_bytes()
            found = recover(raw, SessionId(name)).entries
            return [one for one in found if one.kind is kind]

        eventually("both are observed", lambda: len(entries(EntryKind.OBSERVED)) == 2)
        first, second = [one.fields for one in entries(EntryKind.OBSERVED)]
        assert (first["as"], second["as"]) == ("matched", "unintended")
        assert second["files"] == "odd"
        acted = [one.fields.get("action") for one in entries(EntryKind.INPUT)]
        assert "/usr/bin/touch out" in acted
        attempts = [one.fields["attempt"] for one in entries(EntryKind.INTENDED)]
        assert attempts == [1, 1, 1, 2]

        assert main(["score", "bot", "--json"]) == 0
        (bot,) = json.loads(capsys.readouterr().out)["operators"]

    assert (bot["acts"], bot["matched"], bot["unintended"]) == (4, 1, 1)
    assert (bot["failed"], bot["retried"]) == (2, 1)
