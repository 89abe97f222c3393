"""A real browser, for people who sit before the page: one page for each of them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "web/tests/browser/driver.mjs"
BUILT = ROOT / "src/holdfast/webpage"

Wishes = dict[str, Any]
"""What a page is to be like, in Playwright's words."""

DESKTOP: Wishes = {"viewport": {"width": 1280, "height": 800}}
PHONE: Wishes = {
    "viewport": {"width": 360, "height": 740},
    "hasTouch": True,
    "isMobile": True,
    "deviceScaleFactor": 2,
}


def what_is_missing() -> str:
    """Return what keeps browser tests from running here; nothing if all is there."""
    for command in ("node", os.environ.get("CHROMIUM", "chromium")):
        if shutil.which(command) is None:
            return f"there is no {command} here"
    if not (ROOT / "web/node_modules/playwright-core").exists():
        return "web/node_modules is empty: make web"
    if not (BUILT / "index.html").exists():
        return "the page is not built: make web"
    return ""


class Browser:
    """The driver's process: what is said to it, and what it answers."""

    def __init__(self) -> None:
        self._count = 0
        self._process = subprocess.Popen(
            ["node", os.fspath(DRIVER)],  # noqa: S607  # whichever node there is
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, page: str, do: str, *args: object) -> Any:  # noqa: ANN401  # a page answers anything
        """Have something done in a page; return what came of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        command = {"id": self._count, "page": page, "do": do, "args": args}
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, f"{do} {args}: {answer['error']}"
        return answer["value"]

    def page(self, name: str, wishes: Wishes) -> "Page":
        """Return a new page, with a key and a memory of its own."""
        self.ask(name, "open", wishes)
        return Page(self, name)

    def close_pages(self) -> None:
        """Close every page: each goes on looking at its sessions while it is open."""
        self.ask("", "close-all")

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Have the whole browser stand still, as under the lid of a laptop."""
        # The driver goes on: it has nothing to do until somebody asks it something.
        family = _descendants(self._process.pid)
        _tell(family, signal.SIGSTOP)
        try:
            yield
        finally:
            _tell(family, signal.SIGCONT)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Page:
    """One person's page."""

    def __init__(self, browser: Browser, name: str) -> None:
        self._browser = browser
        self._name = name

    def do(self, what: str, *args: object) -> Any:  # noqa: ANN401  # ditto
        """Have something done in it."""
        return self._browser.ask(self._name, what, *args)

    def goto(self, url: str) -> None:
        """Open an address."""
        self.do("goto", url)

    def press(self, button: str) -> None:
        """Press the button or link of that name."""
        self.do("click", f'role=button[name="{button}"]')

    def choose(self, item: str) -> None:
        """Choose an item of the session's menu, and leave the menu."""
        self.press("More")
        self.do("click", f'role=menuitem[name="{item}"]')
        if self.do("isVisible", "role=menu"):
            self.do("keyboard.press", "Escape")

    def panel(self, name: str) -> None:
        """Open a panel of a session: by its tab, or by the menu where there is none."""
        if self.do("isVisible", "nav.tabs"):
            self.do("click", f"nav.tabs >> text={name}")
        else:
            self.press("More")
            self.do("click", f"[role=menuitem] >> text={name}")
        self.see(".panel")

    def see(self, selector: str, **wishes: object) -> None:
        """Wait until something is to be seen."""
        self.do("waitForSelector", selector, wishes)

    def lose(self, selector: str) -> None:
        """Wait until something is not to be seen any more."""
        self.do("waitForSelector", selector, {"state": "hidden"})

    def wait(self, expression: str) -> None:
        """Wait until an expression of JavaScript is true."""
        self.do("until", expression)

    def type(self, text: str) -> None:
        """Type, wherever the focus is."""
        self.do("keyboard.type", text)

    def enter(self, line: str) -> None:
        """Type a line into the terminal."""
        self.do("focus", ".xterm-helper-textarea")
        self.type(line)
        self.do("keyboard.press", "Enter")

    def see_printed(self, text: str) -> None:
        """Wait until the terminal shows a text."""
        rows = "[...document.querySelectorAll('.xterm-rows > div')]"
        shown = f"{rows}.map((row) => row.textContent.trimEnd()).join('\\n')"
        self.wait(f"{shown}.includes({json.dumps(text)})")

    def print_link(self, address: str, text: str) -> None:
        """Have a program print a link, and wait until it is to be seen."""
        # The text must not be in the line that is typed: its echo comes first.
        split = f"{text[:1]}''{text[1:]}"
        self.enter(f"clear; printf '\\e]8;;{address}\\a%s\\e]8;;\\a\\n' {split}")
        self.see_printed(text)

    def press_printed(self, text: str) -> None:
        """Press on a text in the terminal; it has a layer above it that listens."""
        where = f".xterm-rows >> text={text} >> nth=-1"
        self.do("hover", where, {"force": True})
        self.do("click", where, {"force": True})

    def join(self, link: str) -> None:
        """Come in by an invitation."""
        self.goto(link)
        self.press("Join this host")
        self.see(".host")

    def open(self, session: str) -> None:
        """Open a session of the list, and wait for its first picture."""
        self.do("click", f'.session:has(.session-name:text-is("{session}"))')
        self.see('.screen[data-painted="true"]')

    def trouble(self) -> list[str]:
        """Return everything that went wrong in it since the last call."""
        found: list[str] = self.do("trouble")
        return found

    def picture(self, path: Path) -> None:
        """Take a picture of it."""
        self.do("screenshot", {"path": os.fspath(path)})


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:  # It grows while we go through it.
        for task in Path(f"/proc/{one}/task").glob("*"):
            with contextlib.suppress(OSError):  # One that has ended meanwhile.
                found += map(int, (task / "children").read_text().split())
    return found[1:]


def _tell(processes: list[int], what: signal.Signals) -> None:
    for pid in processes:
        # A browser ends processes of its own that it has no more use for.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Return a browser that is ended when the block is."""
    made = Browser()
    try:
        yield made
    finally:
        made.close()
