"""What the program of a start is, by what was found at its path."""

from holdfast.core.provenance.line_resolution import Found, Unseen
from holdfast.core.provenance.program_resolution import resolved_program
from holdfast.model.resolutions import Link, Sort


def found(path: str, head: bytes = b"\x7fELF", digest: bytes = b"d") -> Found:
    return Found(path, is_executable=True, changed_ms=(), head=head, digest=digest)


def test_a_program_is_its_file() -> None:
    said = resolved_program("/bin/true", found("/bin/true"))

    assert said.links == (Link(Sort.PROGRAM, "/bin/true", b"d"),)
    assert said.doubt == ""


def test_a_link_and_the_file_behind_it_are_both_named() -> None:
    said = resolved_program("/bin/sh", found("/usr/bin/dash"))

    assert [one.name for one in said.links] == ["/bin/sh", "/usr/bin/dash"]


def test_a_script_names_who_reads_it() -> None:
    said = resolved_program("/x", found("/x", b"#! /usr/bin/env python3 -u\nimport"))

    assert said.links[0].sort is Sort.SCRIPT
    assert said.links[-1] == Link(Sort.PROGRAM, "/usr/bin/env")


def test_a_script_that_names_nobody_names_an_empty_program() -> None:
    said = resolved_program("/x", found("/x", b"#!\n"))

    assert said.links[-1] == Link(Sort.PROGRAM, "")


def test_a_file_that_nobody_could_look_at_is_in_doubt() -> None:
    for unseen in (Unseen(), None):
        said = resolved_program("/x", unseen)

        assert said.links == (Link(Sort.UNKNOWN, "/x"),)
        assert said.doubt
