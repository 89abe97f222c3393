"""Files that a session has open are what they were when it goes on, or it does not."""

import json
import os
import stat
from pathlib import Path

import pytest
from tests.scenarios.capsules import Account, account, as_each

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)

OPEN = "exec 7>>log 8<notes; printf one >&7"


def prepared(here: Account) -> tuple[Path, Path]:
    """Make a session that has two files open, and put it to disk."""
    home = here.place / "home"
    for name, content in (("log", "zero\n"), ("notes", "abc\n")):
        (home / name).write_text(content)
        os.chown(home / name, here.user, here.user)
    here.new("box", "--capsule")
    here.run("box", f"cd {home}; {OPEN}")
    here.ask("checkpoint", "box", "--stop")
    return home / "log", home / "notes"


@as_each
def test_unchanged_files_are_gone_on_with(user: int) -> None:
    with account(user) as here:
        log, _ = prepared(here)

        here.ask("restore", "-d", "box")

        here.run("box", "printf two >&7")
        assert log.read_text() == "zero\nonetwo"
        assert here.run("box", "cat <&8") == "abc\n"


@as_each
def test_other_bytes_of_the_same_size_are_noticed(user: int) -> None:
    with account(user) as here:
        log, notes = prepared(here)
        times = log.stat()
        log.write_text("ZERO\none")
        os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))

        said = here.ask("restore", "-d", "box", status=64)

        assert str(log) in said
        assert str(notes) not in said
        assert "--files put-back" in said
        assert log.read_text() == "ZERO\none"
        assert "stopped, " in here.ask("ls")


@as_each
def test_a_file_is_put_back_and_what_was_there_is_kept(user: int) -> None:
    with account(user) as here:
        log, _ = prepared(here)
        log.write_text("something else, and longer")

        said = here.ask("restore", "-d", "box", "--files", "put-back")

        kept = Path(f"{log}.before-2")
        assert f"{log} was put back; the newer one is {kept}" in said
        assert kept.read_text() == "something else, and longer"
        here.run("box", "printf two >&7")
        assert log.read_text() == "zero\nonetwo"
        assert log.stat().st_uid == user


@as_each
def test_a_file_that_was_removed_is_there_again(user: int) -> None:
    with account(user) as here:
        log, _ = prepared(here)
        log.unlink()

        said = here.ask("restore", "-d", "box", "--files", "put-back")

        assert f"{log} was put back; it had been deleted" in said
        assert log.read_text() == "zero\none"


@as_each
def test_what_was_only_read_is_not_put_back(user: int) -> None:
    with account(user) as here:
        _, notes = prepared(here)
        notes.write_text("xyz\n")

        said = here.ask("restore", "-d", "box", "--files", "put-back", status=64)

        assert str(notes) in said
        assert "no copies" in said
        here.ask("restore", "-d", "box", "--files", "as-is")
        assert here.run("box", "cat <&8") == "xyz\n"


@as_each
def test_a_session_that_may_not_go_on_leaves_the_files_alone(user: int) -> None:
    with account(user) as here:
        log, _ = prepared(here)
        log.write_text("later")
        policy = here.place / "config/policy.toml"
        policy.write_text('[default]\nhuman = "deny"\n')
        os.chown(policy, user, user)
        policy.chmod(0o600)
        here.ask("gate", "apply", "--yes")

        here.ask("restore", "-d", "box", "--files", "put-back", status=77)

        assert log.read_text() == "later"
        assert not Path(f"{log}.before-2").exists()


@as_each
def test_nothing_is_written_where_a_link_leads_since(user: int) -> None:
    """A session that has `x/policy.toml` open makes `x` a link to our own folder."""
    with account(user) as here:
        home = here.place / "home"
        here.new("box", "--capsule")
        here.run("box", f"cd {home}; mkdir x; exec 7>x/policy.toml; echo evil >&7")
        here.ask("checkpoint", "box", "--stop")
        (home / "x/policy.toml").unlink()
        (home / "x").rmdir()
        (home / "x").symlink_to(here.place / "config")
        before = sorted(one.name for one in (here.place / "config").iterdir())

        said = here.ask("restore", "-d", "box", "--files", "put-back", status=64)

        assert "cannot be put back" in said
        assert before == sorted(one.name for one in (here.place / "config").iterdir())


@as_each
def test_copies_are_for_their_user_alone(user: int) -> None:
    with account(user) as here:
        prepared(here)
        (image,) = json.loads(here.ask("images", "--json"))["images"]
        folder = next(here.place.glob(f"**/images/{image['session']}/1/files"))

        modes = {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}
        assert modes == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
