import os
from pathlib import Path

from holdfast.verify.account import Account
from holdfast.verify.finding import Outcome
from holdfast.verify.processes import Process, process
from holdfast.verify.scene import Scene


def test_what_was_seen_is_kept_in_order(tmp_path: Path) -> None:
    scene = Scene(Account(tmp_path))

    scene.check("one", holds=True, pid=1, path=Path("/x"))
    scene.check("two", holds=False)
    scene.cannot("three", "no CRIU")
    scene.broke_off("it hangs")

    assert [one.outcome for one in scene.checks] == [
        Outcome.HOLDS,
        Outcome.BROKEN,
        Outcome.UNAVAILABLE,
        Outcome.BROKEN,
    ]
    assert scene.checks[0].evidence == {"pid": 1, "path": "/x"}


def test_another_process_of_the_same_pid_is_another(tmp_path: Path) -> None:
    scene = Scene(Account(tmp_path))
    ours = process(os.getpid())
    assert ours is not None

    scene.same("ours", ours)
    scene.same("another", Process(ours.pid, ours.started - 1))

    assert [one.outcome for one in scene.checks] == [Outcome.HOLDS, Outcome.BROKEN]
