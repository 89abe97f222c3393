import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import (
    CONTENT,
    KEY,
    LIBC,
    MACHINE,
    OTHER,
    PROCESSOR,
    WHOLE,
    digest_of,
    listed,
)

from holdfast.core.capsule.manifest import (
    MAX_SIGNED,
    PASSING,
    FoundFile,
    check_files,
    check_machine,
    check_mapped,
    check_unspent,
    image_name,
    is_file_name,
    is_passing,
    read_manifest,
    sign_manifest,
)
from holdfast.model.errors import (
    HoldfastError,
    ImageDamaged,
    ImageForged,
    ImageMisfit,
    ImageOfAnotherHost,
    ImageSpent,
    ImageVersionUnknown,
    MappedFileChanged,
)
from holdfast.model.ids import Incarnation, host_id
from holdfast.wire.image_manifest import Machine, Starter

SIGNED = sign_manifest(WHOLE, KEY)
HEAD = len(SIGNED) - len(SIGNED.split(b"\n", 3)[3])
PLACES = (*range(HEAD), *range(HEAD, len(SIGNED), 11))
FLAGS = ("avx2", "avx512f", "fpu", "xsave")
DISORDERLY = replace(PROCESSOR, flags=("b", "a"))
FOUND = [
    FoundFile(name, True, len(data), digest_of(name, data))  # noqa: FBT003  # a plain one
    for name, data in CONTENT.items()
]


def signed_again(body: bytes) -> bytes:
    """Return what a host with our key would sign, if it signed anything."""
    title = b"holdfast image 1"
    signature = KEY.sign(title + b"\n" + body).hex().encode()
    return b"\n".join((title, KEY.public.hex().encode(), signature, body))


def with_open(path: str = "/x", **fields: object) -> object:
    """Return a manifest with one open file, which is right but for these fields."""
    right = WHOLE.open_files[0]
    return replace(WHOLE, open_files=(replace(right, path=path, **fields),))


BODY = SIGNED.split(b"\n", 3)[3]


def test_what_a_host_signed_is_read_with_its_key() -> None:
    assert read_manifest(SIGNED, KEY.public) == WHOLE, "I1"


def test_every_flipped_bit_is_refused() -> None:
    for place in PLACES:
        flipped = bytearray(SIGNED)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(HoldfastError):
            read_manifest(bytes(flipped), KEY.public)


def test_every_cut_is_refused() -> None:
    for size in PLACES:
        with pytest.raises(HoldfastError):
            read_manifest(SIGNED[:size], KEY.public)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"x" * (MAX_SIGNED + 1),
        SIGNED.replace(b"image 1", b"image 2", 1),
        SIGNED.replace(KEY.public.hex().encode(), b"00"),
        SIGNED.replace(KEY.public.hex().encode(), b"\xff" * 64),
        SIGNED.replace(KEY.public.hex().encode(), KEY.public.hex().upper().encode()),
        b"\n".join(SIGNED.split(b"\n", 3)[:3]),
    ],
    ids=["nothing", "too much", "title", "short", "bytes", "upper case", "no body"],
)
def test_what_does_not_begin_as_a_manifest_is_damaged(raw: bytes) -> None:
    with pytest.raises(ImageDamaged):
        read_manifest(raw, KEY.public)


def test_a_manifest_with_another_ones_signature_is_forged() -> None:
    _, _, signature, body = SIGNED.split(b"\n", 3)
    other = sign_manifest(replace(WHOLE, number=8), KEY).split(b"\n", 3)[2]

    with pytest.raises(ImageForged) as refused:
        read_manifest(SIGNED.replace(signature, other), KEY.public)
    assert refused.value.host == host_id(KEY.public)
    assert body


def test_a_manifest_of_another_host_names_that_host() -> None:
    with pytest.raises(ImageOfAnotherHost) as refused:
        read_manifest(sign_manifest(WHOLE, OTHER), KEY.public)

    assert refused.value.host == host_id(OTHER.public)


def test_a_manifest_that_names_our_key_needs_our_signature() -> None:
    theirs = sign_manifest(WHOLE, OTHER)
    ours = theirs.replace(OTHER.public.hex().encode(), KEY.public.hex().encode())

    with pytest.raises(ImageForged):
        read_manifest(ours, KEY.public)


def test_a_later_version_says_that_it_is_one() -> None:
    later = BODY.replace(b'"version":1', b'"version":2')

    with pytest.raises(ImageVersionUnknown) as refused:
        read_manifest(signed_again(later), KEY.public)
    assert refused.value.version == 2


def test_a_signed_body_that_is_no_manifest_is_damaged() -> None:
    for body in (b"{}", BODY + b" ", BODY.replace(b'"number":7', b'"number":0')):
        with pytest.raises(ImageDamaged):
            read_manifest(signed_again(body), KEY.public)


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "..",
        "criu/../../x",
        "criu//x",
        "criu/",
        "./x",
        ".hidden",
        "-rf",
        "criu/-x",
        "a\0b",
        "a\nb",
        "a b",
        "naïve",
        "x\n",
        "1/2/3/4/5",
        "manifest",
        "manifest/x",
        "",
    ],
)
def test_no_name_leads_out_of_the_image(name: str) -> None:
    assert not is_file_name(name), "I3"
    if name:
        tricky = replace(WHOLE, files=(*WHOLE.files, *listed({name: b""})))
        with pytest.raises(ImageDamaged):
            sign_manifest(tricky, KEY)


@pytest.mark.parametrize(
    "name", ["window.bin", "criu/tmpfs-dev-73.tar.gz.img", "files/0", "1/2/3/4", "_"]
)
def test_the_names_that_are_needed_are_allowed(name: str) -> None:
    assert is_file_name(name)


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (replace(WHOLE, files=(*WHOLE.files, WHOLE.files[0])), "each once"),
        (replace(WHOLE, files=WHOLE.files[::-1]), "not in order"),
        (
            replace(WHOLE, files=listed({**CONTENT, "criu": b""})),
            "a file and a folder",
        ),
        (replace(WHOLE, starters=(Starter(3, WHOLE.starters[0].actor),) * 2), "each"),
        (replace(WHOLE, mapped=(LIBC, LIBC)), "each once"),
        (replace(WHOLE, stopped=(7, 7)), "stopped"),
        (
            replace(
                WHOLE,
                machine=replace(
                    MACHINE, processor=replace(PROCESSOR, flags=("b", "a"))
                ),
            ),
            "abilities",
        ),
        (replace(WHOLE, label="\x1b[2J"), "label"),
        (replace(WHOLE, capsule=replace(WHOLE.capsule, leader_pid=2)), "init"),
        (replace(WHOLE, capsule=replace(WHOLE.capsule, layers=("../x",))), "layer"),
        (with_open(copy="files/9"), "copy of /x"),
        (with_open(how="hashed"), "copy of /x"),
        (with_open(size=7), "copy of /x"),
        (with_open(digest=b"d" * 32), "copy of /x"),
        (with_open(how="sized", copy="", digest=b"d" * 32), "content of /x"),
        (with_open(path="x"), "x is not a path"),
        (with_open(path="/a/../x"), "is not a path"),
        (with_open(path="/a//x"), "is not a path"),
        (with_open(path="/a\0x"), "is not a path"),
        (
            replace(WHOLE, open_files=(WHOLE.open_files[1], WHOLE.open_files[0])),
            "open files",
        ),
    ],
)
def test_fields_that_do_not_fit_together_are_refused(
    manifest: object, why: str
) -> None:
    with pytest.raises(ImageDamaged, match=why):
        sign_manifest(manifest, KEY)  # type: ignore[arg-type]  # from a list of all kinds


def test_the_files_that_are_listed_are_accepted() -> None:
    check_files(WHOLE, FOUND)
    check_files(WHOLE, reversed(FOUND))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (FOUND[1:], "core-2.img is missing"),
        ([*FOUND, FoundFile("x\x1b", True, 0, b"")], r"x\\x1b does not belong"),  # noqa: FBT003
        ([*FOUND, FOUND[0]], "does not belong"),
        ([FoundFile(FOUND[0].name, False, 0, b""), *FOUND[1:]], "not a plain file"),  # noqa: FBT003
        ([FoundFile(FOUND[0].name, True, 8, b""), *FOUND[1:]], "has 8 bytes, not 9"),  # noqa: FBT003
        (
            [FoundFile(FOUND[0].name, True, 9, b"x" * 32), *FOUND[1:]],  # noqa: FBT003
            "was changed",
        ),
    ],
    ids=["missing", "added", "twice", "a link", "cut", "flipped"],
)
def test_other_files_are_refused(found: list[FoundFile], why: str) -> None:
    with pytest.raises(ImageDamaged, match=why):
        check_files(WHOLE, found)


def test_the_machine_it_was_made_on_fits() -> None:
    check_machine(MACHINE, MACHINE)
    check_machine(MACHINE, replace(MACHINE, kernel="7.0", criu=50000))
    check_machine(
        MACHINE, replace(MACHINE, processor=replace(PROCESSOR, model=1, flags=FLAGS))
    )


@pytest.mark.parametrize(
    ("here", "says"),
    [
        (replace(MACHINE, architecture="aarch64"), "architecture x86_64; .* aarch64"),
        (
            replace(MACHINE, processor=replace(PROCESSOR, vendor="AuthenticAMD")),
            "a processor by GenuineIntel; here it is AuthenticAMD",
        ),
        (
            replace(MACHINE, processor=replace(PROCESSOR, flags=("fpu",))),
            "a processor with avx2 xsave",
        ),
        (replace(MACHINE, criu=40101), "CRIU 4.2.1; here it is 4.1.1"),
    ],
)
def test_another_machine_is_refused(here: Machine, says: str) -> None:
    with pytest.raises(ImageMisfit, match=says):
        check_machine(MACHINE, here)


def test_programs_in_memory_must_be_what_they_were() -> None:
    check_mapped(WHOLE, {LIBC.path: LIBC})

    with pytest.raises(MappedFileChanged, match="is gone"):
        check_mapped(WHOLE, {})
    for other in (replace(LIBC, size=1), replace(LIBC, build_id="cd" * 20)):
        with pytest.raises(MappedFileChanged, match="another version"):
            check_mapped(WHOLE, {LIBC.path: other})


def test_an_image_for_once_is_restored_once() -> None:
    check_unspent(WHOLE, None, Incarnation(3))
    check_unspent(WHOLE, Incarnation(4), Incarnation(3))

    with pytest.raises(ImageSpent) as refused:
        check_unspent(WHOLE, Incarnation(4), Incarnation(4))
    assert refused.value.image == image_name(WHOLE)
    with pytest.raises(ImageSpent):
        check_unspent(WHOLE, Incarnation(4), Incarnation(9))


def test_an_image_for_more_than_once_is_never_spent() -> None:
    check_unspent(replace(WHOLE, once=False), Incarnation(4), Incarnation(9))


def test_an_image_for_one_branch_is_known_by_a_file() -> None:
    mark = replace(WHOLE.files[0], name=PASSING)

    assert not is_passing(WHOLE)
    assert is_passing(replace(WHOLE, files=(*WHOLE.files, mark)))
