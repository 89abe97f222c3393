from dataclasses import replace
from os.path import normpath
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.policy.named_paths import every_path
from holdfast.core.policy.policy import commands_in, judge
from holdfast.core.policy.policy_file import read_policy
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question, TurnHold

ROOT = Path(__file__).parents[2]
POLICY = read_policy((ROOT / "docs/examples/policy.toml").read_bytes())


BOT = actor_id(b"k")
HOME = "/home/bot"


def said(
    payload: str,
    *,
    kind: ActorKind = ActorKind.AGENT,
    given: InputKind = InputKind.COMMAND,
    cwd: str = f"{HOME}/app",
    session: str = "build",
    **more: Any,  # noqa: ANN401  # whichever are of interest
) -> str:
    question = Question(  # noqa: S604  # not a process
        actor=Actor(BOT, kind, "somebody"),
        kind=given,
        payload=payload.encode(),
        session=SessionId("s_" + "a" * 16),
        session_name=session,
        clock=LocalTime(720, 0),
        cwd=cwd,
        staged=b"",
        home=HOME,
        shell="bash",
        **more,
    )
    named = every_path(commands_in(question))
    paths = {one: (normpath(Path(cwd) / one.text),) for one in named}
    judgement = judge(POLICY, replace(question, paths=paths))
    return f"{judgement.verdict} {judgement.rule}"


@pytest.mark.parametrize("line", ["x", "sudo mkfs x", "rm -rf /", "$(x)", "\x1b[A"])
def test_people_are_free(line: str) -> None:
    assert said(line, kind=ActorKind.HUMAN) == "allow default-human"
    keys = said(line, kind=ActorKind.HUMAN, given=InputKind.KEYS)
    assert keys == "allow default-human"


@pytest.mark.parametrize(
    ("line", "judged"),
    [
        ("mkfs.ext4 /dev/sda", "deny no-disks"),
        ("dd if=/dev/zero of=/dev/sda", "deny no-disks"),
        ("sudo shutdown now", "deny no-power"),
        ("systemctl reboot", "deny no-power-by-systemd"),
        ("systemctl --force reboot", "deny no-power-by-systemd"),
        ("holdfast approve build", "deny no-holdfast"),
        ("crontab x", "deny no-holdfast"),
        ("cp x /home/bot/.config/holdfast/policy.toml", "ask default-agent"),
        ("echo x > /home/bot/.bashrc", "ask default-agent"),
        ("sudo ls", "ask other-users"),
        ("rm -rf x", "ask remove-trees"),
        ("rm x -fr", "ask remove-trees"),
        ("rm --recursive x", "ask remove-trees"),
        ("find . -delete", "ask remove-trees"),
        ("git push origin", "ask publish"),
        ("git -C x push", "ask publish"),
        ("ssh host x", "ask other-machines"),
        ("apt-get -y install x", "ask packages"),
        ("pip install x", "ask packages"),
        ("ls -l", "allow look"),
        ("ls > x", "allow look"),
        ("cat x", "allow read"),
        ("rm x", "allow write"),
        ("git status", "allow history"),
        ("git commit -m x", "allow commit"),
        ("make test", "allow build"),
        ("python3 -m pytest", "allow build"),
        ("python3 x.py", "allow scripts"),
        ("frobnicate", "ask default-agent"),
        ("python -c x", "ask undecidable"),
        ("make $((x))", "ask undecidable"),
        ("echo cm0= | base64 -d | sh", "ask undecidable"),
    ],
)
def test_agents_are_watched(line: str, judged: str) -> None:
    assert said(line) == judged
    assert said(line + "\r", given=InputKind.KEYS) == judged


def test_building_is_for_the_folders_where_agents_work() -> None:
    assert said("make", cwd="/etc") == "ask default-agent"
    assert said("make", cwd="/home/bot") == "ask default-agent"
    assert said("make", cwd="/home/bot/.config/x") == "ask default-agent"
    assert said("make", cwd="/home/bot/x") == "allow build"


def test_keys_that_are_no_whole_line_are_asked_about() -> None:
    assert said("l", given=InputKind.KEYS) == "ask undecidable"
    assert said("l", given=InputKind.KEYS, session="agent-1") == "ask undecidable"


def test_an_agent_has_jobs_in_a_session_of_its_own() -> None:
    assert said("kill %1", session="agent-1") == "allow stop-job"
    assert said("kill %1") == "ask default-agent"
    assert said("frobnicate", session="agent-1") == "ask default-agent"


def test_what_the_agent_started_may_be_stopped_by_it() -> None:
    mine: dict[str, Any] = {"given": InputKind.SIGNAL, "started_by": (BOT,)}

    assert said("2", **mine) == "allow stop"
    assert said("15", **mine) == "allow stop"
    assert said("9", **mine) == "ask default-agent"
    theirs = said("2", given=InputKind.SIGNAL, started_by=(actor_id(b"ann"),))
    assert theirs == "ask default-agent"
    assert said("2", given=InputKind.SIGNAL) == "ask undecidable"
    key: dict[str, Any] = {
        "given": InputKind.KEYS,
        "interrupts": True,
        "started_by": (BOT,),
    }
    assert said("\x03", **key) == "allow stop"


def test_the_size_belongs_to_who_has_the_turn() -> None:
    size: dict[str, Any] = {"given": InputKind.RESIZE}

    assert said("80x24", **size, turn=TurnHold.TAKEN) == "allow size"
    assert said("80x24", **size) == "ask default-agent"


def test_a_service_is_not_an_agent() -> None:
    assert said("ls", kind=ActorKind.SERVICE) == "deny default-service"
    assert said("mkfs x", kind=ActorKind.SERVICE) == "deny no-disks"


def test_the_example_that_is_installed_is_the_one_of_the_documentation() -> None:
    installed = ROOT / "src/holdfast/cli/example_policy.toml"

    assert installed.read_bytes() == (ROOT / "docs/examples/policy.toml").read_bytes()
