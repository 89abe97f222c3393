import pytest

from holdfast.core.capsule import open_files
from holdfast.core.capsule.open_files import (
    MAX_COPIED,
    MAX_HASHED,
    Found,
    Seen,
    Wish,
    is_read_again,
    plan,
    to_put_back,
    wish_of,
)
from holdfast.model.errors import MalformedArgument, OpenFilesChanged
from holdfast.wire.image_manifest import MAX_OPEN, OpenFile

DIGEST = b"d" * 32
LOG = OpenFile("/w/log", 5, DIGEST, "files/0", "copied", 0o600, 7)
READ = OpenFile("/w/read", 6, DIGEST, "", "hashed", 0o600, 7)
VAST = OpenFile("/w/vast", 1 << 40, bytes(32), "", "sized", 0o600, 7)
SAME = {
    "/w/log": Found(5, 99, DIGEST),
    "/w/read": Found(6, 99, DIGEST),
    "/w/vast": Found(1 << 40, 7),
}


def test_what_is_written_is_copied_and_what_is_read_is_hashed() -> None:
    seen = [Seen("/b", 3, is_written=False), Seen("/a", 9, is_written=True)]

    assert plan(seen) == {"/a": "copied", "/b": "hashed"}


def test_no_more_than_the_bounds_is_copied_or_read() -> None:
    seen = [
        Seen("/copied", 10, is_written=True),
        Seen("/hashed", MAX_HASHED, is_written=True),
        Seen("/too-large", MAX_COPIED, is_written=True),
        Seen("/read", MAX_HASHED, is_written=False),
        Seen("/more", MAX_HASHED + 1, is_written=False),
    ]

    assert plan(seen) == {
        "/copied": "copied",
        "/hashed": "copied",
        "/too-large": "sized",
        "/read": "hashed",
        "/more": "sized",
    }, "O1"


def test_what_is_too_large_to_copy_is_hashed_where_that_is_quick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(open_files, "MAX_COPIED", 10)
    seen = [Seen("/a", 6, is_written=True), Seen("/b", 7, is_written=True)]

    assert plan(seen) == {"/a": "copied", "/b": "hashed"}


def test_of_too_many_files_the_written_are_noted() -> None:
    read = [Seen(f"/r{one}", 0, is_written=False) for one in range(MAX_OPEN)]

    chosen = plan([*read, Seen("/w", 1, is_written=True)])

    assert len(chosen) == MAX_OPEN
    assert chosen["/w"] == "copied"


def test_unchanged_files_are_in_nobodys_way() -> None:
    for wish in Wish:
        assert to_put_back((LOG, READ, VAST), SAME, wish) == [], "O3"


@pytest.mark.parametrize(
    ("path", "now"),
    [
        ("/w/log", None),
        ("/w/log", Found(4, 7)),
        ("/w/log", Found(5, 7, b"e" * 32)),
        ("/w/read", Found(6, 7, b"e" * 32)),
        ("/w/vast", Found(1 << 40, 8)),
        ("/w/vast", Found(1, 7)),
    ],
)
def test_what_has_changed_is_named(path: str, now: Found | None) -> None:
    known = {one: what for one, what in SAME.items() if one != path}
    known |= {} if now is None else {path: now}

    with pytest.raises(OpenFilesChanged, match=path):
        to_put_back((LOG, READ, VAST), known, Wish.REFUSE)
    assert to_put_back((LOG, READ, VAST), known, Wish.AS_IS) == []


def test_copies_are_put_back_of_what_has_changed_alone() -> None:
    other = OpenFile("/w/other", 5, DIGEST, "files/1", "copied", 0o600, 7)
    found = {"/w/log": Found(5, 7, b"e" * 32), "/w/other": Found(5, 7, DIGEST)}

    assert to_put_back((LOG, other), found, Wish.PUT_BACK) == [LOG], "O3"


def test_what_there_is_no_copy_of_cannot_be_put_back() -> None:
    with pytest.raises(OpenFilesChanged, match=r"/w/read; the image has no copies"):
        to_put_back((LOG, READ), {}, Wish.PUT_BACK)


def test_an_error_says_how_many_copies_there_are() -> None:
    for opened, said in (
        ((LOG,), "copies of them"),
        ((LOG, READ), "copies of 1 of them"),
        ((READ,), "no copies"),
    ):
        with pytest.raises(OpenFilesChanged, match=f"has {said}"):
            to_put_back(opened, {}, Wish.REFUSE)


def test_an_error_names_a_few() -> None:
    many = [OpenFile(f"/{one}", 1, DIGEST, "", "hashed", 0, 0) for one in range(5)]

    with pytest.raises(OpenFilesChanged, match=r"/0, /1, /2 and 2 more"):
        to_put_back(many, {}, Wish.REFUSE)


def test_only_what_may_be_unchanged_is_read() -> None:
    assert is_read_again(LOG, 5)
    assert not is_read_again(LOG, 6)
    assert not is_read_again(VAST, 1 << 40)


def test_a_wish_is_one_of_three() -> None:
    assert [wish_of(one) for one in ("", "put-back", "as-is")] == [*Wish]
    with pytest.raises(MalformedArgument):
        wish_of("maybe")
