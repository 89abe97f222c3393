"""Cost of the shell integration, at each prompt and for each command.

A bash with functions and variables as a normal one has them is told to run `true`
over and over, typed ahead of what it prints, once by itself and once with our
integration and a holder's end of the pipe. What differs is what a prompt costs.
"""

import os
import select
import signal
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.table import Row, Scale, Table, progress
from tests.scenarios.lone_shell import LoneShell

from holdfast.linux import pty, spawn
from holdfast.model.geometry import Size

FUNCTIONS = 150
"""What Debian's bash-completion defines before anything is completed."""

COMPLETION = Path("/usr/share/bash-completion/bash_completion")

RC = f"""\
PS1='@@ '
for i in {{1..{FUNCTIONS}}}; do
    eval "_like_$i() {{
        local cur prev words cword split; _init_completion -s || return
        case \\$prev in --help|--version) return ;; -f|--file) _filedir; return ;; esac
        if [[ \\$cur == -* ]]; then
            COMPREPLY=(\\$(compgen -W '\\$(_parse_help \\$1)' -- \\$cur)); else _filedir
        fi
    }}"
done
for i in {{1..40}}; do export LIKE_$i=/usr/share/like/$i; done
alias ll='ls -l' la='ls -A' l='ls -CF'
"""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about prompts."""
    rounds = scale.pick(200, 20)
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        home = Path(folder)
        real = f". {COMPLETION}\n" if COMPLETION.exists() else ""
        (home / ".bashrc").write_text(real + RC)
        plain, ours = _Plain(home), LoneShell("bash", home)
        # Turn by turn, so that whatever else the machine does meets both.
        bare, same, new = [], [], []
        for number in range(rounds):
            progress(f"prompt {number + 1} of {rounds}")
            bare.append(_timed(lambda: plain.enter("true")))
            same.append(_timed(lambda: ours.enter("true")))
            line = f"export LIKE_1={number}"
            new.append(_timed(lambda: ours.enter(line)))  # noqa: B023  # called at once
            ours.ask(everything=False)
        base = statistics.median(bare)
        table.add(Row("`true` in a plain bash, p50", base, "ms"))
        what = "a prompt with integration, nothing changed, over that"
        table.add(Row(what, statistics.median(same) - base, "ms", at_most=10))
        what = "a prompt with integration, a variable changed, over that"
        table.add(Row(what, statistics.median(new) - base, "ms"))
        which = "bash-completion and " if real else ""
        table.note(f"{which}{FUNCTIONS} functions like it; {len(ours.told)} bytes told")
        plain.end()
        ours.end()


class _Plain:
    """The same bash, without our integration."""

    def __init__(self, home: Path) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm"}
        self._master, slave = pty.open_pty(Size(80, 24))
        leader = spawn.Leader(("bash",), str(home), environment)
        self._pid = spawn.start_leader(leader, slave)
        os.close(slave)
        self._wait()

    def enter(self, line: str) -> None:
        """Enter a line, and wait for the next prompt."""
        os.write(self._master, line.encode() + b"\r")
        self._wait()

    def end(self) -> None:
        """End it."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._master)

    def _wait(self) -> None:
        shown = b""
        while b"@@" not in shown:
            select.select([self._master], [], [])
            shown += os.read(self._master, 65536)


def _timed(do: Callable[[], object]) -> float:
    began_at = time.perf_counter()
    do()
    return (time.perf_counter() - began_at) * 1e3
