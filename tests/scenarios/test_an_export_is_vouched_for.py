import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import places

ROOT = Path(__file__).parents[2]
VERIFIER = ROOT / "tools" / "verify_logbook.py"


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def holdfast(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def checked(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(VERIFIER), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_last_entry_of_an_export_is_vouched_for_though_nobody_typed(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("sleep", "100")
    here.join(session).close()
    book = str(tmp_path / "book")

    done = holdfast("log", session, "--export", book, "--strict")

    assert (done.returncode, done.stderr) == (0, "")
    strict = checked("--strict", book)
    assert strict.returncode == 0, strict.stderr
    assert "up to entry" in strict.stdout
    assert holdfast("log", session, "--verify", "--strict").returncode == 0


def test_what_was_added_behind_the_holders_back_is_refused_when_strict(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("true")
    eventually("it has exited", lambda: (here.facts(session) or {}).get("exit") == 0)
    holdfast("log", session, "--export", str(tmp_path / "whole"), "--strict")
    head = places.session_head(session)
    signed = head.read_bytes()
    assert signed

    head.unlink()
    lenient = holdfast("log", session, "--export", str(tmp_path / "lenient"))
    strict = holdfast("log", session, "--export", str(tmp_path / "strict"), "--strict")

    assert lenient.returncode == 0
    assert "no host signed the last" in lenient.stderr
    assert strict.returncode != 0
    assert "no host signed" in strict.stderr
    assert not (tmp_path / "strict").exists()
    assert checked(str(tmp_path / "lenient")).returncode == 0
    assert checked("--strict", str(tmp_path / "lenient")).returncode == 65
