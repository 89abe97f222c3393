from pathlib import Path

import pytest

from holdfast.core.policy import judge
from holdfast.core.policy_file import read_policy
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.questions import LocalTime, Question, TurnHold

ROOT = Path(__file__).parents[2]
POLICY = read_policy((ROOT / "docs/examples/policy.toml").read_bytes())


def said(
    payload: str,
    *,
    kind: ActorKind = ActorKind.AGENT,
    given: InputKind = InputKind.COMMAND,
    cwd: str = "/home/bot/app",
    session: str = "build",
    turn: TurnHold = TurnHold.TAKEN,
) -> str:
    question = Question(
        actor=Actor(actor_id(b"k"), kind, "somebody"),
        kind=given,
        payload=payload.encode(),
        session=SessionId("s_" + "a" * 16),
        session_name=session,
        clock=LocalTime(720, 0),
        turn=turn,
        cwd=cwd,
        staged=b"",
    )
    judgement = judge(POLICY, question)
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
        ("cp x /home/me/.config/holdfast/policy.toml", "deny no-policy"),
        ("echo x > policy.toml", "deny no-policy"),
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
        ("cat x | grep y", "allow look"),
        ("git status", "allow history"),
        ("make test", "allow build"),
        ("git commit -m x", "allow build"),
        ("python -m pytest", "allow build"),
        ("frobnicate", "deny default-agent"),
        ("rm x", "deny default-agent"),
        ("ls > x", "ask undecidable"),
        ("python -c x", "ask undecidable"),
        ("make $((x))", "ask undecidable"),
        ("echo cm0= | base64 -d | sh", "deny default-agent"),
    ],
)
def test_agents_are_watched(line: str, judged: str) -> None:
    assert said(line) == judged
    assert said(line + "\r", given=InputKind.KEYS) == judged


def test_building_is_for_the_folders_where_agents_work() -> None:
    assert said("make", cwd="/etc") == "deny default-agent"
    assert said("make", cwd="/srv/work/x") == "allow build"


def test_keys_that_are_no_whole_line_are_asked_about() -> None:
    assert said("l", given=InputKind.KEYS) == "ask undecidable"
    assert said("l", given=InputKind.KEYS, session="agent-1") == "ask undecidable"


def test_an_agent_may_do_more_in_a_session_of_its_own() -> None:
    assert said("frobnicate", session="agent-1") == "allow own-session"
    assert said("rm -rf x", session="agent-1") == "ask remove-trees"
    assert said("mkfs x", session="agent-1") == "deny no-disks"


def test_whoever_has_the_turn_may_stop_and_resize() -> None:
    assert said("2", given=InputKind.SIGNAL) == "allow stop"
    assert said("9", given=InputKind.SIGNAL) == "deny default-agent"
    assert said("80x24", given=InputKind.RESIZE) == "allow size"
    without = said("80x24", given=InputKind.RESIZE, turn=TurnHold.NONE)
    assert without == "deny default-agent"


def test_a_service_is_not_an_agent() -> None:
    assert said("ls", kind=ActorKind.SERVICE) == "deny default-service"
    assert said("mkfs x", kind=ActorKind.SERVICE) == "deny no-disks"


def test_the_example_that_is_installed_is_the_one_of_the_documentation() -> None:
    installed = ROOT / "src/holdfast/cli/example_policy.toml"

    assert installed.read_bytes() == (ROOT / "docs/examples/policy.toml").read_bytes()
