"""Who brought a shell with marks to where it is, and who started what it runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.policy_world import question
from tests.holder.provenance.test_shell_commands import ANNA, Shell, followed

from holdfast.client import current_operator
from holdfast.core.provenance.staged import Staged
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.policy.line_resolution import LineResolver
from holdfast.model.ids import ENTROPY, client_id
from holdfast.model.resolutions import Staging, Thing
from holdfast.term.marks import Began, Ended, Prompted


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    current_operator.ourselves()
    with followed("bash") as made:
        yield made


def resolver(shell: Shell) -> LineResolver:
    vaulted = shell.following._vaulted  # noqa: SLF001  # the same for both
    return LineResolver(vaulted, shell.following, Company())


def run(shell: Shell, number: int, cwd: str) -> None:
    """Have a command run from prompt to prompt, after which the shell is there."""
    client = client_id(bytes([number]) * ENTROPY)
    shell.says(Prompted())
    shell.following.enters()
    shell.following.entered(shell.given(client=client), [Staged(b"make", (ANNA,))])
    shell.says(Began("make", 4), Ended(0, cwd))
    shell.says(Prompted())


def moved(shell: Shell) -> list[Staging]:
    asked = resolver(shell).completed(question(b"ls"), Staged())
    assert asked.resolution is not None
    (command,) = asked.resolution.commands
    return [one for one in command.staged if one.what is Thing.FOLDER]


def test_who_started_what_runs_is_known_at_the_prompt_only_where_nothing_does(
    shell: Shell,
) -> None:
    assert resolver(shell).started_by() is None
    shell.says(Prompted())
    assert resolver(shell).started_by() == ()
    shell.enters(shell.given())
    shell.says(Began("make", 4))

    assert resolver(shell).started_by() is None  # Nobody has the terminal.


def test_who_changed_the_folder_last_has_staged_what_is_run_there(shell: Shell) -> None:
    run(shell, 1, "/src")
    assert moved(shell) == []
    run(shell, 2, "/other")
    run(shell, 3, "/other")

    assert moved(shell) == [Staging(Thing.FOLDER, "/other", (ANNA,), 2)]


def test_a_command_that_does_not_tell_its_folder_has_not_changed_it(
    shell: Shell,
) -> None:
    run(shell, 1, "/src")
    run(shell, 2, "")
    run(shell, 3, "/src")

    assert moved(shell) == []
