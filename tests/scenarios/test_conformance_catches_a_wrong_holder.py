"""`holdfast conformance` passes a real holder, and finds what is wrong with others."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios import wrong_holder
from tests.scenarios.frame_proxy import Proxy, Wrong
from tests.scenarios.support import Machine, machine

from holdfast.conformance import link
from holdfast.conformance.places import subject_at
from holdfast.conformance.run import conform
from holdfast.conformance.verdict import Verdict
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

RIGHTS = ("observe", "input", "take", "resize")
CAUGHT: dict[type[Wrong], tuple[str, ...]] = {
    wrong_holder.WaitsForPayloads: ("unknown-kind", "oversize", "oversize-unproven"),
    wrong_holder.AnswersBeforeHello: ("hello-first",),
    wrong_holder.SpeaksAnotherVersion: ("greeting",),
    wrong_holder.SpeaksEveryVersion: ("no-common-version",),
    wrong_holder.TakesSloppyForms: ("garbage", "reordered-fields"),
    wrong_holder.WritesLongForms: ("one-form",),
    wrong_holder.CountsPongsWrong: ("ping",),
    wrong_holder.IgnoresItsOwnKinds: ("wrong-side",),
    wrong_holder.RepeatsItsNonce: ("fresh-nonce",),
    wrong_holder.ServesStrangers: ("nothing-before-proof",),
    wrong_holder.TakesEveryProof: ("wrong-proof", "replayed-proof", "borrowed-name"),
    wrong_holder.AttachesToAnything: ("another-session",),
    wrong_holder.LetsObserversType: ("observer",),
    wrong_holder.HidesGaps: ("gap",),
    wrong_holder.MisplacesGaps: ("gap",),
    wrong_holder.LosesOutput: ("order-of-output",),
    wrong_holder.RepeatsOutput: ("order-of-output",),
    wrong_holder.KeepsOldLives: ("another-life",),
    wrong_holder.AnswersTwice: ("exactly-once",),
    wrong_holder.AppliesRepeats: ("exactly-once",),
    wrong_holder.ForgetsWithTheLink: ("exactly-once-after-a-cut",),
    wrong_holder.TakesAnyLife: ("another-incarnation",),
    wrong_holder.IgnoresEpochs: ("stale-epoch", "epoch-ahead"),
    wrong_holder.KeepsTheEpoch: ("drop", "epochs-rise"),
    wrong_holder.TakesGaps: ("sequence-gap",),
    wrong_holder.AcknowledgesRefused: ("not-your-turn", "no-attachment"),
    wrong_holder.PassesTheTurnToAnybody: ("rights",),
    wrong_holder.AppliesInAnotherOrder: ("order-of-inputs",),
}
"""What is wrong, and which clauses must say so."""

BEFORE = {"one-form": "ping", "order-of-output": "resume", "epochs-rise": "drop"}
"""Clauses that speak of what others have seen."""


def holdfast(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-P", "-m", "holdfast", *words],
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        assert holdfast("operators", "add", "tester", "--kind", "human").returncode == 0
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    # Each its own: a session remembers so many clients, and no more.
    made = here.new("cat")
    assert holdfast("grant", made, "@tester", *RIGHTS).returncode == 0
    return made


@pytest.fixture
def place(session: SessionId) -> Iterator[Path]:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        yield Path(folder) / f"{session}.sock"


def test_a_holder_of_ours_conforms(session: SessionId) -> None:
    said = holdfast("conformance", session, "--json")
    report = json.loads(said.stdout)
    wrong = [one for one in report["clauses"] if one["verdict"] != "pass"]

    assert wrong == []
    assert report["conforms"]
    assert said.returncode == 0
    assert len(report["clauses"]) >= 50


@pytest.mark.parametrize("wrong", CAUGHT, ids=[one.__name__ for one in CAUGHT])
def test_what_is_wrong_with_another_is_found(
    session: SessionId,
    wrong: type[Wrong],
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link, "PATIENCE", 3.0)
    clauses = CAUGHT[wrong]
    wanted = frozenset({*clauses, *(BEFORE[one] for one in clauses if one in BEFORE)})
    proxy = Proxy(str(places.session_socket(session)), place, wrong)
    subject = wrong.subject = subject_at(str(place))
    try:
        found = conform(subject, lambda _: None, wanted)
    finally:
        proxy.close()

    failed = {one.name for one in found if one.verdict is Verdict.FAIL}
    assert failed >= {*clauses}, [(one.name, one.seen) for one in found]


def test_a_proxy_that_breaks_nothing_passes(session: SessionId, place: Path) -> None:
    on_headers = {*CAUGHT[wrong_holder.WaitsForPayloads]}
    wanted = {one for clauses in CAUGHT.values() for one in clauses} | {
        *BEFORE.values()
    }
    proxy = Proxy(str(places.session_socket(session)), place, Wrong)
    try:
        found = conform(
            subject_at(str(place)), lambda _: None, frozenset(wanted - on_headers)
        )
    finally:
        proxy.close()

    assert [
        (one.name, one.seen) for one in found if one.verdict is not Verdict.PASS
    ] == []
