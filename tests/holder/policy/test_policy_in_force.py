from pathlib import Path

import pytest
from tests.scenarios.support import apply_policy

from holdfast.core.policy.policy import Judgement
from holdfast.holder.policy.policy_in_force import PolicyInForce, preload
from holdfast.linux.stored import host_book, places
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import LogTampered
from holdfast.model.ids import Epoch, SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question, TurnHold
from holdfast.model.verdicts import Verdict

RULE = '[[rule]]\nname = "{}"\nverdict = "deny"\n'
BOT = Actor(actor_id(b"bot"), ActorKind.AGENT, "bot")
ANNA = Actor(actor_id(b"anna"), ActorKind.HUMAN, "anna")
FREE = '[default]\nagent = "allow"\n'


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    return places.policy_file()


@pytest.fixture
def record() -> Path:
    return Path(host_book.host_folder()) / "policy"


def named(in_force: PolicyInForce) -> list[str]:
    return [rule.name for rule in in_force.policy.rules]


def allows(in_force: PolicyInForce, actor: Actor) -> bool:
    in_force.refresh()
    question = Question(
        actor=actor,
        kind=InputKind.COMMAND,
        payload=b"ls",
        session=SessionId("s_aaaaaaaaaaaaaaaa"),
        session_name="web",
        clock=LocalTime(0, 0),
        turn=TurnHold.NONE,
        epoch=Epoch(1),
        cwd="/",
        staged=b"",
        secret=False,
    )
    return in_force.judge(question).verdict is Verdict.ALLOW


def test_what_was_just_looked_at_is_not_looked_at_again() -> None:
    in_force = PolicyInForce(print)
    apply_policy(RULE.format("one"))

    in_force.is_fresh = True
    in_force.look()
    assert named(in_force) == []
    in_force.look()
    assert named(in_force) == ["one"]


def test_a_file_that_was_not_applied_holds_for_nobody(file: Path) -> None:
    file.write_text(FREE)
    fresh = PolicyInForce(print)
    assert not allows(fresh, BOT)

    apply_policy(RULE.format("one"))
    fresh.refresh()
    file.write_text(FREE)
    assert named(fresh) == ["one"]
    assert not allows(fresh, BOT)


def test_a_denial_says_that_a_change_waits_and_what_is_wrong_with_it(
    file: Path,
) -> None:
    in_force = PolicyInForce(print)
    denied = Judgement(Verdict.DENY, "default-agent")
    allowed = Judgement(Verdict.ALLOW, "default-human")
    assert in_force.told(denied) == denied

    file.write_text(FREE)
    assert "run `holdfast gate apply`" in in_force.told(denied).why
    assert in_force.told(allowed) == allowed

    file.write_text("[default]\nagent = 3\n")
    said = in_force.told(Judgement(Verdict.DENY, "x", "for a reason")).why
    assert said.startswith("for a reason; ")
    assert f"{file}: line 2" in said

    apply_policy(FREE)
    in_force.refresh()
    assert in_force.told(denied) == denied


@pytest.mark.parametrize("how", ["edit", "other", "remove", "link", "book", "empty"])
def test_whoever_meddles_with_what_was_applied_has_agents_denied(
    how: str, record: Path, tmp_path: Path
) -> None:
    apply_policy(RULE.format("one") + 'kind = "device"\n' + FREE)
    told: list[str] = []
    in_force = PolicyInForce(told.append)
    assert allows(in_force, BOT)

    _meddle(how, record, tmp_path)
    if how == "book":  # Only whoever looks for the first time looks at the book.
        in_force = PolicyInForce(told.append)

    assert not allows(in_force, BOT)
    assert allows(in_force, ANNA)
    assert "tampered with" in told[0]
    assert in_force.trouble
    assert not allows(PolicyInForce(print), BOT)

    if how == "book":
        with pytest.raises(LogTampered, match="missing at the end"):
            apply_policy(FREE)
        host_book.set_aside()
    apply_policy(FREE)
    assert allows(in_force, BOT)
    assert in_force.trouble == ""


def _meddle(how: str, record: Path, tmp_path: Path) -> None:
    whole = record.read_bytes()
    match how:
        case "edit":
            record.write_bytes(whole.replace(b"device", b"agent "))
        case "other":
            first = whole.partition(b"\n")[0]
            record.write_bytes(first + b"\n" + FREE.encode())
        case "remove":
            record.unlink()
        case "link":
            (tmp_path / "mine").write_bytes(whole)
            record.unlink()
            record.symlink_to(tmp_path / "mine")
        case "book":
            Path(host_book.book_path()).unlink()
        case _:
            record.write_bytes(b"")


def test_a_policy_of_before_is_not_put_back(record: Path) -> None:
    apply_policy(FREE)
    loose, book = record.read_bytes(), Path(host_book.book_path()).read_bytes()
    apply_policy(RULE.format("one"))
    strict = PolicyInForce(print)

    record.write_bytes(loose)
    assert not allows(PolicyInForce(print), BOT)
    # Even with the whole book of then: whoever has seen more remembers it.
    Path(host_book.book_path()).write_bytes(book)
    assert not allows(strict, BOT)
    assert "put back" in strict.trouble


def test_what_was_seen_is_on_record_once(record: Path) -> None:
    apply_policy(FREE)
    record.write_bytes(b"x")

    PolicyInForce(print)
    PolicyInForce(print)

    lines = Path(host_book.book_path()).read_bytes().splitlines()
    assert [b'"kind":"tampered"' in line for line in lines].count(True) == 1


def test_holders_have_what_their_nursery_has_seen(
    monkeypatch: pytest.MonkeyPatch, record: Path
) -> None:
    monkeypatch.setattr("holdfast.holder.policy.policy_in_force._inherited", [])
    preload()
    apply_policy(FREE)
    preload()
    record.unlink()
    Path(host_book.book_path()).unlink()
    Path(host_book.head_path()).unlink()

    heir = PolicyInForce(print)

    assert not allows(heir, BOT)
    assert "knows of no applied policy" in heir.trouble


@pytest.mark.parametrize("others", ["", '[webhook]\nurl = "https://x.example/"\n'])
@pytest.mark.parametrize("verdict", [*Verdict])
@pytest.mark.parametrize("by_default", [True, False])
def test_others_are_asked_unless_there_are_none_or_a_rule_denies_it(
    others: str, verdict: Verdict, *, by_default: bool
) -> None:
    in_force = PolicyInForce(print)
    said = Judgement(verdict, "one", by_default=by_default)
    with in_force.supposing(others.encode()):
        is_final = in_force.is_final(said)

    denies = verdict is Verdict.DENY and not by_default
    assert is_final == (not others or denies)


def test_a_record_is_unchanged_until_another_is_there(record: Path) -> None:
    in_force = PolicyInForce(print)
    assert in_force.is_unchanged

    apply_policy(RULE.format("one"))
    assert not in_force.is_unchanged
    in_force.refresh()
    assert in_force.is_unchanged

    record.unlink()
    assert not in_force.is_unchanged
    in_force.refresh()
    assert in_force.trouble
    assert not in_force.is_unchanged
