"""A release: a label for each article, at the price of the list less a rebate.

rebate.txt has the factor; labels.txt has what was printed so far.
"""

# ruff: noqa: T201  # it talks to whoever sits at the terminal

import sys
import time
from pathlib import Path

PAUSE = 0.2
ARTICLES = 200
LABELS = Path("labels.txt")


def build(at_once: int) -> None:
    factor = float(Path("rebate.txt").read_text("utf-8"))
    with LABELS.open("w") as labels:
        for number in range(1, ARTICLES + 1):
            price = number % 9 * 10 + 20
            print(price, f"{price * factor:.2f}", file=labels, flush=True)
            if number % at_once == 0:
                what = f"{price}.00 EUR -> \33[1m{price * factor:.2f} EUR\33[0m"
                print(f"label {number:>3}: {what}", flush=True)
                time.sleep(PAUSE)
    print("\33[1;32mall labels are made\33[0m")


def check() -> None:
    made = [map(float, line.split()) for line in LABELS.read_text("utf-8").splitlines()]
    dearer = [price for price, label in made if label > price]
    if dearer:
        sys.exit(f"\33[1;31m{len(dearer)} labels cost more than the list\33[0m")
    print(f"\33[1;32m{len(made)} labels cost less than the list\33[0m")


try:
    match sys.argv[1:]:
        case ["build", at_once]:
            build(int(at_once))
        case ["check"]:
            check()
        case ["publish"]:
            print("\33[1;32mpublished\33[0m")
        case _:
            sys.exit("say build N, check or publish")
except KeyboardInterrupt:
    sys.exit(130)
