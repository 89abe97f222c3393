"""Takes the pictures in docs/images: python -m tests.web.pictures.

The page for joining shows what the machine calls itself. To have it called atlas there:

    unshare --uts sh -c 'hostname atlas && exec python -m tests.web.pictures'
"""

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, ROOT, Browser, Page, browser
from tests.web.world import World, world

IMAGES = ROOT / "docs/images"
DARK = {"colorScheme": "dark"}
LIGHT = {"colorScheme": "light"}

POLICY = """
[default]
agent = "allow"
[[rule]]
name = "deploys-need-a-human"
verdict = "ask"
kind = "agent"
first = "deploy"
"""

BUILD = r"""
for n in $(seq 201 224); do
  printf '\e[36m[%s/380]\e[0m cc -O2 -c src/part_%s.c\n' $n $n
done
printf '\e[33mwarning:\e[0m unused \e[1mwidth\e[0m in part_224.c\n'
sleep 1000
"""

TRAIN = r"""
for n in 9 10 11 12; do
  printf 'epoch %s/40  loss \e[32m0.02%s\e[0m\n' $n $((40-n))
done
exec sleep 1000
"""

DATABASE = "read -sp 'Password for user anna: ' x"

CALL_IT = """new Promise((done) => {
  indexedDB.open('holdfast').onsuccess = ({ target }) => {
    const hosts = target.result.transaction('hosts', 'readwrite').objectStore('hosts');
    hosts.getAll().onsuccess = ({ target }) => {
      hosts.put({ ...target.result[0], name: 'atlas' }).onsuccess = () => done(true);
    };
  };
})"""


def furnish(here: World) -> Popen[bytes]:
    """Have a few sessions that look like somebody's day; return the agent's wait."""
    shop = here.furnish_shop()
    (shop / "build.sh").write_text(BUILD)
    backup = shop.parent / "bin/backup"
    backup.write_text("#!/bin/sh\n")
    backup.chmod(0o700)
    here.policy(POLICY)
    here.do("operators", "add", "anna", "--kind", "human")
    begin(here, "training", "--cwd", "/srv", "--", "bash", "-c", TRAIN)
    here.do("freeze", "training")
    begin(here, "database", "--cwd", "/srv", "--", "bash", "-c", DATABASE)
    begin(here, "nightly-backup", "--cwd", "/srv", "--", "backup", "--all")
    begin(here, "build", "--cwd", str(shop))
    begin(here, "shop", "--cwd", str(shop))
    for line in (
        "python3 -m http.server 8731 >/dev/null 2>&1 &",
        "clear; bash build.sh",
    ):
        here.do("wait", "build", "--for", "prompt")
        here.do("--as", "anna", "send", "--enter", "build", line)
    here.do("--as", "anna", "drop", "build")
    robo = ("--as", "robo")
    here.do(*robo, "run", "shop", "git --version")
    here.do(*robo, "run", "shop", "printf 'echo deployed\\n' > ~/bin/deploy")
    here.do(*robo, "run", "shop", "chmod +x ~/bin/deploy; make --dry-run")
    return here.asks("shop", "deploy --to production")


def begin(here: World, name: str, *words: str) -> None:
    """Start a session in a folder that is nobody's in particular."""
    here.do("--as", "anna", "new", "--detach", "--name", name, *words)


def desk(chromium: Browser, here: World) -> None:
    """Take the pictures of a desktop."""
    page = chromium.page("desk", {**DESKTOP, **DARK})
    come_in(page, here, "anna-desk")
    page.see('.session:has-text("shop") >> text=waits for approval')
    page.see('.session:has-text("database") >> text=waiting-for-secret')
    settle(page)
    page.picture(IMAGES / "web-sessions.png")
    page.open("build")
    page.see_printed("unused width")
    page.panel("Processes")
    page.see(".port")
    settle(page)
    page.picture(IMAGES / "web-processes.png")
    page.do("click", "[aria-label='All sessions']")
    page.open("shop")
    page.press("Review")
    page.see(".approval")
    settle(page)
    page.picture(IMAGES / "web-approval.png")
    page.panel("Logbook")
    page.see(".story-line >> nth=8")
    settle(page)
    page.picture(IMAGES / "web-logbook.png")
    page.panel("Commands")
    page.do("click", ".block-head >> text=make --dry-run")
    page.see(".block-output")
    settle(page)
    page.picture(IMAGES / "web-commands.png")


def phone(chromium: Browser, here: World) -> None:
    """Take the pictures of a phone."""
    page = chromium.page("phone", {**PHONE, **DARK})
    page.goto(here.invite("--as", "anna-phone"))
    page.see(".facts")
    settle(page)
    page.picture(IMAGES / "web-phone-join.png")
    page.press("Join this host")
    page.see(".host")
    page.do("evaluate", CALL_IT)
    page.do("reload")
    page.see('.session:has-text("database") >> text=waiting-for-secret')
    settle(page)
    page.picture(IMAGES / "web-phone-sessions.png")
    page.open("build")
    page.press("Take")
    page.see("text=You have the turn")
    page.see_printed("unused width")
    settle(page)
    page.picture(IMAGES / "web-phone-terminal.png")
    page.do("click", "[aria-label='All sessions']")
    page.open("training")
    page.see(".frozen")
    settle(page)
    page.picture(IMAGES / "web-phone-frozen.png")


def bright_phone(chromium: Browser, here: World) -> None:
    """Take the picture of a phone by day."""
    bright = chromium.page("bright", {**PHONE, **LIGHT})
    come_in(bright, here, "anna-tablet")
    bright.open("shop")
    bright.press("Review")
    bright.see(".approval")
    settle(bright)
    bright.picture(IMAGES / "web-phone-approval.png")


@contextlib.contextmanager
def home() -> Iterator[str]:
    """Return somebody's home with a name that could be anybody's."""
    made = Path(tempfile.gettempdir()) / "anna"
    made.mkdir()
    try:
        yield os.fspath(made)
    finally:
        shutil.rmtree(made)


def come_in(page: Page, here: World, name: str) -> None:
    """Join, and call the host what its prompt calls it."""
    page.join(here.invite("--as", name))
    page.do("evaluate", CALL_IT)
    page.do("reload")
    page.see(".host >> text=atlas")


def settle(page: Page) -> None:
    """Wait until nothing on the page passes by itself."""
    page.lose(".toast")
    page.do("evaluate", "new Promise((done) => setTimeout(done, 300))")


def main() -> int:
    """Take them all."""
    IMAGES.mkdir(exist_ok=True)
    with world() as here, home() as neutral, browser() as chromium:
        here.folders["HOME"] = neutral
        agent = furnish(here)
        eventually(
            "it waits", lambda: "deploy" in here.do("--as", "anna", "gate", "pending")
        )
        desk(chromium, here)
        phone(chromium, here)
        bright_phone(chromium, here)
        agent.kill()
        agent.wait()
    return 0


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    sys.exit(main())
