"""What begins a session is what was judged, interpreters and all."""

import os
import shutil
from pathlib import Path

import pytest
from tests.scenarios.gated import write_policy
from tests.scenarios.starts import ASK, a_machine, a_marker, approve, bot, state
from tests.scenarios.support import Machine, eventually

from holdfast.client import current_operator
from holdfast.client.pending_start import waiting_in
from holdfast.holder.policy.refused_starts import REFUSED
from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created

__all__ = ["a_machine", "a_marker"]

TRIES = 150
"""Starts of a program that is swapped: one in 300 ran, when it was let pass."""

NO_SH = '[[rule]]\nname = "no-sh"\nverdict = "deny"\nat = "exec"\nfirst = "{}"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    return tmp_path


def script(path: Path, interpreter: str, marker: Path) -> Path:
    path.write_text(f"#!{interpreter}\necho $$ >> {marker}; sleep 60\n")
    path.chmod(0o755)
    return path


def asked(program: Path, creator: str, *, gated: bool) -> dict[str, object]:
    words = [str(program)]
    given = {"do": "create", "command": words, "cwd": "/", "env": {}, "size": [80, 24]}
    return {**given, "creator": creator, "exec_gate": gated}


def test_the_interpreters_of_the_first_program_are_judged(
    here: Machine, marker: Path, place: Path
) -> None:
    shell = place / "forbidden"
    shutil.copy("/bin/sh", shell)
    inner = script(place / "inner", str(shell), marker)
    outer = script(place / "outer", str(inner), marker)
    write_policy(NO_SH.format("forbidden"))
    us = current_operator.ourselves().actor.id

    for one in (inner, outer):
        answer = here.ask(**asked(one, us, gated=True))
        assert (answer["ok"], answer.get("code")) == (False, "denied-by-policy"), one
        assert "no-sh" in str(answer["facts"])
    assert not marker.exists()

    write_policy("")
    assert here.ask(**asked(outer, us, gated=True))["ok"]
    eventually("it runs", marker.exists)


def _link(program: Path, other: Path) -> None:
    program.unlink()
    program.symlink_to(other)


def _rewrite(program: Path, other: Path) -> None:
    program.write_bytes(other.read_bytes())


def _replace(program: Path, other: Path) -> None:
    draft = program.with_suffix(".new")
    shutil.copy(other, draft)
    draft.replace(program)


def _interpreter(program: Path, other: Path) -> None:
    del other
    harmless = program.parent / "harmless"
    harmless.unlink()
    shutil.copy("/bin/sh", harmless)


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("swap", [_link, _rewrite, _replace, _interpreter])
def test_a_program_that_is_swapped_while_somebody_is_asked_does_not_run(
    here: Machine,
    marker: Path,
    place: Path,
    swap: object,
    gated: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    assert callable(swap)
    write_policy(ASK + '[undecidable]\nagent = "ask"\n' + ALLOWED)
    shutil.copy(shutil.which("true") or "/bin/true", place / "harmless")
    program = script(place / "tool", str(place / "harmless"), marker)
    other = script(place / "evil", "/bin/sh", marker)
    answer = here.ask(**asked(program, bot(), gated=gated))
    waits = waiting_in(record_of(Created, answer))
    assert waits is not None, answer

    swap(program, other)
    refused = approve(here, waits.session)

    if refused is None:  # What is shown is the same, and what would run is not.
        eventually("it is over", lambda: _is_over(here, waits.session))
    else:  # It is shown anew.
        assert refused.code == "approval-mismatch"
        assert state(here, waits.session) == "starting"
    assert not marker.exists()


def test_what_was_not_swapped_runs_once_it_is_approved(
    here: Machine, marker: Path, place: Path
) -> None:
    write_policy(ASK + '[undecidable]\nagent = "ask"\n' + ALLOWED)
    program = script(place / "tool", "/bin/sh", marker)
    for gated in (False, True):
        answer = here.ask(**asked(program, bot(), gated=gated))
        waits = waiting_in(record_of(Created, answer))
        assert waits is not None

        assert approve(here, waits.session) is None

        eventually("it runs", marker.exists)
        marker.unlink()


ALLOWED = '[[rule]]\nname = "execs"\nverdict = "allow"\nkind = "agent"\nat = "exec"\n'


def _is_over(here: Machine, session: SessionId) -> bool:
    return state(here, session) in ("", "exited")


def test_a_program_that_is_swapped_all_the_time_is_never_run_unjudged(
    here: Machine, marker: Path, place: Path
) -> None:
    forbidden = place / "forbidden"
    shutil.copy("/bin/sh", forbidden)
    shutil.copy(shutil.which("sleep") or "/bin/sleep", place / "harmless")
    program = place / "tool"
    program.symlink_to(place / "harmless")
    write_policy(NO_SH.format("forbidden"))
    us = current_operator.ourselves().actor.id
    pid = os.fork()
    if pid == 0:
        while True:
            for name in ("forbidden", "harmless"):
                draft = place / "draft"
                draft.symlink_to(place / name)
                draft.replace(program)
    try:
        for _ in range(TRIES):
            # Else an operator who is refused so often would not even be judged.
            Path(folders.runtime_path(), REFUSED).unlink(missing_ok=True)
            request = asked(program, us, gated=True)
            request["command"] = [str(program), "-c", f"echo $$ >> {marker}"]
            assert here.ask(**request).get("code") != "budget-spent"
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    assert not marker.exists()
