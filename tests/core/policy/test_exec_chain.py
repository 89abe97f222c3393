import pytest

from holdfast.core.policy.exec_chain import (
    HEAD,
    Format,
    Interpreter,
    format_from,
    interpreter_of,
    registered,
    words_for,
)

LINES = {
    b"": None,
    b"\x7fELF": None,
    b"#!": (b"", None),
    b"#!\n": None,
    b"#! \t\n": None,
    b"#!" + b" " * HEAD: None,
    b"#!/bin/sh": (b"/bin/sh", None),
    b"#!/bin/sh\n": (b"/bin/sh", None),
    b"#! \t/bin/sh \t\nls -l": (b"/bin/sh", None),
    b"#!/bin/sh -e\n": (b"/bin/sh", b"-e"),
    b"#!/bin/sh \t -e  -u \t\n": (b"/bin/sh", b"-e  -u"),
    b"#!/usr/bin/env -S rm -f\nx": (b"/usr/bin/env", b"-S rm -f"),
    b"#!/bin/sh\0 -e\n": (b"/bin/sh", None),
    b"#!/bin/sh -e\0x\n": (b"/bin/sh", b"-e"),
    b"#!/bin/sh \0x\n": (b"/bin/sh", b""),
    b"#!sh\n": (b"sh", None),
    b"#!s " + b"x" * HEAD: (b"s", b"x" * (HEAD - 5)),
    b"#!" + b"x" * HEAD: None,
    b"#!/" + b"x" * HEAD: None,
    b"#!/bin/sh " + b"x" * HEAD: (b"/bin/sh", b"x" * (HEAD - 11)),
    b"#!/bin/sh " + b"x" * HEAD + b"\n": (b"/bin/sh", b"x" * (HEAD - 11)),
    b"#!/" + b"x" * (HEAD - 4) + b"\n": (b"/" + b"x" * (HEAD - 4), None),
}


@pytest.mark.parametrize(("head", "found"), LINES.items(), ids=repr)
def test_i1_a_line_is_cut_as_the_kernel_cuts_it(
    head: bytes, found: tuple[bytes, bytes | None] | None
) -> None:
    assert interpreter_of(head) == (None if found is None else Interpreter(*found))


def test_an_interpreter_is_told_the_name_of_the_file_and_the_words_after_it() -> None:
    interpreter = Interpreter(b"/bin/sh", b"-e")

    told = words_for(interpreter, "./it", ("it", "a", None))

    assert told == ("/bin/sh", "-e", "./it", "a", None)
    assert words_for(Interpreter(b"/bin/sh"), None, ()) == ("/bin/sh", None)
    assert words_for(Interpreter(b"\xff", b"\xff"), "x", ("x",)) == (None, None, "x")
    kept = Interpreter(b"/bin/q", None, keeps_name=True)
    assert words_for(kept, "./it", ("it", "a")) == ("/bin/q", "./it", "it", "a")


def described(*lines: str) -> str:
    return "\n".join(("enabled", "interpreter /bin/q", *lines)) + "\n"


def test_what_the_kernel_says_of_a_format_is_read() -> None:
    by_name = format_from(described("flags: ", "extension .jar"))
    by_magic = format_from(
        described("flags: POCF", "offset 2", "magic 4142", "mask ff00")
    )

    assert by_name == Format("/bin/q", keeps_name=False, extension="jar")
    assert by_magic == Format("/bin/q", True, "", 2, b"AB", b"\xff\0")  # noqa: FBT003


@pytest.mark.parametrize(
    "text",
    [
        "",
        "disabled\ninterpreter /bin/q\n",
        "enabled\n",
        described("magic 4"),
        described("offset x"),
    ],
)
def test_what_does_not_apply_or_cannot_be_read_is_no_format(text: str) -> None:
    assert format_from(text) is None


MAGIC = Format("/bin/m", keeps_name=False, offset=2, magic=b"AB", mask=b"\xff\x0f")
JAR = Format("/bin/j", keeps_name=False, extension="jar")


@pytest.mark.parametrize(
    ("name", "head", "found"),
    [
        ("x", b"..AB", b"/bin/m"),
        ("x", b"..AR", b"/bin/m"),
        ("x", b"..AC", None),
        ("x", b"..A", None),
        ("./a.b.jar", b"", b"/bin/j"),
        ("jar", b"", None),
        ("a.jar.x", b"", None),
    ],
)
def test_a_format_fits_by_name_or_by_bytes(
    name: str, head: bytes, found: bytes | None
) -> None:
    interpreter, is_sure = registered([MAGIC, JAR], name, head)

    assert is_sure
    assert interpreter == (None if found is None else Interpreter(found))


def test_a_format_without_a_mask_wants_every_bit() -> None:
    exact = Format("/bin/m", keeps_name=True, magic=b"AB")

    assert registered([exact], "", b"AB")[0] == Interpreter(b"/bin/m", None, True)  # noqa: FBT003
    assert registered([exact], "", b"AR")[0] is None


def test_i2_of_several_formats_none_is_chosen() -> None:
    assert registered([MAGIC, JAR], "x.jar", b"..AB") == (None, False)
