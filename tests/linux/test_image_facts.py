import mmap
import os
import subprocess
import sys
from pathlib import Path

from tests.core.capsule.elf_files import elf, note

from holdfast.core.capsule.manifest import check_machine
from holdfast.linux.image_facts import mapped_files, mapped_paths, this_machine
from holdfast.wire.image_manifest import Machine, MappedFile, encode_manifest


def test_this_machine_fits_itself_and_can_be_written_down() -> None:
    from msgspec.structs import replace  # noqa: PLC0415  # here alone
    from tests.core.capsule.image_samples import WHOLE  # noqa: PLC0415  # ditto

    here = this_machine(40201)

    assert isinstance(here, Machine)
    assert here.architecture == os.uname().machine
    assert here.processor.flags
    check_machine(here, here)
    assert encode_manifest(replace(WHOLE, machine=here))


def test_the_files_in_our_memory_are_found() -> None:
    paths = mapped_paths([os.getpid()])

    assert os.path.realpath(sys.executable) in paths
    assert paths == sorted(set(paths))
    assert mapped_files(paths).keys() == set(paths)


def test_a_file_in_memory_is_known_by_its_path_size_and_build(tmp_path: Path) -> None:
    library = tmp_path / "a library (with a name)"
    library.write_bytes(elf(note(b"\1\2\3\4")))
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        (path,) = [one for one in mapped_paths([os.getpid()]) if "a library" in one]

    assert mapped_files([path]) == {
        str(library): MappedFile(path, library.stat().st_size, "01020304")
    }
    library.unlink()
    assert mapped_files([path]) == {}


def test_what_has_no_name_any_more_is_left_out(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.write_bytes(b"x" * 4096)
    with gone.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        gone.unlink()

        assert not [one for one in mapped_paths([os.getpid()]) if "gone" in one]


def test_what_cannot_be_read_has_nothing_in_memory() -> None:
    child = subprocess.Popen(["true"])  # noqa: S607  # whichever
    child.wait()

    assert mapped_paths([child.pid]) == []


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert mapped_files([str(tmp_path / "pipe"), str(tmp_path), "/dev/null"]) == {}
