"""An image of a real session is sealed for another host, and arrives there alone."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.scenarios.capsules import Account, account, as_each

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)


def handed(here: Account, there: Account, name: str) -> Path:
    """Carry a file from one account to the other."""
    file = there.place / "home" / name
    shutil.copy(here.place / "home" / name, file)
    os.chown(file, there.user, there.user)
    return file


@as_each
def test_an_image_is_carried_to_one_host_and_no_other(user: int) -> None:
    with account(user) as here, account(user) as there, account(user) as third:
        session = here.new("box", "--capsule")
        here.run("box", "secret=the-$((6*7))-pearls")
        here.ask("checkpoint", "box")
        key = there.ask("images", "key").strip()
        ours = here.ask("images", "key").strip()

        here.ask("images", "export", "box.1", "box.image", "--to", key)

        file = handed(here, there, "box.image")
        assert b"the-42-pearls" not in file.read_bytes()
        assert file.stat().st_mode & 0o777 == 0o600
        handed(here, third, "box.image")
        third.ask("images", "import", "box.image", "--from", ours, status=76)
        there.ask("images", "import", "box.image", "--from", key, status=76)
        said = there.ask("images", "import", "box.image", "--from", ours)
        name = said.split()[0]
        assert name.endswith(f"{session}.1")
        there.ask("images", "import", "box.image", "--from", ours, status=64)
        assert json.loads(there.ask("images", "--json"))["imported"] == [name]
        assert "is unchanged, and was made by h_" in there.ask(
            "images", "verify", name, "--from", ours
        )
        assert "listed and verified" in there.ask("restore", "-d", name, status=64)
        there.ask("images", "rm", name)
        assert there.ask("images") == ""
        assert third.ask("images") == ""
        here.ask("images", "export", "box.1", "box.image", "--to", key, status=64)
