"""A session changes files of its own, and the machine's stay as they are."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.scenarios.capsules import MOUNTING, Account, account, as_each
from tests.scenarios.support import eventually

from holdfast.linux.criu import program

OWN = ("--capsule", "--files", "own")

needs_criu = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)


def given(here: Account, name: str, text: str) -> Path:
    """Put a file of the user's into the home."""
    path = here.place / "home" / name
    path.write_text(text)
    os.chown(path, here.user, here.user)
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def layers_of(here: Account, session: str) -> Path:
    return here.place / "run/state/layers" / session


@as_each
def test_what_it_changes_is_seen_inside_and_nowhere_else(user: int) -> None:
    with account(user) as here:
        kept, gone = given(here, "kept", "as it was\n"), given(here, "gone", "here\n")
        said = here.ask("new", "-d", "-n", "box", *OWN)
        inner = "echo more >> ~/kept; rm ~/gone; mkdir ~/made; echo x > /tmp/hf-own-x"
        here.run("box", f"{inner}; cat ~/kept; ls ~")

        seen = here.run("box", "cat ~/kept; ls -m ~; cat /tmp/hf-own-x")

        assert "what it changes is kept apart" in said
        assert seen.split("\n")[:4] == ["as it was", "more", "kept, made", "x"]
        assert kept.read_text() == "as it was\n"
        assert gone.exists()
        assert names_in(here.place / "home") == ["gone", "kept"]
        assert not Path("/tmp/hf-own-x").exists()  # noqa: S108  # not outside


@as_each
def test_what_is_in_no_layer_cannot_be_changed(user: int) -> None:
    with account(user) as here:
        here.new("box", *OWN)

        said = here.run("box", "echo x > /hf-x; echo x > /boot/hf-x", status=None)

        refused = "Read-only file system" if user == 0 else "hf-x"
        assert said.count(refused) == 2
        assert not Path("/hf-x").exists()


@as_each
def test_our_folders_stay_covered_above_the_layers(user: int) -> None:
    with account(user) as here:
        session = here.new("box", *OWN)
        ours = [here.place / one for one in ("run", "config")]
        store = layers_of(here, session)
        tricks = "; ".join(
            f"ls -A {one}; mv {one} {one}.x; ln {one}/x /tmp; rm -rf {one};"
            f" touch {one}/x; mv {one.parent} {one.parent}.x; chmod 777 {one}"
            for one in ours
        )

        said = here.run("box", f"({tricks}) 2>&1; cat {store}/stack", status=None)
        here.run("box", f"mkdir -p {here.place}/run/x; ls {here.place}", status=None)

        assert "layers" not in said.replace(str(store), "")
        assert '"trees"' not in said
        assert (store / "stack").exists()
        assert (here.place / "config").stat().st_mode & 0o777 == 0o700
        assert not any(name.endswith(".x") for name in names_in(here.place))


@needs_criu
@as_each
def test_an_image_keeps_the_files_with_the_memory(user: int) -> None:
    with account(user) as here:
        given(here, "text", "machine\n")
        here.new("box", *OWN)
        here.run("box", "echo one >> ~/text; exec 7>> ~/text; word=early")
        first = json.loads(here.ask("checkpoint", "box", "--json"))["image"]
        here.run("box", "echo two >&7; mkdir ~/later; chmod 000 ~/later; word=late")
        last = json.loads(here.ask("checkpoint", "box", "--stop", "--json"))["image"]

        here.ask("restore", "-d", last)
        late = here.run("box", "echo three >&7; echo $word; cat ~/text; ls -d ~/later")
        here.ask("end", "box")
        here.ask("restore", "-d", first)
        early = here.run("box", "echo 2 >&7; echo $word; cat ~/text; ls ~")

        assert late.split()[:5] == ["late", "machine", "one", "two", "three"]
        assert early.split() == ["early", "machine", "one", "2", "text"]
        assert (here.place / "home/text").read_text() == "machine\n"


@as_each
def test_a_lost_session_goes_on_with_its_files(user: int) -> None:
    with account(user) as here:
        session = here.new("box", *OWN)
        here.run("box", "echo mine > ~/text; sync ~/text")
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in here.ours():
                os.kill(pid, number)

        here.ask("recover", "-d", "box")

        assert here.run("box", "cat ~/text") == "mine\n"
        assert not (here.place / "home/text").exists()
        assert layers_of(here, session).exists()


@as_each
def test_what_never_began_leaves_no_layers(user: int) -> None:
    with account(user) as here:
        here.ask("new", "-d", *OWN, "--", "/nonexistent/program", status=None)

        # Whoever asked is told first.
        eventually("no layers", lambda: names_in(here.place / "run/state/layers") == [])


@as_each
def test_a_person_sees_and_applies_what_a_session_changed(user: int) -> None:
    with account(user) as here:
        text, gone = given(here, "text", "old\n"), given(here, "gone", "x\n")
        here.new("box", *OWN)
        here.run("box", "unset HISTFILE; echo new > ~/text; rm ~/gone; mkdir ~/made")

        listed = here.ask("files", "box").split("\n")
        shown = here.ask("files", "box", "--diff")
        refused = here.ask("files", "box", "--apply", status=64)
        here.ask("end", "box")
        said = here.ask("files", "box", "--apply")

        home = here.place / "home"
        assert listed[:3] == [f"-  {gone}", f"+  {home}/made/", f"~  {text}"]
        assert "-old\n+new" in shown
        assert "is running" in refused
        assert said == "applied: 1 made, 1 changed, 1 deleted\n"
        assert text.read_text() == "new\n"
        assert names_in(home) == ["made", "text"]
        story = here.ask("log", "--host")
        assert "1 made, 1 changed, 1 deleted" in story
        here.ask("files", "box", "--discard")
        assert here.ask("files") == ""


@as_each
def test_what_changed_outside_too_is_not_overwritten_unasked(user: int) -> None:
    with account(user) as here:
        text = given(here, "text", "old\n")
        here.new("box", *OWN)
        here.run("box", "echo inside > ~/text")
        text.write_text("outside\n")
        here.ask("freeze", "box")

        refused = here.ask("files", "box", "--apply", status=64)

        assert f"changed outside since the session began: {text}" in refused
        assert here.ask("files", "box") == f"~! {text}\n"
        assert text.read_text() == "outside\n"
        here.ask("files", "box", "--apply", "--force")
        assert text.read_text() == "inside\n"


@as_each
def test_an_agent_applies_nothing(user: int) -> None:
    with account(user) as here:
        here.new("box", *OWN)
        here.run("box", "touch ~/made")
        here.ask("end", "box")
        here.ask("operators", "add", "robot", "--kind", "agent")
        here.ask("new", "-d", "-n", "plain")

        line = "HOLDFAST_AS=robot holdfast files box --apply"
        said = here.ask("run", "plain", "--", line, status=None)

        assert "may not" in said or "not allowed" in said, said
        assert not (here.place / "home/made").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="to mount something needs root")
@as_each
def test_a_mount_in_a_tree_is_read_only_or_named_as_the_cause(user: int) -> None:
    with account(user, MOUNTING) as here:
        disk = here.place / "home/disk"
        disk.mkdir()
        os.chown(disk, user, user)
        subprocess.run(["/bin/mount", "-t", "ramfs", "none", disk], check=True)
        try:
            said = here.ask("new", "-d", "-n", "box", *OWN, status=None)
            if user == 0:
                written = here.run("box", f"touch {disk}/x", status=None)
                assert "Read-only file system" in written
                here.ask("end", "box")
            else:
                assert f"own files: {disk} is mounted in a folder" in said
        finally:
            subprocess.run(["/bin/umount", disk], check=True)
