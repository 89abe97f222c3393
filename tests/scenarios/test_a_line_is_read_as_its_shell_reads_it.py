"""What is judged is what the shell of this session makes of a line, and no other."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import run, shell, wait_phase
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.client import calls
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

POLICY = """
[[rule]]
name = "no-rm"
verdict = "deny"
kind = "agent"
first = "rm"

[[rule]]
name = "words"
verdict = "allow"
kind = "agent"
first = ["echo", "cat", "cd", "wc", "x72m", "test", "true"]

[[rule]]
name = "here"
verdict = "allow"
kind = "agent"
first = ["cat", "sh"]
paths = "HOME"
writes = "HOME"

[[rule]]
name = "make"
verdict = "allow"
kind = "agent"
first = "make"
cwd = "WORK"

[undecidable]
agent = "deny"
"""


@pytest.fixture
def home() -> Path:
    made = Path(tempfile.mkdtemp(prefix="hf")).resolve()
    (made / "work" / "src").mkdir(parents=True)
    (made / "elsewhere").mkdir()
    (made / "work" / "link").symlink_to(made / "elsewhere")
    (made / "kept").write_text("kept")
    return made


@pytest.fixture
def here(home: Path) -> Iterator[Machine]:
    with machine() as made:
        apply_policy(
            POLICY.replace("WORK", str(home / "work")).replace("HOME", str(home))
        )
        yield made


def enter(bot: Client, line: str) -> str:
    """Return by which rule a line was refused, or "" if it was taken."""
    bot.post(line.encode() + b"\r", InputKind.KEYS)
    answer = bot.settle()
    if isinstance(answer, wire.Acknowledge):
        return ""
    assert isinstance(answer, wire.Refuse)
    return str(answer.facts.get("rule") or answer.code)


def prompt(here: Machine, home: Path, *command: str) -> tuple[SessionId, Client]:
    if command[0] == "dash":
        session = here.new(*command)
        eventually("at-prompt", lambda: calls.state(session).state == "at-prompt")
    else:
        session = shell(here, home, *command)
    return session, here.join(session, "bot", ActorKind.AGENT)


@pytest.mark.parametrize(
    ("command", "line", "rule"),
    [
        (("fish",), r"\x72m {kept}", "no-rm"),
        (("fish",), "echo (rm {kept})", "no-rm"),
        (("bash",), r"\x72m {kept}", ""),
        (("bash",), r"$'\x72m' {kept}", "no-rm"),
        (("zsh",), "echo =rm *(e:'rm {kept}':)", "no-rm"),
        (("dash", "-i"), "echo a &>x rm {kept}", "no-rm"),
        (("bash",), "rm>/dev/null {kept}", "no-rm"),
        (("bash",), 'echo "$(rm {kept})"', "no-rm"),
        (("bash",), "test -v 'a[$(rm {kept})]'", "no-rm"),
    ],
)
def test_no_shell_runs_what_another_one_would_not(
    here: Machine, home: Path, command: tuple[str, ...], line: str, rule: str
) -> None:
    _, bot = prompt(here, home, *command)

    assert enter(bot, line.replace("{kept}", str(home / "kept"))) == rule

    assert (home / "kept").read_text() == "kept"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bash", "for f in *; do wc -c $f; done"),
        ("fish", "for f in *; wc -c $f; end"),
        ("bash", "if test -f kept; then cat kept; else echo no; fi"),
        ("bash", "(cd /) && echo $HOME 2>&1 | cat || echo failed"),
    ],
)
def test_what_an_agent_does_all_day_is_decided(
    here: Machine, home: Path, name: str, line: str
) -> None:
    session, bot = prompt(here, home, name)
    assert enter(bot, f"cd {home}") == ""
    wait_phase(session, "prompt")

    assert enter(bot, line) == ""


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_line_is_judged_in_the_folder_that_it_changes_to(
    here: Machine, home: Path, name: str
) -> None:
    session, bot = prompt(here, home, name)
    work = home / "work"
    assert enter(bot, "make x") == "default-agent"
    assert enter(bot, f"cd {work}; make x") == "default-agent"
    assert enter(bot, f"cd {work}/link && make x") == "default-agent"
    assert enter(bot, f"cd {work}/gone && make x") == "undecidable"

    assert enter(bot, f"cd {work}/src && make x") == ""

    wait_phase(session, "prompt")
    assert enter(bot, "cd .. && make x") == "undecidable"


@pytest.mark.parametrize("where", ["the start-up file", "a line", "a function"])
def test_a_cd_of_somebody_s_own_leads_anywhere_in_fish(
    here: Machine, home: Path, where: str
) -> None:
    (home / ".config" / "fish").mkdir(parents=True)
    moved = f"function cd; builtin cd {home}/elsewhere; end"
    texts = {
        "the start-up file": moved,
        "a line": "",
        "a function": f"function sly; echo '{moved}' | source; end",
    }
    (home / ".config" / "fish" / "config.fish").write_text(texts[where] + "\n")
    session = shell(here, home, "fish")
    if where != "the start-up file":
        run(session, "sly" if where == "a function" else moved)
    bot = here.join(session, "bot", ActorKind.AGENT)

    assert enter(bot, f"cd {home}/work && make x") == "undecidable"


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_home_folder_of_the_shell_is_known(
    here: Machine, home: Path, name: str
) -> None:
    session, bot = prompt(here, home, name)

    assert enter(bot, "cd $HOME/elsewhere && make x") == "default-agent"
    assert enter(bot, "cd ~/elsewhere && make x") == "default-agent"
    assert enter(bot, "HOME=/x; cd ~/work && make x") != ""
    assert enter(bot, "cd ~/work && make x") == ""

    wait_phase(session, "prompt")
    assert enter(bot, "cd $HOME/work/src && make x") == ""


@pytest.mark.parametrize("name", ["bash", "zsh"])
@pytest.mark.parametrize("kind", [InputKind.COMMAND, InputKind.KEYS])
def test_a_heredoc_is_data(
    here: Machine, home: Path, name: str, kind: InputKind
) -> None:
    session, bot = prompt(here, home, name)
    lines = [f"rm {home}/kept", "$(rm kept) `rm kept`", *["x" * 60] * 100]
    text = "\n".join([f"cat <<'EOF' >{home}/made", *lines, "EOF"])

    bot.post(text.encode() + b"\r", kind)

    assert isinstance(bot.settle(), wire.Acknowledge)
    made = home / "made"
    eventually("it is written", lambda: made.exists() and made.stat().st_size > 6000)
    assert made.read_text() == "\n".join(lines) + "\n"
    assert (home / "kept").exists()
    wait_phase(session, "prompt")
    bot = here.join(session, "bot", ActorKind.AGENT)
    bot.post(b"echo next\r", InputKind.COMMAND)
    assert isinstance(bot.settle(), wire.Acknowledge)


@pytest.mark.parametrize(
    "text",
    [
        "cat <<EOF\n$(rm {kept})\nEOF",
        "cat <<'EOF'\nx\nEOF\nrm {kept}",
        "sh <<'EOF'\nrm {kept}\nEOF",
        "cat <<'EOF' | sh\nrm {kept}\nEOF",
    ],
)
def test_unless_somebody_executes_it(here: Machine, home: Path, text: str) -> None:
    _, bot = prompt(here, home, "bash")

    assert enter(bot, text.replace("{kept}", str(home / "kept"))) != ""

    assert (home / "kept").exists()
