"""What the README prints, and how to install, is run as printed by a new user.

A user of its own where we are root, as in CI; a home of its own otherwise.
"""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.version import __version__

ROOT = Path(__file__).parents[2]
NAME = "holdfast-reader"
PATIENCE = 600
"""Seconds for everything: packages are fetched, and other tests run beside this."""

LINES = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Account:
    """Somebody who has just cloned the project."""

    home: Path
    clone: Path
    drop: tuple[str, ...]

    def run(self, lines: str) -> subprocess.CompletedProcess[str]:
        clean = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "USER": NAME,
            "LOGNAME": NAME,
            "SHELL": "/bin/sh",  # what `useradd` gives
        }
        return subprocess.run(  # the README's own lines
            [*self.drop, "bash", "-e"],
            input=lines,
            env=clean,
            cwd=self.clone,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


@contextmanager
def somebody(home: Path) -> Iterator[tuple[str, ...]]:
    """Make a user, and yield how to become it; not where that is not ours to do."""
    if os.getuid() != 0 or shutil.which("useradd") is None:
        yield ()
        return
    subprocess.run(["userdel", NAME], capture_output=True, check=False)  # noqa: S607
    subprocess.run(["useradd", "-d", home, NAME], check=True)  # noqa: S607
    user = pwd.getpwnam(NAME)
    os.chown(home, user.pw_uid, user.pw_gid)
    ids = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")
    try:
        yield ("setpriv", *ids, "--")
    finally:
        subprocess.run(["userdel", NAME], capture_output=True, check=False)  # noqa: S607


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with (
        tempfile.TemporaryDirectory(prefix="hfr", ignore_cleanup_errors=True) as name,
        somebody(Path(name)) as drop,
    ):
        home = Path(name)
        clone = home / "holdfast"
        made = Account(home, clone, drop)
        # What git refuses to read of another user's, a clone of ours may be given.
        subprocess.run(
            ["git", "clone", "-q", "--no-hardlinks", ROOT, clone],  # noqa: S607
            check=True,
        )
        if drop:
            subprocess.run(["chown", "-R", NAME, home], check=True)  # noqa: S607
        try:
            yield made
        finally:
            if (clone / ".venv/bin/holdfast").exists():
                made.run(".venv/bin/holdfast down --end-sessions\n")


@pytest.mark.timeout(PATIENCE + 60)
def test_the_lines_of_the_readme_work_in_order_for_a_new_user(account: Account) -> None:
    (lines,) = LINES.findall((account.clone / "README.md").read_text("utf-8"))

    done = account.run(lines)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "work (s_" in done.stdout
    assert "\nrunning in /tmp\n" in done.stdout
    assert "\nat-prompt" in done.stdout
    assert re.search(r"\d\d:\d\d:\d\d +\S+ +ran ", done.stdout)
    assert len(lines.splitlines()) == 5


@pytest.mark.timeout(PATIENCE + 60)
def test_a_new_user_installs_the_package_as_printed(account: Account) -> None:
    page = (account.clone / "docs/howto/install.md").read_text("utf-8")
    lines = LINES.findall(page)

    done = account.run("".join(lines))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sessions can work here." in done.stdout
    assert (account.home / "holdfast-env/bin/holdfast").exists()
    if account.drop and shutil.which("dpkg-deb") is not None:
        (package,) = (account.clone / "dist").glob("*.deb")
        works_where_it_is_unpacked(package, account.home)


def works_where_it_is_unpacked(package: Path, home: Path) -> None:
    """Use a Debian package that is not installed: it is /opt, for one process."""
    tree, places = home / "tree", home / "deb"
    subprocess.run(["dpkg-deb", "--extract", package, tree], check=True)  # noqa: S607
    command = (tree / "usr/bin/holdfast").readlink()
    lines = f"""
        mount --bind {tree}/opt /opt
        export HOME={places} HOLDFAST_RUNTIME_DIR={places}/run
        mkdir {places} && cd {places}
        trap '{command} down --end-sessions' EXIT
        {command} --version
        {command} new --detach --name it -- cat
        {command} send it --enter hello
        {command} wait it --for hello
        {command} screen it
    """
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", lines],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"holdfast {__version__}\n")
    assert "\nhello\n" in done.stdout
    for place in ("lib/systemd/user/holdfast.service", "share/man/man1/holdfast.1.gz"):
        assert (tree / "usr" / place).is_file()
