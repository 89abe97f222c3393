import hashlib

from holdfast.core.book.log_export import export_lines
from holdfast.core.book.logbook import Head
from holdfast.core.book.signed_head import sign_head
from holdfast.crypto.keys import SigningKey
from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.wire.lines import decode_line

SESSION = SessionId("s_aaaaaaaaaaaaaaaa")
KEY = SigningKey.from_seed(b"\1" * 32)


def test_an_export_begins_with_what_it_is_and_ends_with_the_signed_head() -> None:
    signed = sign_head(Head(SESSION, 1, b"\1" * 32), FIRST_INCARNATION, KEY)

    first, *entries, last = export_lines(SESSION, 2, [b"one", b"two"], signed)

    assert decode_line(first) == {
        "export": 1,
        "session": SESSION,
        "genesis": hashlib.sha256(
            b"holdfast logbook 1\n" + SESSION.encode()
        ).hexdigest(),
        "count": 2,
        "host": KEY.public.hex(),
    }
    assert entries == [b"one", b"two"]
    assert last == signed.to_line()


def test_without_a_signature_there_is_no_host_and_no_head() -> None:
    (first,) = export_lines(SESSION, 0, [], None)

    assert decode_line(first)["host"] is None
