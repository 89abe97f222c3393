"""Takes the pictures in docs/images: python -m tests.web.pictures."""

import os
import sys
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
  printf '\e[36m[%s/380]\e[0m cc -O2 -c src/part_%s.c \e[2m-o out/part_%s.o\e[0m\n' \
    $n $n $n
done
printf '\e[33mwarning:\e[0m unused variable \e[1mwidth\e[0m in src/part_224.c\n'
sleep 1000
"""

TRAIN = r"""
for n in 9 10 11 12; do
  printf 'epoch %s/40  loss \e[32m0.02%s\e[0m\n' $n $((40-n))
done
exec sleep 1000
"""


def furnish(here: World) -> Popen[bytes]:
    """Have a few sessions that look like somebody's day; return the agent's wait."""
    home = Path(here.folders["HOME"])
    (home / ".bashrc").write_text(
        r"PS1='\[\e[1;32m\]anna@atlas\[\e[0m\]:\[\e[34m\]~/shop\[\e[0m\]$ '" + "\n"
    )
    tools = home / "bin"
    tools.mkdir()
    (home / "build.sh").write_text(BUILD)
    here.policy(POLICY)
    here.new("bash", "-c", TRAIN, name="training")
    here.do("freeze", "training")
    here.new("bash", "-c", "read -sp 'Password for user anna: ' x", name="database")
    here.new("true", name="nightly-backup")
    here.shell("build")
    here.types(
        "build", f"PATH=$PATH:{tools}; python3 -m http.server 8731 >/dev/null 2>&1 &"
    )
    here.types("build", "clear; bash ~/build.sh")
    here.shell("shop")
    robo = ("--as", "robo")
    here.do(*robo, "run", "shop", "git --version")
    here.do(*robo, "run", "shop", f"printf 'echo deployed\\n' > {tools}/deploy")
    here.do(*robo, "run", "shop", f"chmod +x {tools}/deploy; PATH=$PATH:{tools}")
    return here.asks("shop", "deploy --to production")


def desk(chromium: Browser, here: World) -> None:
    """Take the pictures of a desktop."""
    page = chromium.page("desk", {**DESKTOP, **DARK})
    page.join(here.invite("--as", "anna"))
    page.see('.session:has-text("shop") >> text=waits for approval')
    page.see('.session:has-text("database") >> text=waits for a secret')
    settle(page)
    page.picture(IMAGES / "web-sessions.png")
    page.open("build")
    page.see_printed("unused variable")
    page.do("click", "nav >> text=Processes")
    page.see(".port")
    settle(page)
    page.picture(IMAGES / "web-processes.png")
    page.do("click", "[aria-label='All sessions']")
    page.open("shop")
    page.press("Look at it")
    page.see(".approval")
    settle(page)
    page.picture(IMAGES / "web-approval.png")
    page.do("click", "nav >> text=Logbook")
    page.see(".story-line >> nth=8")
    settle(page)
    page.picture(IMAGES / "web-logbook.png")


def phone(chromium: Browser, here: World) -> None:
    """Take the pictures of a phone."""
    page = chromium.page("phone", {**PHONE, **DARK})
    page.goto(here.invite("--as", "phone"))
    page.see("text=You are invited")
    settle(page)
    page.picture(IMAGES / "web-phone-join.png")
    page.press("Join this host")
    page.see('.session:has-text("database") >> text=waits for a secret')
    settle(page)
    page.picture(IMAGES / "web-phone-sessions.png")
    page.open("build")
    page.press("Seize")
    page.see("text=You have the turn")
    page.see_printed("unused variable")
    settle(page)
    page.picture(IMAGES / "web-phone-terminal.png")
    page.do("click", "[aria-label='All sessions']")
    page.open("training")
    page.see(".frozen")
    settle(page)
    page.picture(IMAGES / "web-phone-frozen.png")
    bright = chromium.page("bright", {**PHONE, **LIGHT})
    bright.join(here.invite("--as", "bright"))
    bright.open("shop")
    bright.press("Look at it")
    bright.see(".approval")
    settle(bright)
    bright.picture(IMAGES / "web-phone-approval.png")


def settle(page: Page) -> None:
    """Wait until nothing on the page passes by itself."""
    page.lose(".toast")
    page.do("evaluate", "new Promise((done) => setTimeout(done, 300))")


def main() -> int:
    """Take them all."""
    IMAGES.mkdir(exist_ok=True)
    with world() as here, browser() as chromium:
        agent = furnish(here)
        eventually("it waits", lambda: "deploy" in here.do("gate", "pending"))
        desk(chromium, here)
        phone(chromium, here)
        agent.kill()
        agent.wait()
    return 0


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    sys.exit(main())
