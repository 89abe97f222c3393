"""Who may change what holds for the whole host: all who are behind it, or nobody."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import FakeSession
from tests.cli.support.kernel import behind as command_of
from tests.cli.support.kernel import blame, graph, process
from tests.cli.support.operating import OTHER, US
from tests.scenarios.support import Machine, machine

from holdfast.client import authority, current_operator
from holdfast.linux.stored import host_book
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire.blame import Behind

BEHIND = (
    "import json, pathlib, sys; from holdfast.client import authority;"
    "found = sorted(authority.behind_us());"
    "draft = pathlib.Path(sys.argv[1] + '.new');"
    "draft.write_text(json.dumps(found)); draft.rename(sys.argv[1])"
)
MADE_UP = SessionId("s_" + "z" * 16)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def behind(tmp_path: Path, session: SessionId) -> list[str]:
    """Return who is behind a process that says that it is of a session."""
    told = tmp_path / "told"
    subprocess.run(
        [sys.executable, "-c", BEHIND, str(told)],
        env={**os.environ, "HOLDFAST_SESSION": session},
        check=True,
    )
    found: list[str] = json.loads(told.read_text())
    return found


def test_outside_of_every_session_nobody_else_is_behind_us(here: Machine) -> None:
    del here
    us = current_operator.ourselves()

    assert authority.behind_us() == set()
    assert authority.demand_grant("gate apply") == us


def test_an_agent_changes_nothing_but_itself_and_that_is_on_record(
    here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    del here
    bot = current_operator.enrol("bot", ActorKind.AGENT)
    monkeypatch.setenv("HOLDFAST_AS", "bot")

    with pytest.raises(NotAllowed) as refused:
        authority.demand_grant("gate apply")
    assert refused.value.facts == {"actor": bot.actor.id, "right": "grant"}
    assert "gate apply" in refused.value.__notes__[0]
    assert bot.actor.id in _host_book()
    assert authority.demand_grant("operators rotate", about_us=True) == bot


def _host_book() -> str:
    return Path(host_book.host_folder(), "book.log").read_text()


def test_behind_a_session_that_is_not_there_is_nobody_known(
    here: Machine, tmp_path: Path
) -> None:
    here.new("sleep", "600")

    assert behind(tmp_path, MADE_UP) == [authority.NOBODY_KNOWN]


def test_behind_a_process_that_only_says_so_is_nobody_known(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("sleep", "600")
    here.wait_whole(session)

    assert behind(tmp_path, session) == [authority.NOBODY_KNOWN]


def test_without_a_keeper_nobody_can_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))

    assert behind(tmp_path, MADE_UP) == [authority.NOBODY_KNOWN]


BOT = ActorId("a_" + "c" * 32)


@pytest.mark.parametrize(
    ("owner", "command", "everybody"),
    [
        (OTHER, None, {OTHER}),
        ("", command_of(US, BOT), {US, BOT}),
        (OTHER, command_of(US, BOT), {OTHER, US, BOT}),
        (OTHER, command_of(ActorId(""), BOT), {OTHER, BOT}),
        ("", command_of(ActorId("")), {authority.NOBODY_KNOWN}),
        ("", None, {authority.NOBODY_KNOWN}),
    ],
)
def test_behind_us_are_the_owner_of_our_process_and_all_who_typed_its_command(
    web: FakeSession,  # noqa: F811
    owner: str,
    command: Behind | None,
    everybody: set[str],
) -> None:
    leader = web.facts["pid"]
    us = msgspec.structs.replace(process(os.getpid(), leader), actor=owner)
    web.operating.kernel.graphs = [[graph(process(leader), us)]]
    web.operating.kernel.blames["process"] = blame("changed", command)

    assert authority._behind_in(web.id) == everybody  # noqa: SLF001  # our own session is not to be had
    assert authority._behind_in(MADE_UP) == {authority.NOBODY_KNOWN}  # noqa: SLF001  # ditto


def test_behind_a_process_that_is_not_in_the_session_is_nobody_known(
    web: FakeSession,  # noqa: F811
) -> None:
    web.operating.kernel.graphs = [[graph(process(web.facts["pid"]))]]

    assert authority._behind_in(web.id) == {authority.NOBODY_KNOWN}  # noqa: SLF001  # as above
