import pytest

from holdfast.core.capsule.processor import read_processor
from holdfast.wire.image_manifest import MAX_FLAGS, Processor

X86 = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
flags\t\t: fpu sse avx2 fpu

processor\t: 1
vendor_id\t: other
flags\t\t: fpu
"""
ARM = """\
processor\t: 0
Features\t: fp asimd
CPU implementer\t: 0x41
CPU architecture: 8
CPU part\t: 0xd0c
"""


def test_a_processor_of_the_first_family_is_read() -> None:
    assert read_processor(X86) == Processor(
        "AuthenticAMD", 25, 17, ("avx2", "fpu", "sse")
    )


def test_a_processor_of_the_second_family_is_read() -> None:
    assert read_processor(ARM) == Processor("0x41", 8, 0xD0C, ("asimd", "fp"))


@pytest.mark.parametrize(
    "text",
    ["", "no colon", "flags: A b\x1b é", "model: x", "model: -1", f"model: {2**40}"],
)
def test_what_is_not_said_is_empty(text: str) -> None:
    assert read_processor(text) == Processor("", 0, 0, ())


def test_no_more_abilities_are_taken_than_a_manifest_has() -> None:
    many = " ".join(f"f{number}" for number in range(MAX_FLAGS + 1))

    assert len(read_processor(f"flags: {many}").flags) == MAX_FLAGS
    assert read_processor("flags: " + "x" * 65).flags == ()
