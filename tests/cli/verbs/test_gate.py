import json
from pathlib import Path

import pytest
from tests.cli.support.fakes import OTHER, US, FakeKeeper, FakeSession
from tests.cli.support.operating import waiting
from tests.cli.support.pty_user import User

from holdfast.cli.main import main
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import ApprovalMismatch, SelfApproval
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.messages import Approve, Deny
from holdfast.wire.trials import Try

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]


def approval(payload: bytes = b"rm -rf build\r", ticket: int = 3) -> Approve:
    pending = waiting(payload, ticket)
    return Approve(ticket, pending.epoch, pending.digest)


def test_pending_lists_what_waits_in_every_session(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    one, other, _ = keeper.has("one", "other", "idle")
    one.operating.pending = [waiting(b"a\x1bb", 1)]
    other.operating.pending = [waiting(b"x" * 5000, 2)]

    assert main(["gate", "pending"]) == 0

    said = capsys.readouterr().out
    assert '"a\\x1bb"' in said
    assert "5000 bytes, 904 of them not shown here" in said
    assert "idle" not in said
    assert main(["gate", "pending", "one", "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["pending"]
    assert (only["ticket"], only["name"], only["rule"]) == (1, "one", "remove-trees")


def test_a_session_that_does_not_answer_hides_no_other(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    one, other = keeper.has("one", "other")
    one.operating.believes = False
    other.operating.pending = [waiting()]

    assert main(["gate", "pending"]) == 0
    said = capsys.readouterr()
    assert "remove-trees" in said.out
    assert "one: " in said.err
    assert main(["gate", "pending", "one"]) == 77


def test_nothing_that_waits_is_said(web: FakeSession, capsys: Capture) -> None:
    assert main(["gate", "pending"]) == 0
    assert "Nothing waits" in capsys.readouterr().err
    assert web.attaches == []


@pytest.mark.parametrize(
    "words",
    [["approve", "web"], ["approve", "web", "3"], ["gate", "approve", "web", "3"]],
)
def test_an_approval_is_bound_to_what_was_shown(
    words: list[str], web: FakeSession, capsys: Capture
) -> None:
    web.operating.pending = [waiting()]

    assert main(words) == 0

    assert web.operating.requested == [approval()]
    said = capsys.readouterr().out
    assert '"rm -rf build\\x0d"' in said
    assert "13 bytes" in said
    assert said.endswith("approved\n")


@pytest.mark.parametrize("words", [["deny", "web"], ["gate", "deny", "web", "3"]])
def test_a_denial_is_bound_to_what_was_shown(
    words: list[str], web: FakeSession
) -> None:
    pending = waiting()
    web.operating.pending = [pending]

    assert main([*words, "--json"]) == 0
    assert web.operating.requested == [Deny(3, pending.digest)]


def test_without_a_ticket_there_must_be_exactly_one(
    web: FakeSession, capsys: Capture
) -> None:
    assert main(["approve", "web"]) == 64
    web.operating.pending = [waiting(b"a", 1), waiting(b"b", 2)]
    assert main(["approve", "web"]) == 64
    assert main(["approve", "web", "9"]) == 64
    assert web.operating.requested == []

    said = capsys.readouterr().err
    assert "none are pending" in said
    assert "2 are pending" in said
    assert "there is no request 9" in said


@pytest.mark.parametrize("ticket", ["x", "-1", "٣", "9" * 40, ""])
def test_a_ticket_that_is_none_approves_nothing(ticket: str, web: FakeSession) -> None:
    web.operating.pending = [waiting()]

    assert main(["approve", "web", "--", ticket]) == 64
    assert web.operating.requested == []


@pytest.mark.parametrize("error", [SelfApproval(US), ApprovalMismatch(3)])
def test_an_approval_that_does_not_count_is_said(
    error: Exception, web: FakeSession, capsys: Capture
) -> None:
    web.operating.pending = [waiting()]
    web.operating.refusal = error  # type: ignore[assignment]

    assert main(["approve", "web"]) == 77
    assert "approved\n" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "status", "sent"), [(b"y\n", 0, 1), (b"\n", 1, 0), (b"n\n", 1, 0)]
)
def test_on_a_terminal_only_yes_approves(
    typed: bytes, status: int, sent: int, web: FakeSession
) -> None:
    web.operating.pending = [waiting()]
    user = User("approve", "web")
    user.sees(b"Approve this? y/N: ")
    assert b'"rm -rf build\\x0d"' in user.shown

    user.types(typed)

    assert user.left() == status
    assert web.operating.requested == [approval()] * sent
    user.close()


def test_yes_on_the_command_line_asks_nothing(web: FakeSession) -> None:
    web.operating.pending = [waiting()]
    user = User("approve", "web", "--yes")

    assert user.left() == 0
    assert b"y/N" not in user.shown
    user.close()


@pytest.mark.parametrize(
    ("verdict", "status"), [(Verdict.ALLOW, 0), (Verdict.ASK, 75), (Verdict.DENY, 77)]
)
def test_test_says_what_would_happen_by_which_rule(
    verdict: Verdict, status: int, web: FakeSession, capsys: Capture
) -> None:
    web.operating.verdict = verdict

    assert main(["gate", "test", "web", "--", "rm", "-rf", "build"]) == status

    assert web.operating.requested == [
        Try(US, InputKind.COMMAND, b"rm -rf build", None)
    ]
    said = capsys.readouterr().out
    assert said.startswith(f"{verdict.value} by remove-trees, for ")
    assert "a tree\\x1b[2J is gone" in said


def test_test_asks_for_others_and_other_kinds(
    web: FakeSession, capsys: Capture
) -> None:
    known = operators.enrol("robo", ActorKind.AGENT, b"somebody else", None, b"t" * 32)
    words = ["gate", "test", "web", "--as-operator", "@robo", "--kind", "keys"]

    assert main([*words, "--json", "--", "q"]) == 75

    assert known.actor.id == OTHER
    assert web.operating.requested == [Try(OTHER, InputKind.KEYS, b"q", None)]
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["rule"]) == ("ask", "remove-trees")


def test_check_names_every_problem_with_its_line(
    tmp_path: Path, keeper: FakeKeeper, capsys: Capture
) -> None:
    broken = tmp_path / "policy.toml"
    broken.write_text('[[rule]]\nverdict = "maybe"\ncolour = "\\u001b"\n')

    assert main(["gate", "check", str(broken)]) == 65
    said = capsys.readouterr().out
    assert "line 2: " in said
    assert "line 3: " in said
    assert main(["gate", "check", str(broken), "--json"]) == 65
    facts = json.loads(capsys.readouterr().out)
    assert [one["line"] for one in facts["problems"]].count(2) == 1
    assert facts["rules"] is None
    assert keeper.asked == []


def test_check_looks_at_the_policy_in_force(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    assert main(["gate", "check"]) == 0
    assert "There is no policy" in capsys.readouterr().out
    (keeper.folder / "config/policy.toml").write_text("nonsense")

    assert main(["gate", "check"]) == 65
    assert main(["gate", "check", str(keeper.folder)]) == 64
    assert main(["gate", "check", str(keeper.folder / "none")]) == 64


def test_the_example_is_right_and_the_one_in_the_documentation(
    tmp_path: Path, keeper: FakeKeeper, capsys: Capture
) -> None:
    assert main(["gate", "example"]) == 0
    example = capsys.readouterr().out
    (tmp_path / "mine.toml").write_text(example)

    assert main(["gate", "check", str(tmp_path / "mine.toml")]) == 0
    assert example == (ROOT / "docs/examples/policy.toml").read_text()
    assert keeper.asked == []


def test_init_writes_the_example_for_us_alone_and_never_over_a_policy(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    path = keeper.folder / "config/policy.toml"

    assert main(["gate", "init"]) == 0
    said = capsys.readouterr().out
    assert str(path) in said
    assert "holdfast gate apply" in said
    assert path.read_text() == (ROOT / "docs/examples/policy.toml").read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("# mine")

    assert main(["gate", "init"]) == 64
    assert "left as it is" in capsys.readouterr().err
    assert path.read_text() == "# mine"
    path.unlink()

    assert main(["gate", "init", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == {"file": str(path), "in_force": False}
    assert keeper.asked == []


def test_init_writes_through_no_link(
    keeper: FakeKeeper, tmp_path: Path, capsys: Capture
) -> None:
    (keeper.folder / "config/policy.toml").symlink_to(tmp_path / "elsewhere")

    assert main(["gate", "init"]) == 64
    assert not (tmp_path / "elsewhere").exists()
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["test", "web"],
        ["approve"],
        ["example", "x"],
        ["init", "x"],
        ["pending", "a", "b"],
    ],
)
def test_too_few_and_too_many_words_are_refused(
    words: list[str], web: FakeSession
) -> None:
    assert main(["gate", *words]) == 64
    assert web.operating.requested == []
