"""What a worker answers to a question, without a process around it."""

import json
from pathlib import Path

import pytest
from tests.judge.test_webhook import answering

from holdfast.core.policy.rules import Webhook
from holdfast.judge.plugins import Plugins
from holdfast.judge.worker import answer
from holdfast.linux.judge_packets import Ask
from holdfast.linux.stored import places
from holdfast.linux.stored.plugin_files import plugins_digest


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    places.plugin_dir().mkdir(parents=True)


def test_nothing_is_asked_of_a_folder_that_was_changed_since_it_was_applied() -> None:
    vouched = plugins_digest()
    (places.plugin_dir() / "more.py").write_text("")

    said = answer(Plugins(), Ask(1, {}, ("none",), vouched=vouched))

    assert "changed since it was applied" in said.failed
    assert said.judgement is None


def test_a_folder_that_is_as_it_was_is_asked() -> None:
    said = answer(Plugins(), Ask(1, {}, ("none",), vouched=plugins_digest()))

    assert "of which there are 0" in said.failed, said


def test_without_plugins_the_folder_does_not_matter() -> None:
    said = answer(Plugins(), Ask(7, {}, (), vouched="another"))

    assert (said.ticket, said.judgement, said.failed) == (7, None, "")


@pytest.mark.parametrize("word", ["allow", "ask", "deny"])
def test_what_a_webhook_says_is_the_answer(word: str) -> None:
    with answering(json.dumps(word).encode()) as (url, heard):
        said = answer(Plugins(), Ask(7, {"x": 1}, webhook=Webhook(url, 1.5)))

    assert said.judgement is not None
    assert (said.ticket, said.judgement.verdict.value) == (7, word)
    assert len(heard) == 1


def test_a_webhook_that_answers_nonsense_is_a_failure() -> None:
    with answering(b'"yes"') as (url, _):
        said = answer(Plugins(), Ask(7, {}, webhook=Webhook(url, 1.5)))

    assert said.judgement is None
    assert said.failed
