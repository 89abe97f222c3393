"""Mode 5: everything is killed and recovered; no effect happens again."""

from pathlib import Path

from holdfast.verify.scene import Scene

EFFECTS = 3


def inject(scene: Scene) -> None:
    """Count effects, lose everything, recover, and count again."""
    account = scene.account
    file = account.home / "effects"
    account.new("work")
    for number in range(EFFECTS):
        account.run("work", f"echo {number} >> {file}; secret={number}")
    before, length = _count(file), len(account.entries("work"))
    killed = account.kill_everything()
    lost = account.facts("ls")["lost"]
    scene.check(
        "what is gone is listed as lost",
        holds=[one["name"] for one in lost] == ["work"],
        killed_processes=killed,
        lost=len(lost),
    )
    made = account.facts("recover", "work")
    account.wait("it is at its prompt", lambda: _at_prompt(scene))
    entries = account.entries("work")
    told = {one["kind"]: one for one in entries[length:]}
    typed = [
        one
        for one in entries
        if one["incarnation"] == made["incarnation"] and one["kind"] == "input"
    ]
    again = [one for one in typed if one["input"] != "start"]
    scene.check(
        "no effect happened again",
        holds=before == EFFECTS and _count(file) == before,
        before=before,
        after=_count(file),
    )
    scene.check(
        "the logbook tells of a recovery, and of no input after it",
        holds="recovered" in told and not again and len(typed) == 1,
        incarnation=made["incarnation"],
        recovered_at_entry=told.get("recovered", {}).get("index"),
        inputs_after=len(again),
        started_anew=len(typed),
    )
    memory = account.run("work", "echo [$secret]")["output"].strip()
    scene.check(
        "its memory is gone, and nothing pretends otherwise",
        holds=memory == "[]" and b"Gone:" in _output(scene),
        variable=memory,
        pid=made["pid"],
    )
    scene.check(
        "nothing was typed by asking",
        holds=_count(file) == before,
        effects=_count(file),
    )


def _at_prompt(scene: Scene) -> bool:
    return bool(scene.account.facts("state", "work")["state"] == "at-prompt")


def _output(scene: Scene) -> bytes:
    return scene.account.do("read", "work").out.encode()


def _count(file: Path) -> int:
    return len(file.read_text().splitlines())
