"""What no bytes and no names can do, drawn by chance."""

import os

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.capsule.image_samples import KEY, WHOLE, listed

from holdfast.core.capsule.manifest import is_file_name, read_manifest, sign_manifest
from holdfast.model.errors import HoldfastError

SIGNED = sign_manifest(WHOLE, KEY)
WORDS = st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,8}\Z")


def is_refused(raw: bytes) -> bool:
    try:
        read_manifest(raw, KEY.public)
    except HoldfastError:
        return True
    return False


@given(
    start=st.integers(0, len(SIGNED)),
    cut=st.integers(0, 40),
    put=st.binary(max_size=40),
)
def test_no_splice_of_a_signed_manifest_is_read(
    start: int, cut: int, put: bytes
) -> None:
    spliced = SIGNED[:start] + put + SIGNED[start + cut :]

    assert is_refused(spliced) is (spliced != SIGNED), "I2"


@given(st.text(max_size=40) | st.lists(WORDS | st.just(".."), max_size=6).map("/".join))
def test_no_allowed_name_leaves_its_folder(name: str) -> None:
    if is_file_name(name):
        joined = os.path.normpath(f"/images/7/{name}")

        assert joined == f"/images/7/{name}", "I3"
        assert os.fsencode(name).isascii()


@given(st.dictionaries(WORDS, st.binary(max_size=9), min_size=1, max_size=9))
def test_whatever_was_signed_is_read_again(content: dict[str, bytes]) -> None:
    content.pop("manifest", None)
    content["x/y/z"] = b""
    content.pop("x", None)
    manifest = replace(WHOLE, files=listed(content), open_files=())

    assert read_manifest(sign_manifest(manifest, KEY), KEY.public) == manifest, "I1"
