import hashlib
import platform
import re
from pathlib import Path

import pytest
from tests.tools.running import ROOT
from tools.set_up_criu import HELPER, CannotHave, Package, _fetch, _mirror

pytestmark = pytest.mark.skipif(not Path(HELPER).exists(), reason="no apt here")


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    made = tmp_path / "mirror" / "pool"
    made.mkdir(parents=True)
    (made / "one.deb").write_bytes(b"a package")
    return made.parent


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def pin(content: bytes, path: str = "pool/one.deb") -> Package:
    return Package(hashlib.sha256(content).hexdigest(), path)


def test_a_pinned_package_is_fetched_by_apt(mirror: Path, scratch: Path) -> None:
    (fetched,) = _fetch(f"file://{mirror}", [pin(b"a package")], scratch)
    assert fetched.read_bytes() == b"a package"


def test_a_package_that_was_changed_is_refused(mirror: Path, scratch: Path) -> None:
    with pytest.raises(CannotHave):
        _fetch(f"file://{mirror}", [pin(b"the package we pinned")], scratch)


def test_a_package_that_is_gone_is_named(mirror: Path, scratch: Path) -> None:
    with pytest.raises(CannotHave, match=r"two\.deb"):
        _fetch(f"file://{mirror}", [pin(b"x", "pool/two.deb")], scratch)


def test_without_apt_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotHave, match="no apt"):
        _mirror()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="pinned for another one")
def test_every_pin_is_a_hash_and_a_place_of_no_host() -> None:
    lines = (ROOT / "requirements" / "criu-amd64.txt").read_text().splitlines()[1:]
    assert any("/criu_" in line for line in lines)
    for line in lines:
        assert re.fullmatch(r"[0-9a-f]{64} pool/main/\S+_(amd64|all)\.deb", line), line
