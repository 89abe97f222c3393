"""Debian's Firefox, driven through WebDriver BiDi, which it speaks by itself.

Playwright asks for a command that this release does not have, so it is asked directly;
what is asked here is little.
"""

import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAM = "firefox-esr"
PATIENCE = 60.0
STEP = 0.05
ENTER = "\ue007"


def what_is_missing() -> str:
    """Return what keeps these tests from running here; nothing if all is there."""
    return "" if shutil.which(PROGRAM) else f"there is no {PROGRAM} here"


class Firefox:
    """One page of it."""

    def __init__(self, link: ClientConnection) -> None:
        self._link = link
        self._count = 0
        self.errors: list[str] = []
        self._say("session.new", capabilities={})
        self._say("session.subscribe", events=["log.entryAdded"])
        (found,) = self._say("browsingContext.getTree")["contexts"]
        self._page = found["context"]

    def size(self, width: int, height: int) -> None:
        """Give the page a size."""
        viewport = {"width": width, "height": height}
        self._say("browsingContext.setViewport", context=self._page, viewport=viewport)

    def goto(self, url: str) -> None:
        """Open an address."""
        wishes = {"url": url, "wait": "complete"}
        self._say("browsingContext.navigate", context=self._page, **wishes)

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401  # a page answers anything
        """Return the value of an expression, as JSON has it."""
        target = {"context": self._page}
        wishes = {"expression": f"JSON.stringify({expression})", "awaitPromise": True}
        answer = self._say("script.evaluate", target=target, **wishes)
        assert answer["type"] == "success", answer
        return json.loads(answer["result"].get("value", "null"))

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + PATIENCE
        while not self.evaluate(f"Boolean({expression})"):
            shown = self.evaluate("document.body.innerText")
            assert time.monotonic() < deadline, f"never {expression}: {shown}"
            time.sleep(STEP)

    def see(self, selector: str) -> None:
        """Wait until there is such an element."""
        self.wait(f"document.querySelector({json.dumps(selector)})")

    def press(self, button: str) -> None:
        """Press the button of that text, once it is there."""
        found = (
            "[...document.querySelectorAll('button')].find((one) => (one.ariaLabel"
            f" ?? one.textContent).trim() === {json.dumps(button)} && !one.disabled)"
        )
        self.wait(found)
        self.evaluate(f"{found}.click()")

    def type(self, text: str) -> None:
        """Type into the terminal."""
        self.evaluate("document.querySelector('.xterm-helper-textarea').focus()")
        strokes = [
            {"type": kind, "value": letter}
            for letter in text
            for kind in ("keyDown", "keyUp")
        ]
        keyboard = [{"type": "key", "id": "keyboard", "actions": strokes}]
        self._say("input.performActions", context=self._page, actions=keyboard)

    def see_printed(self, text: str) -> None:
        """Wait until the terminal shows a text."""
        rows = "[...document.querySelectorAll('.xterm-rows > div')]"
        shown = f"{rows}.map((row) => row.textContent.trimEnd()).join('\\n')"
        self.wait(f"{shown}.includes({json.dumps(text)})")

    def _say(self, method: str, **params: object) -> Any:  # noqa: ANN401  # ditto
        self._count += 1
        said = {"id": self._count, "method": method, "params": params}
        self._link.send(json.dumps(said))
        while True:
            answer = json.loads(self._link.recv(PATIENCE))
            if answer.get("id") == self._count:
                assert answer["type"] == "success", answer
                return answer["result"]
            entry = answer.get("params", {})
            if entry.get("level") == "error":
                self.errors.append(str(entry.get("text")))


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """Return a Firefox that is ended when the block is."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [PROGRAM, "--headless", "--no-remote", "--profile", profile]
        started = subprocess.Popen(
            [*words, "--remote-debugging-port=0", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            with connect(f"{_address(started)}/session", max_size=None) as link:
                yield Firefox(link)
        finally:
            started.kill()
            started.wait()
            assert started.stderr is not None
            started.stderr.close()


def _address(started: "subprocess.Popen[str]") -> str:
    assert started.stderr is not None
    for line in started.stderr:
        found = re.search(r"BiDi listening on (ws://\S+)", line)
        if found is not None:
            return found[1]
    raise AssertionError(PROGRAM, "does not listen")
