"""Steps are changes of the policy in force: recorded first, and by who may."""

from pathlib import Path

import pytest
from tests.scenarios.support import apply_policy

from holdfast.cli.verbs import log_host
from holdfast.client import current_operator
from holdfast.core.autonomy.ladder import Step, ladder_from
from holdfast.core.book.logbook import EntryKind
from holdfast.core.policy.applied_policy import Applied
from holdfast.linux.stored import host_book, ladder_steps, policy_files
from holdfast.model.actors import ActorKind
from holdfast.model.errors import LogTampered, PolicyTampered, StepRefused
from holdfast.model.verdicts import Verdict

POLICY = '[default]\nagent = "ask"\n[autonomy]\nagent = "allow"\n'
MAKE = "/usr/bin/make"
UP = Step("a_bot", MAKE, Verdict.ASK, Verdict.PREVIEW, "35 of 35")
DOWN = Step("a_bot", MAKE, Verdict.PREVIEW, Verdict.ASK, "1 of 3")


@pytest.fixture(autouse=True)
def own_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    apply_policy(POLICY)


def in_force() -> Applied:
    return policy_files.load(policy_files.seal_key())


def test_a_human_steps_up_and_the_policy_in_force_has_the_rung() -> None:
    before = in_force()

    made = ladder_steps.make(UP, current_operator.ourselves())

    assert in_force() == made
    assert made.text == before.text
    assert made.policy().rungs == {("a_bot", MAKE): Verdict.PREVIEW}
    assert not policy_files.standing().waits
    entry = ladder_steps.entries()[-1]
    assert entry.kind is EntryKind.STEPPED
    assert (entry.fields["from"], entry.fields["to"]) == ("ask", "preview")
    assert entry.fields["before"] == before.digest
    assert log_host._verify(as_json=False) == 0  # noqa: SLF001  # as the verb does


def test_nobody_steps_up_by_itself_and_no_agent_does() -> None:
    agent = current_operator.enrol("bot", ActorKind.AGENT)

    for by in (None, agent):
        with pytest.raises(StepRefused):
            ladder_steps.make(UP, by)

    assert in_force().ladder == ""


def test_a_step_down_needs_nobody() -> None:
    ladder_steps.make(UP, current_operator.ourselves())

    made = ladder_steps.make(DOWN, None)

    assert ladder_from(made.ladder).rungs == {("a_bot", MAKE): Verdict.ASK}
    assert log_host._verify(as_json=True) == 0  # noqa: SLF001  # as above
    first, second = [digest for key, digest in ladder_steps.history() if key]
    assert first != second


def test_the_same_step_is_not_made_twice() -> None:
    ladder_steps.make(UP, current_operator.ourselves())

    with pytest.raises(StepRefused):
        ladder_steps.make(UP, current_operator.ourselves())


def test_an_apply_leaves_the_ladder_as_it_is() -> None:
    ladder_steps.make(UP, current_operator.ourselves())
    apply_policy(POLICY + '[[rule]]\nverdict = "deny"\nfirst = "rm"\n')

    assert in_force().policy().rungs == {("a_bot", MAKE): Verdict.PREVIEW}


def test_a_record_from_before_a_step_back_counts_no_more() -> None:
    ladder_steps.make(UP, current_operator.ourselves())
    path = Path(policy_files.record_path())
    climbed = path.read_bytes()
    ladder_steps.make(DOWN, None)

    path.write_bytes(climbed)

    with pytest.raises(PolicyTampered):
        in_force()


def test_a_step_up_that_no_operator_signed_is_found() -> None:
    ladder_steps.make(UP, current_operator.ourselves())
    last = ladder_steps.entries()[-1].fields
    forged = {
        name: "" if name in ("by", "key", "signature") else last[name]
        for name in list(last)[7:-2]
    }
    host_book.record(EntryKind.STEPPED, forged)

    with pytest.raises(LogTampered):
        log_host._check([])  # noqa: SLF001  # as the verb does


def test_without_a_policy_there_is_nothing_to_step_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "other"))

    assert ladder_steps.entries() == []
    with pytest.raises(StepRefused):
        ladder_steps.make(UP, current_operator.ourselves())
