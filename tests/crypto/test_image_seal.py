import pytest

from holdfast.crypto.identity import Identity
from holdfast.crypto.image_seal import (
    CHUNK,
    FRAME,
    HEAD,
    OpeningStream,
    SealingStream,
    check_sent,
    sent_by,
)
from holdfast.model.errors import (
    HoldfastError,
    ImageDamaged,
    ImageForAnotherHost,
    ImageForged,
    WeakKey,
)

HERE, THERE = (Identity.from_seed(bytes([one]) * 32) for one in (1, 2))
PIECES = [b"one", b"", b"x" * CHUNK, b"last"]


def sealed() -> tuple[bytes, list[bytes]]:
    stream = SealingStream(THERE.public, THERE.static_public, b"e" * 32)
    last = len(PIECES) - 1
    made = [
        stream.seal(one, is_last=number == last) for number, one in enumerate(PIECES)
    ]
    return stream.head, made


def opened(head: bytes, chunks: list[bytes], us: Identity = THERE) -> list[bytes]:
    stream = OpeningStream(head, us)
    found = [stream.open(one[:FRAME], one[FRAME:]) for one in chunks]
    if not stream.is_over:
        raise ImageDamaged("it is cut")
    return found


def test_what_was_sealed_for_a_host_is_opened_by_it() -> None:
    assert opened(*sealed()) == PIECES, "S1"


def test_nobody_else_opens_it() -> None:
    head, chunks = sealed()
    with pytest.raises(ImageForAnotherHost, match="encrypted for"):
        opened(head, chunks, HERE)
    forged = head[: HEAD - 64] + HERE.public + head[-32:]
    with pytest.raises(ImageDamaged, match="seal"):
        opened(forged, chunks, HERE)


def test_every_flipped_bit_is_refused() -> None:
    head, chunks = sealed()
    small = [chunks[0], chunks[1]]
    raw = head + b"".join(small)
    for place in range(len(raw)):
        flipped = bytearray(raw)
        flipped[place] ^= 1 << place % 8
        start = len(head) + len(small[0])
        parts = [bytes(flipped[len(head) : start]), bytes(flipped[start:])]
        with pytest.raises(HoldfastError):
            opened(bytes(flipped[: len(head)]), [*parts, *chunks[2:]])


@pytest.mark.parametrize(
    "order", [[0, 1, 2], [0, 2, 1, 3], [0, 0, 1, 2, 3], [1, 2, 3], [0, 1, 3], []]
)
def test_chunks_left_out_put_elsewhere_or_repeated_are_refused(
    order: list[int],
) -> None:
    head, chunks = sealed()
    with pytest.raises(ImageDamaged):
        opened(head, [chunks[one] for one in order])


def test_nothing_comes_after_the_last_chunk() -> None:
    head, chunks = sealed()
    with pytest.raises(ImageDamaged, match="none"):
        opened(head, [*chunks, chunks[-1]])


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\0\0\0",
        b"\0\0\0\x0f\0",
        b"\0\1\0\x11\0",
        b"\xff\xff\xff\xff\0",
        b"\0\0\0\x20\2",
    ],
)
def test_no_more_than_a_chunk_is_ever_waited_for(frame: bytes) -> None:
    head, _ = sealed()
    with pytest.raises(ImageDamaged):
        OpeningStream(head, THERE).announced(frame)


def test_a_chunk_that_is_cut_is_refused() -> None:
    head, chunks = sealed()
    with pytest.raises(ImageDamaged, match="cut"):
        opened(head, [chunks[0][:-1]])


@pytest.mark.parametrize("head", [b"", b"x" * HEAD, sealed()[0][:-1]])
def test_something_else_is_no_sealed_image(head: bytes) -> None:
    with pytest.raises(ImageDamaged, match="begin"):
        OpeningStream(head, THERE)


def test_a_key_that_makes_no_secret_is_refused() -> None:
    head, _ = sealed()
    with pytest.raises(ImageDamaged, match="its key is none"):
        OpeningStream(head[:-32] + bytes(32), THERE)
    with pytest.raises(WeakKey):
        SealingStream(THERE.public, bytes(32), b"e" * 32)


def test_a_sender_s_word_is_for_one_stream_and_one_manifest() -> None:
    head, _ = sealed()
    word = sent_by(HERE, head, b"manifest")

    check_sent(HERE.public, head, b"manifest", word)

    for sender, start, manifest, said in (
        (THERE.public, head, b"manifest", word),
        (HERE.public, head[:-1] + b"?", b"manifest", word),
        (HERE.public, head, b"another", word),
        (HERE.public, head, b"manifest", word[:-1]),
    ):
        with pytest.raises(ImageForged):
            check_sent(sender, start, manifest, said)
