"""Programs that sessions run here, each of which leaves evidence by itself."""

import sys
from pathlib import Path

PYTHON = (sys.executable, "-S", "-E", "-P", "-u", "-c")

_TICKS = """
import sys, time
n = 0
with open(sys.argv[1], "w", buffering=1) as file:
    while True:
        n += 1
        print("tick %08d" % n, flush=True)
        file.write("%d %.4f\\n" % (n, time.clock_gettime(time.CLOCK_BOOTTIME)))
        time.sleep(0.02)
"""

TICK_BYTES = len("tick 00000001\r\n")
"""Bytes of a tick: so the offset in the stream says which tick stands there."""

_FLOOD = """
import sys, time
lines = int(sys.argv[1])
out = open(1, "w", buffering=1 << 16, closefd=False)
for n in range(lines):
    out.write("%061d\\n" % n)
out.flush()
time.sleep(3600)
"""

FLOOD_LINE = 63
"""Bytes of a line of the flood, as a terminal prints it: with CR and LF."""

_READS = """
import sys, time
with open(sys.argv[1], "w", buffering=1) as file:
    print("ready", flush=True)
    for line in sys.stdin:
        file.write("%.4f %s\\n" % (time.time(), line.strip()))
"""


REPL = ("--env", "PYTHON_BASIC_REPL=1", "--", sys.executable, "-S", "-E", "-q")
"""The words of a Python that waits for lines, with memory worth keeping."""


def ticking(file: Path) -> list[str]:
    """Return the words of a program that prints a number and writes it down."""
    return ["--", *PYTHON, _TICKS, str(file)]


def ticks(file: Path) -> tuple[int, float]:
    """Return the number of the last tick, and when it was."""
    try:
        whole = file.read_text().rpartition("\n")[0]
    except FileNotFoundError:
        return 0, 0.0
    number, _, moment = whole.rpartition("\n")[2].partition(" ")
    return (int(number), float(moment)) if moment else (0, 0.0)


def flooding(lines: int) -> list[str]:
    """Return the words of a program that prints numbered lines of one length."""
    return ["--", *PYTHON, _FLOOD, str(lines)]


def reading(file: Path) -> list[str]:
    """Return the words of a program that writes down each line it reads, and when."""
    return ["--", *PYTHON, _READS, str(file)]


def lines_read(file: Path) -> list[tuple[float, str]]:
    """Return what a reading program has read, and when."""
    found = []
    for line in file.read_text().splitlines():
        moment, _, text = line.partition(" ")
        found.append((float(moment), text))
    return found


def consecutive(text: str) -> tuple[int, int, bool]:
    """Return the first and last whole tick in a text, and whether none is missing."""
    lines = [one.strip() for one in text.split("\n")][:-1]
    whole = [one for one in lines if len(one) + 2 == TICK_BYTES]
    numbers = [int(one.removeprefix("tick ")) for one in whole]
    if not numbers:
        return 0, 0, False
    gapless = numbers == list(range(numbers[0], numbers[-1] + 1))
    return numbers[0], numbers[-1], gapless and len(lines) - len(whole) <= 1
