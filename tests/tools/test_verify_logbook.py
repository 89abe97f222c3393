import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.docs.test_logbook_spec import approved_story
from tools.verify_logbook import KIND, check_export, is_signed

from holdfast.core.book.log_export import export_lines
from holdfast.core.book.logbook import EntryKind, Head
from holdfast.core.book.signed_head import SignedHead, sign_head
from holdfast.crypto import keys
from holdfast.crypto.keys import SigningKey
from holdfast.model.ids import Incarnation, SessionId
from holdfast.wire.lines import decode_line, encode_line

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tools" / "verify_logbook.py"
HOST, OTHER = (SigningKey.from_seed(bytes([n]) * 32) for n in (1, 2))

ENTRIES = approved_story().entries
LINES = [entry.line for entry in ENTRIES]
SESSION = SessionId(str(decode_line(LINES[0])["session"]))
LAST = ENTRIES[-1]
SIGNED = sign_head(Head(SESSION, LAST.index, LAST.hash), LAST.incarnation, HOST)


def exported(
    lines: list[bytes] = LINES, signed: SignedHead | None = SIGNED
) -> list[bytes]:
    return list(export_lines(SESSION, len(lines), lines, signed))


def checked(lines: list[bytes], key: str | None = None) -> str:
    return check_export(b"".join(line + b"\n" for line in lines), key)


def rewritten(line: bytes, **changes: str | int | None) -> bytes:
    return encode_line({**decode_line(line), **changes})


def test_a_genuine_export_holds_and_says_who_vouches() -> None:
    said = checked(exported(), HOST.public.hex())

    assert f"{SESSION}: {len(LINES)} entries verified" in said
    assert LAST.hash.hex() in said
    assert f"{HOST.public.hex()} up to entry {LAST.index}" in said


def test_without_a_signature_it_says_that_nobody_vouches_for_the_end() -> None:
    assert "No host signed" in checked(exported(signed=None))
    assert "0 entries" in checked(exported([], None))


def test_a_head_before_the_end_vouches_for_the_beginning() -> None:
    entry = ENTRIES[2]
    early = sign_head(Head(SESSION, 2, entry.hash), entry.incarnation, HOST)

    assert "up to entry 2" in checked(exported(signed=early))


@pytest.mark.parametrize("index", range(1, len(LINES)))
def test_a_forged_entry_is_found_where_the_next_does_not_follow(index: int) -> None:
    lines = exported()
    lines[index] = rewritten(lines[index], at=1)

    with pytest.raises(ValueError, match=f"entry {index}: it does not follow"):
        checked(lines)


def test_a_forged_last_entry_is_found_by_the_signed_head() -> None:
    lines = exported()
    lines[-2] = rewritten(lines[-2], at=1)

    with pytest.raises(ValueError, match="not the one it signs"):
        checked(lines)


@pytest.mark.parametrize("index", range(len(LINES) - 1))
def test_a_removed_entry_is_found(index: int) -> None:
    lines = exported(LINES[:index] + LINES[index + 1 :])

    with pytest.raises(ValueError, match=f"entry {index}: it does not follow"):
        checked(lines)


@pytest.mark.parametrize("index", range(len(LINES) - 1))
def test_swapped_entries_are_found(index: int) -> None:
    lines = exported()
    lines[index + 1], lines[index + 2] = lines[index + 2], lines[index + 1]

    with pytest.raises(ValueError, match=f"entry {index}: it does not follow"):
        checked(lines)


def test_a_tail_cut_off_before_the_export_is_found_by_the_signed_head() -> None:
    with pytest.raises(ValueError, match="which is not here"):
        checked(exported(LINES[:-2]))


def test_an_export_cut_off_on_its_way_is_found_without_a_signature() -> None:
    lines = exported(signed=None)

    with pytest.raises(ValueError, match="entries, not"):
        checked(lines[:-1])
    with pytest.raises(ValueError, match="not whole"):
        check_export(b"\n".join(lines)[:-5])
    with pytest.raises(ValueError, match="entries, not"):
        checked(exported()[:-1])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"head": 1}, "signature"),
        ({"hash": "00" * 32}, "signature"),
        ({"incarnation": 9}, "signature"),
        ({"signature": "00" * 64}, "signature"),
        ({"signature": "no"}, "signature"),
        ({"session": "s_bbbbbbbbbbbbbbbb"}, "another session"),
        ({"host": OTHER.public.hex()}, "another host"),
    ],
)
def test_a_changed_head_is_found(changes: dict[str, str | int], why: str) -> None:
    lines = exported()
    lines[-1] = rewritten(lines[-1], **changes)

    with pytest.raises(ValueError, match=why):
        checked(lines)


def test_a_signature_by_another_key_is_found_by_whoever_knows_the_key() -> None:
    head = SIGNED.receipt.head
    forged = exported(signed=sign_head(head, SIGNED.receipt.incarnation, OTHER))

    assert "Signed by" in checked(forged)
    with pytest.raises(ValueError, match="another host's key"):
        checked(forged, HOST.public.hex())


def test_the_wrong_key_with_the_right_signature_is_found() -> None:
    lines = exported(signed=SignedHead(SIGNED.receipt, OTHER.public))

    with pytest.raises(ValueError, match="the signature is wrong"):
        checked(lines)


def test_a_head_that_names_another_life_is_found() -> None:
    head, life = SIGNED.receipt.head, Incarnation(SIGNED.receipt.incarnation + 1)

    with pytest.raises(ValueError, match="not the one it signs"):
        checked(exported(signed=sign_head(head, life, HOST)))


@pytest.mark.parametrize(
    "change",
    [
        (b'"epoch":', b'"epoch": '),
        (b'"index":0', b'"index":0.0'),
        (b'"kind":"granted"', b'"kind":"graunted"'),
        (b'"epoch":', b'"epoch":true,"x":'),
    ],
)
def test_a_line_in_another_spelling_is_refused(change: tuple[bytes, bytes]) -> None:
    lines = exported(LINES[:1], None)
    lines[1] = lines[1].replace(*change)

    with pytest.raises(ValueError, match="entry 0"):
        checked(lines)


def test_the_words_of_the_verifier_are_those_of_the_code() -> None:
    assert set(KIND.pattern.split("|")) == {kind.value for kind in EntryKind}


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_that_they_are_wrong(raw: bytes) -> None:
    with pytest.raises(ValueError, match=":"):
        check_export(raw)


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=64), st.data())
def test_it_verifies_what_the_library_verifies(
    seed: bytes, message: bytes, data: st.DataObject
) -> None:
    key = SigningKey.from_seed(seed)
    triple = [key.public, key.sign(message), message]
    nth = data.draw(st.integers(0, 3))
    if nth < 3 and triple[nth]:
        at = data.draw(st.integers(0, len(triple[nth]) - 1))
        bits = data.draw(st.integers(0, 255))
        changed = bytearray(triple[nth])
        changed[at] ^= bits
        triple[nth] = bytes(changed)
    public, signature, said = triple

    assert is_signed(public, signature, said) == keys.verify(public, said, signature)


def test_it_agrees_with_the_vectors_of_the_standard() -> None:
    path = ROOT / "tests" / "crypto" / "vectors" / "ed25519.json"
    for vector in json.loads(path.read_text("utf-8"))["vectors"]:
        public, message, signature = (
            bytes.fromhex(vector[name]) for name in ("public", "message", "signature")
        )
        assert is_signed(public, signature, message)


def test_a_key_of_low_order_verifies_nothing() -> None:
    for y in (0, 1, 2**255 - 20):
        key = y.to_bytes(32, "little")
        assert not is_signed(key, key + bytes(32), b"anything")


@pytest.mark.parametrize(("cut", "status"), [(0, 0), (5, 65)])
def test_the_program_runs_with_nothing_of_ours(
    tmp_path: Path, cut: int, status: int
) -> None:
    raw = b"".join(line + b"\n" for line in exported())
    (tmp_path / "book").write_bytes(raw[: len(raw) - cut])
    words = [sys.executable, "-I", "-S", str(PROGRAM), str(tmp_path / "book")]

    done = subprocess.run(words, capture_output=True, check=False, cwd=tmp_path, env={})

    assert done.returncode == status
    assert "holdfast." not in PROGRAM.read_text("utf-8").partition('"""\n\n')[2]
    assert len(PROGRAM.read_text("utf-8").splitlines()) <= 300


def test_without_words_it_says_how_it_is_called() -> None:
    words = [sys.executable, "-I", str(PROGRAM)]

    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert (done.returncode, "EXPORT [KEY]" in done.stderr) == (1, True)


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    words = [sys.executable, "-I", str(PROGRAM), str(tmp_path / "none")]

    assert subprocess.run(words, capture_output=True, check=False).returncode == 66
