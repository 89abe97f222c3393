import json
from pathlib import Path

import pytest

from holdfast.conformance.places import NotFound, subject_at

SESSION = "s_" + "a" * 16
ACTOR = "a_" + "b" * 32


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HOLDFAST_AS", "anna")
    sockets = tmp_path / "run/s"
    sockets.mkdir(parents=True)
    (sockets / f"{SESSION}.sock").touch()
    (sockets / f"{SESSION}.name").symlink_to("subject")
    for name, kind in (("anna", "human"), ("tester", "agent")):
        folder = tmp_path / "config/operators" / name
        folder.mkdir(parents=True)
        facts = {"actor": f"a_{name:b<32}", "kind": kind}
        (folder / "operator.json").write_text(json.dumps(facts), "utf-8")
        (folder / "token").write_bytes(name.encode())
    return tmp_path


@pytest.mark.parametrize("address", ["subject", SESSION])
def test_a_session_of_this_machine_is_found_by_name_and_id(address: str) -> None:
    found = subject_at(address)

    assert found.session == SESSION
    assert (found.first.name, found.first.token) == ("anna", b"anna")
    assert found.other().name == "tester"


def test_a_socket_is_an_address(folders: Path) -> None:
    assert subject_at(f"unix:{folders}/run/s/{SESSION}.sock").session == SESSION
    assert subject_at("/some/socket", SESSION).session == SESSION


def test_operators_are_named_or_brought_with_a_token(folders: Path) -> None:
    (folders / "token").write_bytes(b"secret")

    found = subject_at("subject", operators=("tester", f"{ACTOR}={folders}/token"))

    assert found.first.name == "tester"
    assert (found.other().actor, found.other().token) == (ACTOR, b"secret")


@pytest.mark.parametrize(
    ("address", "operators"),
    [
        ("nothing", ()),
        ("/no/session/in/its/name", ()),
        ("subject", ("nobody",)),
        ("subject", (f"{ACTOR}=/no/such/file",)),
    ],
)
def test_what_is_not_there_is_said(address: str, operators: tuple[str, ...]) -> None:
    with pytest.raises(NotFound):
        subject_at(address, operators=operators)


def test_a_damaged_operator_is_none(folders: Path) -> None:
    (folders / "config/operators/anna/operator.json").write_text("{}", "utf-8")

    with pytest.raises(NotFound):
        subject_at("subject")
