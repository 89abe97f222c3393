"""A recorded day: an agent's project, what it runs there, and what it must not run.

`bench/data` has the commands. Here is the folder in which they mean something: a
project below a home folder, with keys, a policy and links to them, as an agent would
find or make them. The rules of the example policy are asked about each command, with
the same code that a session uses.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.core.policy.named_paths import every_path
from holdfast.core.policy.policy import Judgement, Policy, commands_in, judge
from holdfast.core.policy.policy_file import read_policy
from holdfast.linux.real_paths import RealPaths
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question
from holdfast.model.resolutions import Resolution, Resolved

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "docs/examples/policy.toml"
DATA = Path(__file__).parent / "data"
AGENT = Actor(actor_id(b"agent"), ActorKind.AGENT, "claude")
ENTER = "⏎"
WRITTEN_HOME = "/home/agent"
"""What the recorded commands call the home folder."""

FILES = {
    "a": "one\ntwo\n",
    "b": "two\n",
    "data.csv": "x,1\ny,2\n",
    "notes.txt": "notes\n",
    "README.md": "# app\n",
    "Makefile": "test:\n\ttrue\n",
    "package.json": '{"name": "app"}\n',
    "pyproject.toml": "[project]\n",
    "requirements.txt": "x\n",
    "hello.c": "int main(void) { return 0; }\n",
    "setup.py": "",
    "src/app/parser.py": "import re\n",
    "src/app/main.py": "",
    "tests/test_parser.py": "",
    "tests/test_flaky.py": "",
    "scripts/run.sh": "#!/bin/sh\n",
    "scripts/generate.py": "",
    "build/test.log": "error\n",
    "build/data.json": "{}\n",
    "build/fix.patch": "",
    "build/evil.tar": "",
    "evil": "",
    "policy.toml": "",
}
SECRETS = {
    ".config/holdfast/policy.toml": "",
    ".config/holdfast/operators/claude.key": "secret\n",
    ".ssh/id_ed25519": "secret\n",
    ".ssh/config": "",
    ".bashrc": "",
    ".profile": "",
}
LINKS = {"link-to-config": ".config/holdfast", "id": ".ssh/id_ed25519"}


@dataclass(frozen=True, slots=True)
class World:
    """Where the commands are run."""

    home: str
    cwd: str

    def said(self, policy: Policy, line: str) -> Judgement:
        """Return what a policy says to a recorded command."""
        text = line.replace(WRITTEN_HOME, self.home)
        is_one = ENTER not in text
        payload = text if is_one else text.replace(ENTER, "\r") + "\r"
        question = Question(  # noqa: S604  # not a process
            actor=AGENT,
            kind=InputKind.COMMAND if is_one else InputKind.KEYS,
            payload=payload.encode(),
            session=SessionId("s_" + "a" * 16),
            session_name="agent-1",
            clock=LocalTime(minute=720, weekday=0),
            cwd=self.cwd,
            staged=b"",
            shell="bash",
            values={"HOME": self.home},
        )
        return judge(policy, self._placed(question))

    def _placed(self, question: Question) -> Question:
        commands = commands_in(question)
        begun = RealPaths(self.cwd, {})
        moved = {folder for command in commands for folder in command.folders if folder}
        found = {one: begun.real(os.path.join(self.cwd, one)) for one in moved}  # noqa: PTH118
        folders = {one: path for one, path in found.items() if path is not None}
        real = RealPaths(self.cwd, folders)
        return Question(
            **{
                **{name: getattr(question, name) for name in question.__slots__},
                "folders": folders,
                "paths": {one: real.of(one) for one in every_path(commands)},
                "home": self.home,
                "own": (f"{self.home}/.config/holdfast",),
                "resolution": Resolution(tuple(Resolved() for _ in commands)),
            }
        )


@contextmanager
def world(*, is_hostile: bool) -> Iterator[World]:
    """Make the project of the recorded day; a hostile one has links to secrets."""
    with TemporaryDirectory(prefix="day") as folder:
        home = Path(folder).resolve() / "home"
        project = home / "work" / "app"
        for base, files in ((project, FILES), (home, SECRETS)):
            for name, text in files.items():
                (base / name).parent.mkdir(parents=True, exist_ok=True)
                (base / name).write_text(text)
        for name, target in LINKS.items() if is_hostile else ():
            (project / name).symlink_to(home / target)
        yield World(str(home), str(project))


def commands(name: str) -> list[str]:
    """Return the recorded commands: `ordinary` or `harmful`."""
    text = (DATA / f"{name}_commands.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def example() -> Policy:
    """Return the example policy."""
    return read_policy(EXAMPLE.read_bytes())
