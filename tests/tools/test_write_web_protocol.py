from pathlib import Path

from tests.tools.running import ROOT, run_tool

from holdfast.model.errors import HoldfastError, leaves
from holdfast.wire.frames import FrameKind

TWIN = ROOT / "web" / "src" / "protocol"


def test_the_page_knows_every_message_and_every_error_as_they_are() -> None:
    done = run_tool("write_web_protocol", "--check")

    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_out_of_date_is_found(tmp_path: Path) -> None:
    for path in TWIN.glob("*.ts"):
        (tmp_path / path.name).write_text(path.read_text())
    stale = (TWIN / "codes.ts").read_text().replace("session-over", "session-done")
    (tmp_path / "codes.ts").write_text(stale)

    done = run_tool("write_web_protocol", "--check", "--target", tmp_path)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        str(tmp_path / "codes.ts")
    ]


def test_every_kind_of_frame_has_its_number_there() -> None:
    written = (TWIN / "messages.ts").read_text()

    for kind in FrameKind:
        assert f"  {kind.name}: 0x{kind.value:02x},\n" in written


def test_every_code_is_there_once() -> None:
    written = (TWIN / "codes.ts").read_text()

    for leaf in leaves(HoldfastError):
        assert written.count(f'  "{leaf.code}": [') == 1


def test_every_limit_of_a_field_is_there() -> None:
    written = (TWIN / "messages.ts").read_text()

    assert "nonce: bytes(32, 32)," in written
    assert "payload: bytes(0, 65536)," in written
    assert "timeout_ms: int(1, 86400000)," in written
    assert "text: text(1024)," in written
    assert "receipt: orNull(RECEIPT)," in written
