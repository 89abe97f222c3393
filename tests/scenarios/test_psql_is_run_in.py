"""`run` in psql, against a server of Debian's that only this test can reach."""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell
from tests.scenarios.support import Machine, eventually, machine
from tests.scenarios.test_interpreters_are_run_in import verb, wait_input

from holdfast.client import calls
from holdfast.model.ids import SessionId

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
SERVER_USER = "nobody"
"""PostgreSQL does not run as root."""


@pytest.fixture(scope="module")
def database() -> Iterator[Path]:
    """Run a server on a socket in a folder of its own; return the folder."""
    if shutil.which("psql") is None:
        pytest.skip("psql is not installed")
    if not SERVERS:
        pytest.skip("the server of postgresql is not installed")
    # pytest's own folders are closed to the user that the server runs as.
    root = Path(tempfile.mkdtemp(prefix="hfpg"))
    command = []
    if os.geteuid() == 0:
        command = ["setpriv", f"--reuid={SERVER_USER}", "--clear-groups", "--"]
        os.chown(root, pwd.getpwnam(SERVER_USER).pw_uid, -1)

    def server(program: str, *words: str) -> None:
        told = [*command, str(SERVERS[-1] / program), "-D", f"{root}/data", *words]
        done = subprocess.run(
            told, capture_output=True, text=True, check=False, cwd=root, timeout=60
        )
        assert done.returncode == 0, done.stderr

    server("initdb", "--no-sync", "--auth=trust", "--username=anna")
    where = f"-c listen_addresses= -c unix_socket_directories={root} -F"
    server("pg_ctl", "-w", "-l", f"{root}/log", "-o", where, "start")
    try:
        yield root
    finally:
        server("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(root)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine, database: Path) -> SessionId:
    command = "psql", "--host", str(database), "--username", "anna", "postgres"
    made = here.new(*command)
    wait_input(made)
    eventually("its prompt", lambda: "postgres=# " in verb("read", made).stdout)
    return made


def test_a_query_gives_its_rows(session: SessionId) -> None:
    told = json.loads(verb("run", session, "--json", "select 6 * 7 as n;").stdout)

    assert told["output"].split() == ["n", "----", "42", "(1", "row)"]
    assert (told["boundaries"], told["exit"]) == ("prompt", None)


def test_a_query_that_fails_gives_its_error(session: SessionId) -> None:
    done = verb("run", session, "select 1 from nothing;")

    assert done.stdout.startswith('ERROR:  relation "nothing" does not exist')


def test_a_query_that_takes_its_time_is_waited_for(session: SessionId) -> None:
    done = verb("run", session, "select pg_sleep(3), 'late' as word;")

    assert "late" in done.stdout


def test_half_a_query_is_noticed_also_in_a_transaction(session: SessionId) -> None:
    assert verb("run", session, "begin;").stdout == "BEGIN\n"
    assert verb("run", session, "select 1;").returncode == 0

    half = verb("run", session, "select (1,")

    assert half.returncode == 75
    assert "not a complete command" in half.stderr


def test_a_page_of_a_long_result_is_a_question(session: SessionId) -> None:
    line = "select generate_series(1, 500);"

    told = verb("run", session, "--json", "--until-input", line)

    facts = json.loads(told.stdout)
    assert (facts["stopped"], facts["ended"]) == ("asked", False)
    assert facts["boundaries"] == "prompt"
    verb("keys", session, "q")
    eventually("it is back", lambda: _is_back(session))
    verb("run", session, r"\pset pager off")
    assert "500\n(500 rows)" in verb("run", session, line).stdout


def _is_back(session: SessionId) -> bool:
    return verb("screen", session).stdout.rstrip().endswith("postgres=#")


def test_leaving_it_leads_back_to_the_shell(
    here: Machine, database: Path, tmp_path: Path
) -> None:
    bash = shell(here, tmp_path)
    line = f"psql --host {database} --username anna postgres"
    verb("send", bash, "--enter", line)
    eventually("its prompt", lambda: "postgres=# " in verb("read", bash).stdout)

    done = json.loads(verb("run", bash, "--json", r"\q").stdout)

    assert (done["stopped"], done["state"]) == ("left", "at-prompt")
    assert calls.state(bash).state == "at-prompt"
