"""A command line that breaks one promise, for those who look for broken promises.

`python broken_holdfast.py BREAK WORD…` does what `holdfast WORD…` does, but for one
thing, which the function named BREAK does differently.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

OWN = [sys.executable, "-P", "-m", "holdfast"]

Words = list[str]


def main() -> int:
    """Do it, with one promise broken."""
    name, *words = sys.argv[1:]
    return BREAKS[name](words)


def real(words: Words) -> int:
    """Do what was asked for."""
    return subprocess.call([*OWN, *words])


def rewritten(words: Words, change: Callable[[str], str]) -> int:
    """Do what was asked for, and print something else about it."""
    done = subprocess.run(
        [*OWN, *words], stdout=subprocess.PIPE, text=True, check=False
    )
    sys.stdout.write(change(done.stdout) if done.returncode == 0 else done.stdout)
    return done.returncode


def with_facts(words: Words, verb: str, **facts: object) -> int:
    """Do what was asked for, and lie about some of the facts of one verb."""
    if verb not in words or "--json" not in words:
        return real(words)

    def change(text: str) -> str:
        found = json.loads(text.strip().splitlines()[-1])
        return json.dumps({**found, **facts})

    return rewritten(words, change)


def upgrade_ends_sessions(words: Words) -> int:
    if words[0] == "upgrade":
        subprocess.call([*OWN, "end", "work"], stdout=subprocess.DEVNULL)
    return real(words)


def attach_begins_anew(words: Words) -> int:
    """The second to attach finds another program under the same name."""
    if "attach" in words:
        mark = Path("attached-before")
        if mark.exists():
            listed = subprocess.check_output([*OWN, "ls", "--json"])
            (work,) = [
                one for one in json.loads(listed)["sessions"] if one["name"] == "work"
            ]
            real(["end", "work"])
            subprocess.call(
                [*OWN, "new", "-d", "-n", "work", "--", *work["command"]],
                stdout=subprocess.DEVNULL,
            )
        mark.touch()
    return real(words)


def read_hides_the_gap(words: Words) -> int:
    return with_facts(words, "read", gap=0)


def recover_replays(words: Words) -> int:
    status = real(words)
    if words[0] == "recover":
        book = subprocess.check_output([*OWN, "log", "work", "--json"], text=True)
        entries = [json.loads(line) for line in book.splitlines()]
        for line in [one["line"] for one in entries if one["kind"] == "began"]:
            subprocess.call([*OWN, "run", "work", line], stdout=subprocess.DEVNULL)
    return status


def run_forgets_keys(words: Words) -> int:
    if "--key" in words:
        place = words.index("--key")
        words = words[:place] + words[place + 2 :]
    return real(words)


def run_claims_success(words: Words) -> int:
    if "--key" in words and "--timeout" in words:
        sys.stdout.write(json.dumps({"ended": True, "exit": 0}))
        return 0
    return real(words)


def everybody_is_root(words: Words) -> int:
    return real(words[2:] if words[0] == "--as" else words)


def log_drops_an_entry(words: Words) -> int:
    if words[0] != "log" or "--json" not in words:
        return real(words)

    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :])

    return rewritten(words, change)


def export_is_edited(words: Words) -> int:
    status = real(words)
    if "--export" in words:
        file = Path(words[words.index("--export") + 1])
        file.write_text(
            file.read_text().replace('"kind":"refused"', '"kind":"input"', 1)
        )
    return status


def blame_names_the_wrong_one(words: Words) -> int:
    return with_facts(words, "blame", origin={"trigger": "a_x"}, steps=[])


def gate_lets_eve_in(words: Words) -> int:
    """Whoever is refused does it as somebody who is not."""
    if words[:2] == ["--as", "eve"]:
        return real(["--as", "bea", *words[2:]])
    return real(words)


def reaper_sleeps(words: Words) -> int:
    if words[0] == "up":
        settings = Path(os.environ["HOLDFAST_CONFIG_DIR"]) / "config.toml"
        settings.write_text(
            settings.read_text().replace('after = "2s"', 'after = "1h"')
        )
    return real(words)


def restore_forgets_memory(words: Words) -> int:
    if words[0] == "restore":
        return real(["recover", *words[1:]])
    return real(words)


def checkpoint_hides_cuts(words: Words) -> int:
    return with_facts(words, "checkpoint", cuts=[])


def fork_begins_anew(words: Words) -> int:
    if words[0] != "fork":
        return real(words)
    name = words[words.index("--name") + 1]
    new = ["new", "--json", "-d", "--capsule", "-n", name, "--", sys.executable, "-q"]
    return rewritten(
        new, lambda text: json.dumps({**json.loads(text), "parent": "", "still_ms": 0})
    )


BREAKS: dict[str, Callable[[Words], int]] = {
    one.__name__: one
    for one in (
        upgrade_ends_sessions,
        attach_begins_anew,
        read_hides_the_gap,
        recover_replays,
        run_forgets_keys,
        run_claims_success,
        everybody_is_root,
        log_drops_an_entry,
        export_is_edited,
        blame_names_the_wrong_one,
        gate_lets_eve_in,
        reaper_sleeps,
        restore_forgets_memory,
        checkpoint_hides_cuts,
        fork_begins_anew,
    )
}

if __name__ == "__main__":
    sys.exit(main())
