"""How quick is the page? `python -m tests.web.figures` prints it."""

import json
import statistics
import sys
import time
from pathlib import Path

from tests.web.browsing import BUILT, DESKTOP, Browser, Page, browser
from tests.web.world import World, world

KEYS = 100
CHANGES = 10
FLOOD = 50 * 1024 * 1024

ECHO = """(async (count) => {
  const rows = document.querySelector('.xterm-rows');
  const area = document.querySelector('.xterm-helper-textarea');
  const took = [];
  for (let number = 0; number < count; number += 1) {
    const letter = String.fromCharCode(97 + (number % 26));
    const before = rows.textContent;
    const start = performance.now();
    area.dispatchEvent(new KeyboardEvent('keydown', { key: letter, bubbles: true,
      keyCode: letter.toUpperCase().charCodeAt(0) }));
    area.dispatchEvent(new KeyboardEvent('keypress', { key: letter, bubbles: true,
      charCode: letter.charCodeAt(0), keyCode: letter.charCodeAt(0) }));
    while (rows.textContent === before && performance.now() - start < 2000)
      await new Promise((done) => setTimeout(done, 0));
    took.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 20));
  }
  return took;
})"""

CHIP = """(async (key, code, ctrlKey, wanted) => {
  const area = document.querySelector('.xterm-helper-textarea');
  const chip = document.querySelector('.session-bar .chip');
  const start = performance.now();
  area.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ctrlKey,
    keyCode: code }));
  while (chip.textContent !== wanted && performance.now() - start < 10000)
    await new Promise((done) => setTimeout(done, 5));
  return performance.now() - start;
})"""

FORGET = """(async () => {
  for (const worker of await navigator.serviceWorker.getRegistrations())
    await worker.unregister();
  for (const name of await caches.keys()) await caches.delete(name);
})()"""

STALLS = """(() => {
  window.__longest = 0;
  let last = performance.now();
  const tick = () => {
    const now = performance.now();
    window.__longest = Math.max(window.__longest, now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})()"""


def first_load() -> int:
    """Return the bytes of everything that the first terminal needs, packed."""
    import gzip  # noqa: PLC0415  # only here

    files = [
        path for path in BUILT.rglob("*") if path.suffix in {".html", ".js", ".css"}
    ]
    return sum(len(gzip.compress(path.read_bytes())) for path in files)


def paint(chromium: Browser, here: World) -> list[float]:
    """Return how long it takes from a cold address to the first picture."""
    session, took = here.shell("paint"), []
    for number in range(5):
        page = chromium.page(f"paint-{number}", DESKTOP)
        page.join(here.invite("--as", f"paint-{number}"))
        page.see('a.session:has-text("paint")')
        host = page.do("evaluate", "document.querySelector('a.session').hash")
        page.do("evaluate", FORGET)
        page.goto("about:blank")
        begun = time.monotonic()
        page.goto(f"{here.url}/{host}")
        page.see('.screen[data-painted="true"]')
        took.append(time.monotonic() - begun)
        page.do("close")
    assert session
    return took


def echo(page: Page) -> list[float]:
    """Return how long each key takes until it is on the screen."""
    page.enter("cat")
    page.do("evaluate", "new Promise((done) => setTimeout(done, 500))")
    found: list[float] = page.do("evaluate", f"{ECHO}({KEYS})")
    page.do("keyboard.press", "Control+c")
    return found


def follow(page: Page) -> list[float]:
    """Return how long the head takes to say that the session does something else."""
    took: list[float] = []
    for _ in range(CHANGES):
        page.see(".session-bar .chip:text-is('at-prompt')")
        page.do("focus", ".xterm-helper-textarea")
        page.type("sleep 100")
        took.append(page.do("evaluate", f"{CHIP}('Enter', 13, false, 'running')"))
        took.append(page.do("evaluate", f"{CHIP}('c', 67, true, 'at-prompt')"))
    return took


def flood(page: Page, path: Path) -> tuple[float, float]:
    """Return how long 50 MB take, and the longest time in which nothing was drawn."""
    page.do("evaluate", STALLS)
    begun = time.monotonic()
    page.enter(f"clear; cat {path}; echo fl''ood-over")
    page.see_printed("flood-over")
    return time.monotonic() - begun, page.do("evaluate", "window.__longest")


def main() -> int:
    """Measure and print."""
    with world() as here, browser() as chromium:
        here.shell("quick")
        painted = paint(chromium, here)
        page = chromium.page("anna", DESKTOP)
        page.join(here.invite("--as", "anna-quick"))
        page.open("quick")
        keys = sorted(echo(page))
        followed = sorted(follow(page))
        path = Path(here.folder) / "flood"
        line = b"The quick brown fox jumps over the lazy dog, and over the fence.\n"
        path.write_bytes(line * (FLOOD // len(line)))
        seconds, stall = flood(page, path)
    figures = {
        "first load, gzipped KB": round(first_load() / 1024),
        "cold address to first picture, ms, median": round(
            statistics.median(painted) * 1000
        ),
        "key echo, ms, p50": round(statistics.median(keys), 1),
        "key echo, ms, p99": round(keys[int(len(keys) * 0.99) - 1], 1),
        "state in the head, ms, p50": round(statistics.median(followed)),
        "state in the head, ms, worst": round(followed[-1]),
        "50 MB through cat, s": round(seconds, 1),
        "longest pause between two frames meanwhile, ms": round(stall),
    }
    print(json.dumps(figures, indent=2))  # noqa: T201  # that is what it is for
    return 0


if __name__ == "__main__":
    sys.exit(main())
