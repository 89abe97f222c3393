"""Mode 6: a command is cut off half way, and nobody claims more than is known."""

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.verify.account import Facts, Said
from holdfast.verify.processes import parent
from holdfast.verify.scene import Scene

if TYPE_CHECKING:
    import subprocess

STEPS = 8
CUT = 3
LATER = 75
"""The exit status of what is not known yet, or not any more."""

UNKNOWN = ("end-unknown", "outcome-unknown", "outcome-forgotten")
"""How it is said that nobody knows what became of a command."""


def inject(scene: Scene) -> None:
    """Cut off a command whose shell survives, then one whose shell does not."""
    scene.account.new("work")
    scene.account.run("work", "kept=42")
    _shell_survives(scene)
    _shell_dies(scene)


def _shell_survives(scene: Scene) -> None:
    account = scene.account
    file, line = _half(scene, "first")
    leader = account.leader(int((account.session("work") or {})["pid"]))
    client = _begin(scene, "key-1", line, file)
    account.kill(client.pid)
    holder = parent(leader.pid)
    account.kill(holder)
    at_cut = _count(file)
    scene.same("the shell is the same", leader, client=client.pid, holder=holder)
    asked = _ask(scene, "key-1", line, "--timeout", "0.2")
    scene.check(
        "while it runs, nothing says that it has ended",
        holds=_unended(asked) and not _finished(account.entries("work")),
        steps_done=at_cut,
        of=STEPS,
        exit_status=asked.status,
    )
    again = account.wait("it has ended", lambda: _settled(_ask(scene, "key-1", line)))
    scene.check(
        "asked again with its key, it is told how it ended, and did not run again",
        holds=again["exit"] == 0 and _count(file) == STEPS,
        key="key-1",
        exit=again["exit"],
        steps_done=_count(file),
        of=STEPS,
    )
    kept = account.run("work", "echo $kept")["output"].strip()
    scene.check("its variables are there", holds=kept == "42", kept=kept)


def _shell_dies(scene: Scene) -> None:
    account = scene.account
    file, line = _half(scene, "second")
    _begin(scene, "key-2", line, file)
    before = account.kill_everything()
    at_cut = _count(file)
    account.facts("recover", "work")
    entries = account.entries("work")
    begun = [one for one in entries if one["kind"] == "began"][-1]
    scene.check(
        "the half that happened stands, and nothing says that it completed",
        holds=CUT <= at_cut < STEPS and not _finished(entries, int(begun["number"])),
        killed_processes=before,
        steps_done=at_cut,
        of=STEPS,
        command=begun["number"],
    )
    account.wait(
        "it is at its prompt",
        lambda: account.facts("state", "work")["state"] == "at-prompt",
    )
    asked = _ask(scene, "key-2", line, "--timeout", "5")
    scene.check(
        "asked again with its key, the outcome is called unknown, and nothing runs",
        holds=_unknown(asked) and _count(file) == at_cut,
        key="key-2",
        exit_status=asked.status,
        said=str(asked.error.get("code") or "nothing"),
        steps_done=_count(file),
    )


def _half(scene: Scene, name: str) -> tuple[Path, str]:
    file = scene.account.home / name
    steps = " ".join(str(one) for one in range(STEPS))
    return file, f"for i in {steps}; do echo $i >> {file}; sleep 0.4; done"


def _begin(scene: Scene, key: str, line: str, file: Path) -> "subprocess.Popen[bytes]":
    client = scene.account.start("run", "work", "--json", "--key", key, "--", line)
    scene.account.wait(f"{CUT} steps are done", lambda: _count(file) >= CUT)
    return client


def _ask(scene: Scene, key: str, line: str, *words: str) -> Said:
    return scene.account.say("run", "work", "--json", "--key", key, *words, "--", line)


def _unended(said: Said) -> bool:
    """Tell whether it is said that the command has not ended."""
    if said.status != LATER:
        return False
    return not said.out.strip() or not said.facts["ended"]


def _unknown(said: Said) -> bool:
    """Tell whether it is said that the outcome is not known."""
    code = said.error.get("code")
    claims = said.out.strip() and said.facts["exit"] is not None
    return said.status == LATER and code in UNKNOWN and not claims


def _settled(said: Said) -> Facts | None:
    if said.status == LATER and said.error.get("retryable", True):
        return None
    return said.facts if said.out.strip() else {"exit": said.error.get("code")}


def _finished(entries: list[Facts], number: int | None = None) -> bool:
    """Tell whether the logbook says of the last command that it has finished."""
    began = [one["number"] for one in entries if one["kind"] == "began"]
    last = began[-1] if number is None else number
    ended = {one["number"] for one in entries if one["kind"] == "finished"}
    return last in ended


def _count(file: Path) -> int:
    try:
        return len(file.read_text().splitlines())
    except FileNotFoundError:
        return 0
