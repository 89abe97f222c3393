"""A build that takes its time, and does what is typed into it meanwhile.

Two processes that stay: this one talks to the terminal, the other one compiles.
Neither starts a third, so that whoever counts processes finds the same ones at any
moment.
"""

# ruff: noqa: T201  # it talks to whoever sits at the terminal

import os
import select
import subprocess
import sys
import time

PARTS = 3000
PAUSE = 0.4
CODE_LEFT = 12


class Build:
    def __init__(self) -> None:
        self.part = 0
        self.last = PARTS
        self.jobs = 1
        self.is_verbose = False
        self.compiler = subprocess.Popen(
            ["python3", "compiler.py"],  # noqa: S607  # whichever there is
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def work(self) -> None:
        while self.part < self.last:
            self.compile()
            time.sleep(PAUSE / self.jobs)
            if select.select([sys.stdin], [], [], 0)[0]:
                self.obey(os.read(0, 4096).decode().split())
        self.compiler.communicate()

    def compile(self) -> None:
        assert self.compiler.stdin is not None
        assert self.compiler.stdout is not None
        self.part += 1
        self.compiler.stdin.write(f"part_{self.part}\n")
        self.compiler.stdin.flush()
        made = self.compiler.stdout.readline().strip()
        how = "cc -O2 -Wall " if self.is_verbose else "cc "
        print(f"\33[36m[{self.part}/{self.last}]\33[0m {how}{made}", flush=True)

    def obey(self, words: list[str]) -> None:
        match words:
            case ["verbose"]:
                self.is_verbose = True
            case ["jobs", number]:
                self.jobs = int(number)
            case ["skip", "docs"]:
                self.last = self.part + CODE_LEFT
            case []:  # Enter alone, or a terminal that is gone: input() will tell.
                return
            case _:
                words = ["as before, for there is no", *words]
        print(f"\33[1;32mbuild:\33[0m from here on {' '.join(words)}", flush=True)


Build().work()
if input("\33[1mPublish shop 2.4? [y/N]\33[0m ") != "y":
    sys.exit("not published")
print("\33[1;32mpublished shop 2.4\33[0m")
