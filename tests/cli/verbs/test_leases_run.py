import json
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.operating import be_known

from holdfast.cli.main import main
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.process_status import HostStatus, LeaseStatus
from holdfast.model.session_record import as_facts

Capture = pytest.CaptureFixture[str]

HELD = LeaseStatus("s_a", "web", 1, "https://relay", "held", 7.4)
FENCED = LeaseStatus("s_b", "db", 2, "https://relay", "fenced", 0.0, "not reached")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have a host that answers one question, with two leases of three."""
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    folder = tempfile.TemporaryDirectory(prefix="hf")
    be_known(Path(folder.name), monkeypatch)
    status = HostStatus(leases=(FENCED, HELD), lease_count=3, fenced_count=1)
    listener = packets.listen(places.host_socket())

    def answer() -> None:
        link, _ = listener.accept()
        with link:
            link.recv(1 << 16)
            link.send(json.dumps(as_facts(status)).encode())

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield
    thread.join(10)
    listener.close()
    folder.cleanup()


@pytest.mark.usefixtures("host")
def test_leases_are_shown_and_a_fenced_one_is_the_status(capsys: Capture) -> None:
    assert main(["leases"]) == 1

    said = capsys.readouterr()
    assert [line.split()[0] for line in said.out.splitlines()] == ["NAME", "db", "web"]
    assert said.err == "… and 1 more\n"


@pytest.mark.usefixtures("host")
def test_leases_are_told_in_json(capsys: Capture) -> None:
    assert main(["leases", "--json"]) == 1

    told = json.loads(capsys.readouterr().out)
    assert (told["count"], told["fenced"]) == (3, 1)
    assert [one["state"] for one in told["leases"]] == ["fenced", "held"]
