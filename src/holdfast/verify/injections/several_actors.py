"""Mode 7: humans and agents write at once; then a human seizes the turn."""

import itertools
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.verify.account import PATIENCE, Facts, Said
from holdfast.verify.book import chain
from holdfast.verify.scene import Scene
from holdfast.verify.terminal import attached
from holdfast.verify.workloads import lines_read, reading

if TYPE_CHECKING:
    import subprocess

EACH = 6
"""Inputs of each operator by each route."""

FORBIDDEN = 77
FLOODED = 100
"""Lines of a flood that have arrived when the turn is seized."""

POLICY = '[default]\nhuman = "allow"\nagent = "allow"\n'


def inject(scene: Scene) -> None:
    """Have five write at once, then one who does not stop."""
    account = scene.account
    file = account.home / "read"
    account.new("work", *reading(file))
    account.wait("it reads", file.exists)
    who = {
        "ada": account.operator("ada", "agent"),
        "bea": account.operator("bea", "agent"),
        "carl": account.operator("carl", "human"),
    }
    account.policy(POLICY)
    _all_at_once(scene, file, who)
    _seize(scene, file, who["ada"])
    _book(scene, who)


def _all_at_once(scene: Scene, file: Path, who: dict[str, str]) -> None:
    account = scene.account
    epoch = account.facts("take", "work", by="ada")["epoch"]
    screen = attached(account, "work")
    try:
        screen.see(b"ready")
        begun = [
            (by, account.start(*words, by=by))
            for number in range(EACH)
            for by, words in _inputs(number)
        ]
        for number in range(EACH):
            screen.press(f"human-{number}\r".encode())
        said = [(by, _ended(one)) for by, one in begun]
    finally:
        screen.close()
    sent = sorted(f"ada-{number}" for number in range(EACH))
    account.wait("all of it has arrived", lambda: len(lines_read(file)) >= EACH)
    arrived = [text for _, text in lines_read(file)]
    scene.check(
        "bytes arrive from the holder of the turn alone",
        holds=sorted(arrived) == sent,
        sent_by_holder=len(sent),
        sent_by_others=len(said) - len(sent) + EACH,
        arrived=len(arrived),
        from_others=sum(one not in sent for one in arrived),
    )
    refused = [one for by, one in said if by != "ada"]
    named = [one for one in refused if _names(one, who["ada"], epoch)]
    scene.check(
        "every refusal names the holder of the turn, and the epoch",
        holds=bool(refused) and len(named) == len(refused),
        refused=len(refused),
        that_name_both=len(named),
        holder="ada",
        epoch=epoch,
    )


def _inputs(number: int) -> list[tuple[str, list[str]]]:
    return [
        ("ada", ["send", "work", "--enter", f"ada-{number}"]),
        ("bea", ["send", "--json", "work", "--enter", f"bea-{number}"]),
        ("bea", ["keys", "--json", "work", "b", "Enter"]),
        ("carl", ["send", "--json", "work", "--enter", f"carl-{number}"]),
        ("carl", ["resize", "--json", "work", f"{90 + number}x30"]),
    ]


def _ended(program: "subprocess.Popen[bytes]") -> Said:
    out, err = program.communicate(timeout=PATIENCE)
    return Said(program.returncode, out.decode(), err.decode(errors="replace"))


def _names(said: Said, holder: str, epoch: int) -> bool:
    facts = said.error.get("facts", {})
    named = (facts.get("holder"), facts.get("epoch"))
    return said.status == FORBIDDEN and named == (holder, epoch)


def _seize(scene: Scene, file: Path, ada: str) -> None:
    account = scene.account
    flood = attached(account, "work", by="ada")
    stop = threading.Event()

    def press() -> None:
        for number in itertools.count():
            if stop.is_set():
                break
            flood.press(f"flood-{number}\r".encode())
            time.sleep(0.001)  # A terminal takes 4 KB; a flood fills it all the same.

    hand = threading.Thread(target=press, daemon=True)
    try:
        flood.see(b"ready")
        hand.start()
        account.wait("the flood is on", lambda: len(_flood(file)) > FLOODED)
        began = datetime.now(UTC).timestamp()
        epoch = account.facts("seize", "work")["epoch"]
        ended = datetime.now(UTC).timestamp()
        account.do("send", "work", "--enter", "mine")
        account.wait("ours arrives", lambda: _has(file, "mine"))
        time.sleep(0.3)  # The flood goes on meanwhile, and must not arrive.
        last = _flood(file)[-1]
    finally:
        stop.set()
        hand.join(1)
        flood.close()
    entry = _seizure(account.entries("work"), ada)
    at = int(entry.get("at", 0)) / 1000
    arrived = [text for _, text in lines_read(file)]
    scene.check(
        "after a seize nothing more of the flood arrives",
        holds=last <= ended and arrived[-1].endswith("mine"),
        flood_lines=len(_flood(file)),
        last_line_after_seize=f"{max(0.0, last - at) * 1000:.0f} ms",
        command_took=f"{(ended - began) * 1000:.0f} ms",
        epoch=epoch,
    )
    scene.check(
        "the logbook has the seize, from whom, and what was thrown away",
        holds=entry.get("from") == ada and entry.get("epoch") == epoch,
        entry=entry.get("index"),
        epoch=entry.get("epoch"),
        thrown_away=entry.get("dropped_bytes"),
    )


def _seizure(entries: list[Facts], ada: str) -> Facts:
    turns = [one for one in entries if one["kind"] == "turn"]
    found = [one for one in turns if one["from"] == ada and "seize" in one["reason"]]
    return found[-1] if found else {}


def _flood(file: Path) -> list[float]:
    return [moment for moment, text in lines_read(file) if "flood-" in text]


def _has(file: Path, text: str) -> bool:
    return any(one.endswith(text) for _, one in lines_read(file))


def _book(scene: Scene, who: dict[str, str]) -> None:
    account = scene.account
    entries = account.entries("work")
    indices = [one["index"] for one in entries]
    refused = [one for one in entries if one["kind"] in ("refused", "declined")]
    by = {one["actor"] for one in refused}
    scene.check(
        "the logbook has one order without a gap, and every refusal",
        holds=indices == list(range(len(indices))) and {who["bea"], who["carl"]} <= by,
        entries=len(entries),
        refusals=len(refused),
    )
    exported = account.home / "book"
    account.do("log", "work", "--export", str(exported))
    count, wrong = chain(exported.read_bytes())
    verified = account.say("log", "work", "--verify")
    scene.check(
        "its chain of hashes is whole: exported, and recomputed here",
        holds=not wrong and count >= len(entries) and verified.status == 0,
        entries=count,
        wrong=wrong or "nothing",
        verify_says=verified.out.partition("\n")[0],
    )
