import os
from pathlib import Path

import pytest
from tests.scenarios.dozing import dozing_machine, fall_asleep, leave
from tests.scenarios.lone_shell import demand
from tests.scenarios.shells import shell
from tests.scenarios.support import eventually

from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

MUCH = "x" * 30_000
"""More than the pipe of bash and zsh holds."""


def is_recorded(session: SessionId, sign: str, name: str) -> bool:
    lines = places.session_log(session).read_text("utf-8").splitlines()
    changed = [line for line in lines if '"kind":"changed"' in line]
    return any(f"{sign} v {name}" in line or f" {name}" in line for line in changed)


@pytest.mark.parametrize("program", ["bash", "zsh"])
def test_a_shell_in_which_much_is_set_tells_it_all_while_the_session_dozes(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / ".zshrc").touch()
    with dozing_machine() as here:
        session = shell(here, tmp_path, demand(program), MUCH=MUCH)
        eventually("the first state", lambda: is_recorded(session, "=", "MUCH"))
        os.mkfifo(tmp_path / "gate")
        client = here.join(session)
        client.enter(f"read -r line < {tmp_path}/gate; AFTER=1\r".encode())
        leave(client)
        fall_asleep(here, session)

        (tmp_path / "gate").write_text("go\n")

        eventually("the variable", lambda: is_recorded(session, "+", "AFTER"))
