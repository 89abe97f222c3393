"""Nobody starts a program by starting a session: the command is judged first."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.agents import WHY, agent
from tests.scenarios.gated import write_policy
from tests.scenarios.proving import proven
from tests.scenarios.starts import (
    ALLOW,
    FREE,
    a_machine,
    a_marker,
    asked,
    book,
    books,
    bot,
    cli,
    ended,
    new,
    text_of,
    touching,
)
from tests.scenarios.support import Machine, eventually

import holdfast
from holdfast.client import current_operator
from holdfast.client.pending_start import waiting_in
from holdfast.core.book.logbook import EntryKind
from holdfast.model.actors import ActorKind
from holdfast.model.errors import DeniedByPolicy
from holdfast.model.inputs import InputKind
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created
from holdfast.wire import messages as wire

__all__ = ["a_machine", "a_marker"]

EXAMPLE = Path(__file__).parents[2] / "docs/examples/policy.toml"


# ── who is denied runs nothing ────────────────────────────────────────────────


@pytest.mark.parametrize("policy", ["", FREE])
def test_a_denied_agent_runs_nothing_by_the_command_line(
    here: Machine, marker: Path, policy: str
) -> None:
    write_policy(policy)

    status, said = ended(new(*touching(marker)))

    assert status == 77
    assert "no-right-to-create" in said
    assert not marker.exists()
    assert here.ask(do="list")["sessions"] == []


def test_a_denied_agent_runs_nothing_by_mcp(here: Machine, marker: Path) -> None:
    del here
    write_policy(FREE)

    async def story() -> dict[str, Any]:
        async with agent() as one:
            return await one.refused(
                "create_session", command=touching(marker), intent=WHY
            )

    assert asyncio.run(story())["code"] == "denied-by-policy"
    assert not marker.exists()


def test_a_denied_agent_runs_nothing_by_the_sdk(here: Machine, marker: Path) -> None:
    del here

    async def story() -> None:
        async with holdfast.connect(operator="bot") as host:
            with pytest.raises(DeniedByPolicy):
                await host.create(touching(marker))

    asyncio.run(story())
    assert not marker.exists()


def test_what_was_denied_is_on_record_with_who_wanted_what(
    here: Machine, marker: Path
) -> None:
    del here

    status, said = ended(new(*touching(marker)))

    (entries,) = books()
    (refused,) = [one for one in entries if one.kind is EntryKind.REFUSED]
    assert status == 77
    assert refused.fields["actor"] == bot()
    assert refused.fields["input"] == "start"
    assert (refused.fields["code"], refused.fields["rule"]) == (
        "denied-by-policy",
        "no-right-to-create",
    )
    assert str(marker) in text_of(refused)
    words = said.replace("`", " ").split()
    session = next(word for word in words if word.startswith("s_"))
    shown = cli("log", session).communicate(timeout=60)[0]
    assert str(marker) in shown


def test_what_a_human_starts_is_on_record(here: Machine, marker: Path) -> None:
    session = here.new(*touching(marker))

    eventually("it runs", marker.exists)
    (begun,) = [one for one in book(session) if one.kind is EntryKind.INPUT]
    assert begun.fields["actor"] == current_operator.ourselves().actor.id
    assert begun.fields["input"] == "start"
    assert begun.fields["rule"] == "default-human"
    assert text_of(begun).startswith("cd / && ")
    assert str(marker) in text_of(begun)
    assert "# environment " in text_of(begun)


# ── who asks is proven ────────────────────────────────────────────────────────


def _unproven(packet: dict[str, object]) -> None:
    del packet["proof"]


def _nobody(packet: dict[str, object]) -> None:
    del packet["creator"]


def _forged(packet: dict[str, object]) -> None:
    packet["creator"] = current_operator.ourselves().actor.id


def _stranger(packet: dict[str, object]) -> None:
    packet["creator"] = "a_" + "a" * 26


def _nonsense(packet: dict[str, object]) -> None:
    packet["proof"] = "no proof"


def _changed(packet: dict[str, object]) -> None:
    packet["name"] = "another"


def _old(packet: dict[str, object]) -> None:
    stale = {**packet, "creator": current_operator.ourselves().actor.id}
    del stale["proof"]
    fresh = proven(stale)
    packet |= fresh
    packet["asked_ms"] = 0


@pytest.mark.parametrize(
    "spoil", [_unproven, _nobody, _forged, _stranger, _nonsense, _changed, _old]
)
def test_a_request_without_a_valid_proof_runs_nothing(
    here: Machine, marker: Path, spoil: Callable[[dict[str, object]], None]
) -> None:
    write_policy(FREE + ALLOW)
    packet = proven(asked(marker))
    spoil(packet)
    packet.setdefault("proof", "")

    answer = here.ask(**packet)

    assert answer["ok"] is False
    assert answer["code"] in ("not-proven", "unknown-operator"), answer
    assert not marker.exists()
    assert here.ask(do="list")["sessions"] == []


def test_a_client_cannot_make_a_start_of_its_own(here: Machine) -> None:
    session = here.new("cat")
    human = here.join(session)

    human.post(b"cd / && true", InputKind.START)

    answer = human.settle()
    assert isinstance(answer, wire.Refuse)
    assert answer.code == "not-allowed"


# ── what the policy says counts ───────────────────────────────────────────────


def test_a_rule_that_names_starts_lets_an_agent_begin(
    here: Machine, marker: Path
) -> None:
    write_policy(ALLOW)

    answer = here.ask(**asked(marker))

    assert answer["ok"], answer
    eventually("it runs", marker.exists)


@pytest.mark.parametrize("name", ["LD_PRELOAD", "BASH_ENV", "PATH", "SECRET"])
def test_what_an_agent_sets_for_it_makes_it_undecidable(
    here: Machine, marker: Path, name: str
) -> None:
    write_policy(ALLOW)
    env = {"PATH": os.environ["PATH"], name: f"/nowhere{marker}"}

    answer = here.ask(**asked(marker, command=["/bin/sh"], env=env))

    assert answer["ok"], answer
    waits = waiting_in(record_of(Created, answer))
    assert waits is not None
    assert name in waits.text.decode()
    assert (f"/nowhere{marker}" in waits.text.decode()) == (name != "SECRET")


def test_an_agent_s_own_variables_do_not_get_into_its_session(
    here: Machine, marker: Path
) -> None:
    del here
    write_policy(ALLOW)
    command = ["sh", "-c", f"env > {marker}.new; mv {marker}.new {marker}; sleep 60"]

    status, said = ended(new(*command, LD_AUDIT="/nowhere/evil.so", MY_OWN="1"))

    assert status == 0, said
    eventually("it runs", marker.exists)
    assert "LD_AUDIT" not in marker.read_text()
    assert "MY_OWN" not in marker.read_text()
    assert "PATH=" in marker.read_text()


def test_what_is_found_on_a_path_of_the_agent_s_own_is_not_what_a_rule_allows(
    here: Machine, tmp_path: Path, marker: Path
) -> None:
    write_policy(ALLOW)
    evil = tmp_path / "sh"
    evil.write_text(f"#!/bin/sh\ntouch {marker}\n")
    evil.chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    answer = here.ask(**asked(marker, command=["sh"], env=env))

    assert answer.get("state") == "starting" or answer["ok"] is False, answer
    assert not marker.exists()


def test_the_example_lets_agents_start_a_shell_of_their_own(here: Machine) -> None:
    del here
    write_policy(EXAMPLE.read_text())
    shell = {"SHELL": "/bin/bash"}

    mine = ended(new(name="agent-work", **shell))
    theirs = ended(new(name="build", **shell))
    more = ended(new("bash", "-c", "true", name="agent-more", **shell))

    assert mine[0] == 0, mine
    assert theirs[0] == 77, theirs
    assert more[0] == 77, more


def test_a_rename_does_not_change_the_rules_that_hold(
    here: Machine, marker: Path
) -> None:
    rule = '[[rule]]\nverdict = "allow"\nkind = "agent"\nsession = "agent-*"\n'
    write_policy(rule)
    session = here.new("sh")
    assert here.ask(do="rename", id=session, name="agent-mine")["ok"]
    itself = here.join(session, "bot", ActorKind.AGENT)

    answer = itself.enter(f"touch {marker}\r".encode())

    assert isinstance(answer, wire.Refuse)
    assert answer.code == "denied-by-policy"
    assert not marker.exists()


def test_the_first_exec_of_a_gated_session_is_judged(
    here: Machine, marker: Path
) -> None:
    rule = '[[rule]]\nname = "no-sh"\nverdict = "deny"\nat = "exec"\nfirst = "sh"\n'
    write_policy(rule)
    ours = current_operator.ourselves().actor.id

    answer = here.ask(**asked(marker, creator=ours, exec_gate=True))

    assert (answer["ok"], answer["code"]) == (False, "denied-by-policy"), answer
    assert not marker.exists()
