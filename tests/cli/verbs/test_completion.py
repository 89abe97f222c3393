import argparse
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.cli.main import VERBS, Parser, main, module_of
from holdfast.cli.verbs.completion import GATE, MODES, NAMING, options_of
from holdfast.cli.verbs.gate import WORDS
from holdfast.verify import mode

Capture = pytest.CaptureFixture[str]


def parser_of(verb: str) -> argparse.ArgumentParser:
    parser = Parser(prog=f"holdfast {verb}")
    module_of(verb).add_arguments(parser)
    return parser


@pytest.mark.parametrize("verb", VERBS)
def test_exactly_the_options_that_help_shows_are_completed(verb: str) -> None:
    pattern = r"^  (?:-[a-z](?: [A-Z]+)?, )?(--[a-z-]+)"
    shown = re.findall(pattern, parser_of(verb).format_help(), re.MULTILINE)

    assert {*shown} - {"--help"} == {*options_of(verb)}


@pytest.mark.parametrize("verb", NAMING)
def test_verbs_that_name_a_session_take_one(verb: str) -> None:
    help_text = parser_of(verb).format_help()

    assert "NAME" in help_text or "OLD" in help_text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(shell: str, capsys: Capture) -> None:
    assert main(["completion", shell]) == 0

    script = capsys.readouterr().out
    assert "holdfast ls --names" in script
    assert all(verb in script for verb in VERBS)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_bash_completes_verbs(capsys: Capture) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    asking = "COMP_WORDS=(holdfast re); COMP_CWORD=1; _holdfast; echo ${COMPREPLY[@]}"

    said = subprocess.check_output(["bash", "-c", f"{script}\n{asking}"], text=True)  # noqa: S607

    assert sorted(said.split()) == [
        *("read", "reap", "record", "recover", "refuse", "relay", "rename", "resize"),
        *("restore", "revoke"),
    ]


@pytest.mark.parametrize("verb", ["a", "kill", "detach"])
def test_other_names_of_verbs_complete_a_session_too(
    verb: str, capsys: Capture
) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    asking = (
        "holdfast() { echo web; };"
        f"COMP_WORDS=(holdfast {verb} w); COMP_CWORD=2; _holdfast;"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )

    said = subprocess.check_output(["bash", "-c", f"{script}\n{asking}"], text=True)  # noqa: S607

    assert said.split() == ["web"]


def test_words_of_the_gate_are_completed() -> None:
    assert set(GATE) == set(WORDS)


def test_verbs_are_completed_after_as_too(capsys: Capture) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    asking = (
        "COMP_WORDS=(holdfast --as bot sei); COMP_CWORD=3; _holdfast;"
        "echo ${COMPREPLY[@]};"
        "COMP_WORDS=(holdfast --as bot gate p); COMP_CWORD=4; _holdfast;"
        "echo ${COMPREPLY[@]}"
    )

    said = subprocess.check_output(["bash", "-c", f"{script}\n{asking}"], text=True)  # noqa: S607

    assert said.split() == ["seize", "pending"]


def test_no_name_that_is_completed_is_run(tmp_path: Path, capsys: Capture) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    marker = tmp_path / "ran"
    names = f"echo 'web $(touch${{IFS}}{marker}) `touch${{IFS}}{marker}`'; echo we-b"
    asking = (
        f"holdfast() {{ {names}; }};"
        "COMP_WORDS=(holdfast attach we); COMP_CWORD=2; _holdfast;"
        'printf "%s\\n" "${COMPREPLY[@]}";'
        "COMP_WORDS=(holdfast attach ''); COMP_CWORD=2; _holdfast;"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )

    said = subprocess.check_output(["bash", "-c", f"{script}\n{asking}"], text=True)  # noqa: S607

    assert said.split() == ["web", "we-b", "web", "we-b"]
    assert not marker.exists()


def test_the_modes_that_are_completed_are_those_that_verify_knows() -> None:
    assert list(MODES) == [one.name for one in mode.MODES]
