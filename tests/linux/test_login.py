"""Who is logged in, and a user whom the machine does not know."""

import os
import pwd
import subprocess
import sys

import pytest

from holdfast.linux import login

NOBODY_KNOWS = 4_242_424
ASK = (
    "import os; os.setuid(4242424); from holdfast.linux import login;"
    " print([login.name(), login.home()])"
)


def test_a_user_on_the_list_is_as_it_says() -> None:
    listed = pwd.getpwuid(os.getuid())

    assert login.name() == listed.pw_name
    assert login.home() == listed.pw_dir


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
@pytest.mark.parametrize(("given", "home"), [({}, "/"), ({"HOME": "/x"}, "/x")])
def test_a_user_that_is_not_listed_has_a_folder(
    given: dict[str, str], home: str
) -> None:
    with pytest.raises(KeyError):
        pwd.getpwuid(NOBODY_KNOWS)

    said = subprocess.run(
        [sys.executable, "-c", ASK],
        env=given,
        capture_output=True,
        text=True,
        check=True,
    )

    assert said.stdout.strip() == str(["", home])
