"""Who brought a shell with marks to where it is, and who started what it runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.policy_world import question
from tests.holder.provenance.test_shell_commands import ANNA, Shell, followed

from holdfast.client import current_operator
from holdfast.core.provenance.staged import Staged
from holdfast.core.shell.shell_state import ShellState
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.policy.line_resolution import LineResolver
from holdfast.model.ids import ENTROPY, client_id
from holdfast.model.resolutions import Staging, Thing
from holdfast.term.marks import Began, Ended, Prompted


@pytest.fixture
def shell(own_folders: None) -> Iterator[Shell]:
    del own_folders
    current_operator.ourselves()
    with followed("bash") as made:
        yield made


def resolver(shell: Shell) -> LineResolver:
    descriptors = shell.following._descriptors  # noqa: SLF001  # the same for both
    return LineResolver(descriptors, shell.following, AttachedClients())


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


def at_prompt(shell: Shell, **environment: str) -> None:
    """Have the shell say at its prompt what is set in it."""
    shell.says(Prompted())
    shell.following.shell_state = ShellState(
        {}, ("/bin",), {}, environment, is_whole=True
    )


def folders(shell: Shell, line: bytes) -> dict[str, str]:
    """Return where the folders of a line lead, as far as that is looked at."""
    found = resolver(shell).completed(question(line), Staged()).folders
    return {**found}


def test_where_a_line_changes_to_is_looked_at_where_the_shell_changes_plainly(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to("/usr")
    line = f"cd {tmp_path}/link && make".encode()
    at_prompt(shell)

    assert folders(shell, line) == {f"{tmp_path}/link": "/usr"}
    assert folders(shell, b"cd /nowhere-at-all && make") == {}
    assert folders(shell, b"ls /usr") == {}


def test_where_a_line_changes_to_is_not_known_of_a_shell_that_does_so_otherwise(
    shell: Shell,
) -> None:
    shell.says(Prompted())
    assert folders(shell, b"cd /usr && make") == {}  # It does not say what is set.

    at_prompt(shell, CDPATH="/src")
    assert folders(shell, b"cd /usr && make") == {}

    at_prompt(shell)
    shell.enters(shell.given())  # What was set may be no longer.
    assert folders(shell, b"cd /usr && make") == {}
