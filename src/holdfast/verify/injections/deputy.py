"""Mode 8: one agent stages something; another runs into it, a third is refused."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.verify.scene import Scene

if TYPE_CHECKING:
    from holdfast.verify.account import Facts

POLICY = """
[default]
human = "allow"
agent = "allow"

[[rule]]
name = "not-by-others"
verdict = "deny"
why = "somebody else has staged it"
actor = "eve"
originator = "other"
"""

FORBIDDEN = 77


@dataclass(frozen=True, slots=True)
class _Trap:
    """What ada sets up, how to ask about it, and the line that runs into it."""

    what: str
    stage: str
    option: str
    name: str
    line: str
    effect: str
    clear: str


def inject(scene: Scene) -> None:
    """Set four traps as ada; run into each as bea, and as eve, whom a rule keeps."""
    account = scene.account
    account.new("work")
    who = {name: account.operator(name, "agent") for name in ("ada", "bea", "eve")}
    account.policy(POLICY)
    effects = account.home / "effects"
    effects.touch()
    tools = account.home / "tools"
    tools.mkdir()
    expected = []
    for trap in _traps(str(effects), str(tools)):
        account.run("work", trap.stage, by="ada")
        _blamed(scene, trap, who["ada"])
        account.run("work", trap.line, by="bea")
        expected += [trap.effect] if trap.effect else []
        _recorded(scene, trap, who)
        _refused(scene, trap)
        account.run("work", trap.clear, by="ada")
    ran = effects.read_text().split()
    scene.check(
        "what was refused had no effect",
        holds=ran == expected,
        effects=" ".join(ran),
        by_bea=len(expected),
        by_eve=len(ran) - len(expected),
    )


def _traps(effects: str, tools: str) -> list[_Trap]:
    ship = f"{tools}/ship"
    return [
        _Trap(
            "an alias",
            f"alias deploy='echo alias >> {effects}'",
            "--alias",
            "deploy",
            "deploy",
            "alias",
            "unalias deploy",
        ),
        _Trap(
            "a script",
            f"printf 'echo script >> {effects}\\n' > {ship}; chmod +x {ship}",
            "--file",
            ship,
            f"sh {ship}",
            "script",
            "true",
        ),
        _Trap(
            "a folder of the PATH",
            f"export PATH={tools}:$PATH",
            "--path-entry",
            tools,
            "ship",
            "script",
            f"export PATH=${{PATH#{tools}:}}; rm {ship}",
        ),
        _Trap(
            "a variable",
            f"export PYTHONPATH={tools}",
            "--var",
            "PYTHONPATH",
            "env > /dev/null",
            "",
            "unset PYTHONPATH",
        ),
    ]


def _blamed(scene: Scene, trap: _Trap, ada: str) -> None:
    account = scene.account
    said = account.say("blame", "work", trap.option, trap.name, "--json")
    facts: Facts = said.facts if said.out.strip() else {}
    found = (facts.get("steps") or [facts])[-1]
    origin = found.get("origin") or {}
    scene.check(
        f"{trap.what}: `blame` names who staged it",
        holds=origin.get("trigger") == ada and origin.get("authors") == [ada],
        name=trap.name.rpartition("/")[2],
        originator="ada" if origin.get("trigger") == ada else None,
        command=origin.get("command"),
    )


def _recorded(scene: Scene, trap: _Trap, who: dict[str, str]) -> None:
    entries = scene.account.entries("work")
    ran = [
        one for one in entries if one["kind"] == "input" and one["actor"] == who["bea"]
    ]
    last: Facts = ran[-1] if ran else {}
    named = who["ada"] in json.dumps(last.get("originators", ""))
    scene.check(
        f"{trap.what}: the logbook says that bea ran it and ada staged it",
        holds=bool(ran) and named,
        entry=last.get("index"),
        trigger="bea" if ran else None,
        originator="ada" if named else None,
    )


def _refused(scene: Scene, trap: _Trap) -> None:
    account = scene.account
    account.wait(
        "it is at its prompt",
        lambda: account.facts("state", "work")["state"] == "at-prompt",
    )
    before = account.facts("read", "work")["next"]
    said = account.say("run", "work", "--json", "--", trap.line, by="eve")
    after = account.facts("read", "work")["next"]
    rule = said.error.get("facts", {}).get("rule")
    scene.check(
        f"{trap.what}: a rule refuses eve before the first byte",
        holds=said.status == FORBIDDEN and rule == "not-by-others" and before == after,
        rule=rule,
        said=said.error.get("code"),
        offset_before=before,
        offset_after=after,
    )
