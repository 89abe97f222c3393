"""Write docs/images/overview-*.svg: the overview, as a real terminal shows it.

python -m tools.overview_pictures

Sessions are started, the overview is opened on a terminal of its own, and what an
emulator shows of it is written down cell by cell.
"""

import html
import os
import tempfile
import time
from pathlib import Path

from tests.scenarios.looker import Looker, looking
from tests.scenarios.support import Machine, apply_policy, machine

from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.term.canvas import width_of
from holdfast.term.cells import Run
from holdfast.term.looks import CUBE_AND_GREYS, EXACT, Look

TARGET = Path(__file__).parent.parent / "docs" / "images"

WIDE, HIGH, MARGIN = 8.4, 18, 12
GROUND, LETTERS = "#11151c", "#d5d9e0"
COLOURS = (
    *("#1c2128", "#e5534b", "#57ab5a", "#d7a942", "#539bf5", "#b083f0", "#39c5cf"),
    *("#d5d9e0", "#768390", "#ff938a", "#8ddb8c", "#f0d264", "#96d0ff", "#dcbdfb"),
    *("#76e3ea", "#ffffff"),
)

POLICY = '[default]\nhuman = "allow"\nagent = "ask"\n'

PROGRAMS = {
    "pytest": r"""printf '\033[1m== 214 tests\033[0m\n'
i=0; while :; do i=$((i+1)); printf 'tests/core/test_%d.py \033[32mpassed\033[0m\n' $i
sleep 0.2; done""",
    "make": r"""i=0
while :; do i=$((i+7)); printf 'cc -O2 -c part_%d.c\n' $i; sleep 0.3; done""",
    "deploy": r"""printf 'deploying to \033[36mstaging\033[0m\n'
printf 'sudo password: '; stty -echo; read x""",
}
"""What seems to run in the sessions."""


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder, machine() as here:
        for name, text in PROGRAMS.items():
            path = Path(folder, name)
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o700)
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
        apply_policy(POLICY)
        _named(here, "deploy", "deploy", "staging")
        _named(here, "tests", "pytest", "-q")
        _named(here, "build", "make", "all")
        shell = _named(here, "refactor", "bash", "--norc")
        agent = here.join(shell, "robo", ActorKind.AGENT)
        agent.submit(b"git push --force origin main\r")
        with looking(100, 28) as user:
            user.sees("waits for approval", "asks for a secret")
            user.press("\x1b[F")
            user.sees("passed")
            _write(user, "overview-list")
            user.press("\x1b[H", "a")
            user.sees("git push --force")
            _write(user, "overview-approval")
            user.press("\x1b")
            user.sees("w wall")
            user.press("w")
            user.sees("passed", "cc -O2", "sudo password")
            time.sleep(2)
            user.screen()
            _write(user, "overview-wall")


def _named(here: Machine, name: str, *command: str) -> SessionId:
    session = here.new(*command)
    here.ask(do="rename", id=session, name=name)
    return session


def _write(user: Looker, name: str) -> None:
    (TARGET / f"{name}.svg").write_text(_svg(user))
    print(f"wrote {name}.svg")


def _svg(user: Looker) -> str:
    size = user.screen().size
    width, height = size.columns * WIDE + 2 * MARGIN, size.rows * HIGH + 2 * MARGIN
    font = 'font-family="DejaVu Sans Mono, Menlo, monospace" font-size="14"'
    box = f'viewBox="0 0 {width:g} {height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>',
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>',
    ]
    columns: dict[int, int] = {}
    for run in user.core.cells():
        column = columns.get(run.row, 0)
        cells = width_of(run.text)
        columns[run.row] = column + cells
        parts += _run(run, column, cells)
    return "\n".join([*parts, "</svg>", ""])


def _run(run: Run, column: int, cells: int) -> list[str]:
    letters = _colour(run.foreground, LETTERS)
    ground = _colour(run.background, GROUND)
    if run.look & Look.INVERSE:
        letters, ground = ground, letters
    x, y = MARGIN + column * WIDE, MARGIN + run.row * HIGH
    long = cells * WIDE
    parts = []
    if ground != GROUND:
        box = f'x="{x:g}" y="{y:g}" width="{long:g}" height="{HIGH}"'
        parts.append(f'<rect {box} fill="{ground}"/>')
    text = run.text.rstrip()
    if text:
        looks = ' font-weight="bold"' * bool(run.look & Look.BOLD)
        looks += ' opacity="0.6"' * bool(run.look & Look.FAINT)
        place = f'x="{x:g}" y="{y + HIGH - 5:g}" textLength="{width_of(text) * WIDE:g}"'
        parts.append(
            f'<text {place} fill="{letters}"{looks} xml:space="preserve">'
            f"{html.escape(text)}</text>"
        )
    return parts


def _colour(number: int, own: str) -> str:
    if number == 0:
        return own
    if number >= EXACT:
        return f"#{number - EXACT:06x}"
    at = number - 1
    return COLOURS[at] if at < len(COLOURS) else f"#{CUBE_AND_GREYS[at - 16]:06x}"


if __name__ == "__main__":
    main()
