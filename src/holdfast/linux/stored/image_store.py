"""The images of this host: made whole or not at all, listed, claimed and removed.

    images/SESSION/NUMBER/            0700, everything in it 0600
        criu/…  files/…  window.bin   what the manifest lists
        manifest                      put there last, by a rename: with it, it is whole
    images/SESSION/NUMBER.restored    which incarnation a restore of it was to begin
    images/SESSION/last               the highest number there was

An image with a file `passing` is for one branch. Who makes that removes it, and if it
was killed, a sweep does once the image is FORGOTTEN_AFTER seconds old.

A folder without a manifest is a draft. Who writes one has a lock on its folder, which
the kernel releases when they are gone, however they went: a draft that can be locked
is what a dead one left, and is swept. The same lock claims a whole image: shared for
those who read it, alone for who removes it or restores it as its session. It works
on a disk that cannot be written, and leaves nothing behind.
"""

# ruff: noqa: PTH102, PTH103, PTH208  # beside os.open with folders

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from holdfast.core.capsule.manifest import (
    MANIFEST,
    MAX_SIGNED,
    PASSING,
    check_files,
    image_name,
    is_file_name,
    read_manifest,
    sign_manifest,
)
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import folders
from holdfast.linux.stored.bulk_check import BULK, BulkCheck, HashAhead
from holdfast.linux.stored.image_files import (
    closed_files,
    copy_bytes,
    enter,
    found_files,
    hashed_below,
    plain_bytes,
    remove_all,
)
from holdfast.linux.stored.small_files import (
    read_file,
    replace_file,
    sync_folder,
    write_file,
)
from holdfast.model.errors import (
    HoldfastError,
    ImageBusy,
    ImageDamaged,
    ImageNotFound,
    ImageUnwritten,
)
from holdfast.model.ids import Incarnation, SessionId, parse_session_id
from holdfast.model.text import printable
from holdfast.wire.image_manifest import ImageFile, Manifest, OpenFile

_NUMBER = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)
_DIGITS = 17
LARGE = 4 * 1024 * 1024
"""Bytes of a file that is worth a process which hashes it."""

FORGOTTEN_AFTER = 120
"""Seconds after which nobody comes for an image that was for a branch: a proof that
was made before the dump is good for no longer."""


@dataclass(frozen=True, slots=True)
class ImageName:
    """One image of one session, which may or may not be there."""

    session: SessionId
    number: int

    @classmethod
    def parse(cls, text: str) -> "ImageName":
        """Read SESSION.NUMBER.

        Raises:
            UsageError: It is something else.

        """
        session, _, number = text.rpartition(".")
        if not _NUMBER.fullmatch(number):
            raise ImageNotFound(printable(text))
        return cls(parse_session_id(session), int(number))

    def __str__(self) -> str:
        return f"{self.session}.{self.number}"


@dataclass(frozen=True, slots=True)
class Listed:
    """An image that is there: its manifest, or why it cannot be believed."""

    name: ImageName
    manifest: Manifest | None
    problem: str = ""


class ImageDraft:
    """An image that is being written. Close it: what is not finished is removed."""

    def __init__(
        self, name: ImageName, folder: str, fd: int, *, is_durable: bool
    ) -> None:
        self.name = name
        self.folder = folder
        self.fd = fd
        self._is_durable = is_durable
        self._ahead: HashAhead | None = None
        self._is_finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, name: str, data: bytes) -> None:
        """Write a file of it; what is in it already stays.

        Raises:
            Unavailable: The disk is full, or broken.
            PeerError: A file of an image cannot be called that.

        """
        if not is_file_name(name):
            raise ImageDamaged(f"a file cannot be called {printable(name)}")
        path = f"{self.folder}/{name}"
        with _writing():
            os.makedirs(path.rpartition("/")[0], 0o700, exist_ok=True)
            write_file(path, data, is_durable=False)

    def copy(self, name: str, source: int, size: int) -> None:
        """Copy so many bytes of an open file into it; of less there is less.

        Raises:
            Unavailable: The disk is full, or broken.
            PeerError: A file of an image cannot be called that.

        """
        self.add(name, b"")
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        with _writing():
            made = os.open(f"{self.folder}/{name}", flags)
            try:
                copy_bytes(source, made, size)
            finally:
                os.close(made)

    def hash_memory(self, folder: str) -> None:
        """Begin to hash the memory in a folder of it, which may still be written."""
        if self._ahead is None:
            path = f"{self.folder}/{folder}"
            self._ahead = HashAhead(path, is_durable=self._is_durable)

    def finish(self, manifest: Manifest, key: SigningKey) -> Manifest:
        """Make it an image; `files` of the manifest is what is found.

        Of open files that were copied, size and hash are those of their copies.

        Raises:
            Unavailable: The disk is full, or broken; there is no image.
            PeerError: There is something in it that an image cannot have.
            UsageError: A field of the manifest is out of its bounds.

        """
        from msgspec.structs import replace  # noqa: PLC0415  # readers need it not

        is_durable = self._is_durable
        ahead, self._ahead = self._ahead, None
        known = {} if ahead is None else ahead.finish()
        with _writing():
            files = [
                ImageFile(one.name, one.size, one.digest)
                for one in closed_files(self.fd, known, is_durable=is_durable)
            ]
            files.sort(key=lambda one: one.name)
            copies = {one.name: one for one in files}
            opened = [
                replace(one, size=copies[one.copy].size, digest=copies[one.copy].digest)
                if one.copy in copies
                else one
                for one in manifest.open_files
            ]
            whole = replace(
                manifest,
                open_files=tuple(opened),
                session=self.name.session,
                number=self.name.number,
                files=tuple(files),
            )
            signed = sign_manifest(whole, key)
            # Which folders there are comes first: a manifest in a folder that is
            # not there after a power cut would be an image that was promised.
            if is_durable:
                sync_folder(_above(self.folder))
            path = f"{self.folder}/{MANIFEST}"
            replace_file(path, signed, is_durable=is_durable)
        self._is_finished = True
        return whole

    def close(self) -> None:
        """Let go of it; remove it, if it was not finished."""
        if self.fd < 0:
            return
        self.forget_hashes()
        try:
            if not self._is_finished:
                with contextlib.suppress(OSError):
                    _remove(self.folder, self.fd)
        finally:
            os.close(self.fd)
            self.fd = -1

    def forget_hashes(self) -> None:
        """Let what was begun to be hashed be: it is written anew."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.close()


class ClaimedImage:
    """A whole image that nobody removes while this is open."""

    def __init__(self, folder: str, fd: int, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.put_back: tuple[OpenFile, ...] = ()
        """Files that a restore is to put back before anything goes on."""

        self._fd = fd
        self._bulk: BulkCheck | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def verify(self) -> None:
        """Read all of it, and refuse it if it is not as it was made.

        Raises:
            PeerError: It is damaged.

        """
        self.begin_verifying()
        self.end_verifying()

    def begin_verifying(self) -> None:
        """Read all of it but the memory of its programs, which is being read then.

        Raises:
            PeerError: It is damaged.

        """
        sizes = {one.name: one.size for one in self.manifest.files}
        bulk = {
            one.name: one.digest
            for one in self.manifest.files
            if one.size >= LARGE and BULK.fullmatch(one.name)
        }
        try:
            check_files(self.manifest, found_files(self._fd, sizes, bulk))
        except OSError as error:
            raise ImageDamaged(error.strerror or "it cannot be read") from error
        if bulk:
            folder = self._fd
            self._bulk = BulkCheck(
                bulk, lambda name: hashed_below(folder, name, sizes[name])
            )

    def end_verifying(self) -> None:
        """Wait until all of it was read. Until then nothing of it may run.

        Raises:
            PeerError: It is damaged.

        """
        if self._bulk is not None:
            self._bulk.wait()
            self._bulk = None

    def tried(self) -> Incarnation | None:
        """Return which incarnation a restore of it was to begin; None if none was."""
        return _tried(self.folder)

    def try_as(self, incarnation: Incarnation) -> None:
        """Note durably that a restore is to begin this incarnation.

        Raises:
            Unavailable: It could not be noted.

        """
        with _writing():
            replace_file(f"{self.folder}.restored", str(incarnation).encode())

    def close(self) -> None:
        """Let go of it."""
        if self._bulk is not None:
            self._bulk.close()
            self._bulk = None
        if self._fd >= 0:
            # A child that we have just forked may have it open for a moment longer.
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = -1


def begin(session: SessionId, *, is_durable: bool = True) -> ImageDraft:
    """Begin the next image of a session.

    With `is_durable` it is there after a power cut, too.

    Raises:
        Unavailable: The disk is full, or broken.
        UsageError: The place for it is not ours.

    """
    home = folders.owned(f"{images_folder()}/{parse_session_id(session)}")
    with _writing():
        number = max([_last(home), *_numbers(home)]) + 1
        while True:
            folder = f"{home}/{number}"
            try:
                os.mkdir(folder, 0o700)
            except FileExistsError:
                number += 1  # Another process makes one of the same session.
                continue
            fd = enter(folder)
            if _locked(fd, fcntl.LOCK_EX):
                break
            # A sweep was faster than our lock, and removes what we have made.
            os.close(fd)
            number += 1
        replace_file(f"{home}/last", str(number).encode(), is_durable=False)
    return ImageDraft(ImageName(session, number), folder, fd, is_durable=is_durable)


def claim(name: ImageName, host: bytes, *, alone: bool = False) -> ClaimedImage:
    """Claim a whole image, whose manifest `host`, a public key, must have signed.

    Raises:
        UsageError: There is none.
        Unavailable: Another process has claimed it, or has it while we want it alone.
        PeerError: Its manifest is not to be believed.

    """
    folder = _folder(name)
    fd = _opened(name, folder)
    try:
        _take(fd, name, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        return ClaimedImage(folder, fd, _manifest(name, fd, host))
    except BaseException:
        os.close(fd)
        raise


def has_file(name: ImageName, file: str) -> bool:
    """Tell whether an image has such a file."""
    return os.path.lexists(f"{_folder(name)}/{file}")


def tried(name: ImageName) -> Incarnation | None:
    """Return which incarnation a restore of an image was to begin; None if none was.

    Raises:
        PeerError: That cannot be read.

    """
    return _tried(_folder(name))


def draft_size(session: SessionId) -> int | None:
    """Return how many bytes were written of the image that is made; None if none is."""
    home = f"{images_folder()}/{session}"
    for number in sorted(_numbers(home), reverse=True)[:1]:
        folder = f"{home}/{number}"
        if not os.path.lexists(f"{folder}/{MANIFEST}"):
            return sum(
                os.lstat(f"{above}/{name}").st_size
                for above, _, names in os.walk(folder)
                for name in names
            )
    return None


def listed(host: bytes, session: SessionId | None = None) -> list[Listed]:
    """Return the whole images of this host, or of one session, oldest number first.

    Raises:
        UsageError: The place for them is not ours.

    """
    home = images_folder()
    sessions = [session] if session else _sessions(home)
    found = []
    for one in sessions:
        for number in sorted(_numbers(f"{home}/{one}")):
            name = ImageName(one, number)
            with contextlib.suppress(ImageNotFound):
                found.append(_looked_at(name, host))
    return found


def remove(name: ImageName) -> None:
    """Remove an image, whole or damaged.

    Raises:
        UsageError: There is none.
        Unavailable: Another process has claimed it, or the disk cannot be written.

    """
    folder = _folder(name)
    fd = _opened(name, folder)
    try:
        _take(fd, name, fcntl.LOCK_EX)
        with _writing():
            _remove(folder, fd)
    finally:
        os.close(fd)


def sweep() -> list[ImageName]:
    """Remove drafts that nobody writes any more, and return which.

    So are images for one branch that nobody has made for a long time.

    Raises:
        UsageError: The place for them is not ours.

    """
    home = images_folder()
    swept = []
    for session in _sessions(home):
        for number in _numbers(f"{home}/{session}"):
            name = ImageName(session, number)
            with contextlib.suppress(OSError, HoldfastError):
                if _sweep(name):
                    swept.append(name)
    return swept


def images_folder() -> str:
    """Return where images are.

    Raises:
        UsageError: The place is not ours.

    """
    return folders.owned(f"{folders.owned(folders.state_path())}/images")


def _tried(folder: str) -> Incarnation | None:
    try:
        noted = read_file(f"{folder}.restored", _DIGITS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ImageDamaged(error.strerror or "it cannot be read") from error
    if not _NUMBER.fullmatch(noted.decode("latin-1")):
        raise ImageDamaged("it is not known whether it was restored")
    return Incarnation(int(noted))


def _sweep(name: ImageName) -> bool:
    folder = _folder(name)
    fd = _opened(name, folder)
    try:
        # Looked at under the lock: it may have been finished a moment ago.
        if not _locked(fd, fcntl.LOCK_EX) or (_is_whole(fd) and not _is_left(fd)):
            return False
        _remove(folder, fd)
    finally:
        os.close(fd)
    return True


def _looked_at(name: ImageName, host: bytes) -> Listed:
    fd = _opened(name, _folder(name))
    try:
        return Listed(name, _manifest(name, fd, host))
    except ImageNotFound:
        raise
    except HoldfastError as error:
        return Listed(name, None, str(error))
    finally:
        os.close(fd)


def _manifest(name: ImageName, folder: int, host: bytes) -> Manifest:
    try:
        raw = plain_bytes(MANIFEST, folder, MAX_SIGNED + 1)
    except FileNotFoundError:
        raise ImageNotFound(str(name)) from None
    except OSError as error:
        raise ImageDamaged(error.strerror or "its manifest cannot be read") from error
    manifest = read_manifest(raw, host)
    if image_name(manifest) != str(name):
        raise ImageDamaged(f"it is {image_name(manifest)}, and lies in another's place")
    return manifest


def _is_whole(folder: int) -> bool:
    try:
        os.stat(MANIFEST, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _is_left(folder: int) -> bool:
    """Tell whether it was for a branch that nobody will make any more."""
    try:
        made = os.stat(PASSING, dir_fd=folder, follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return False
    return time.time() > made + FORGOTTEN_AFTER  # noqa: TID251  # of files


def _remove(folder: str, fd: int) -> None:
    remove_all(fd)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{folder}.restored")  # noqa: PTH108  # beside os.open
    os.rmdir(folder)  # noqa: PTH106  # beside os.open


def _take(fd: int, name: ImageName, how: int) -> None:
    if not _locked(fd, how):
        raise ImageBusy(str(name))


def _locked(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # It may have been removed while we came to the lock.
    return os.fstat(fd).st_nlink > 0


def _opened(name: ImageName, folder: str) -> int:
    try:
        return enter(folder)
    except OSError as error:
        raise ImageNotFound(str(name)) from error


def _folder(name: ImageName) -> str:
    return f"{images_folder()}/{name.session}/{name.number}"


def _sessions(home: str) -> list[SessionId]:
    found = []
    for name in sorted(os.listdir(home)):
        with contextlib.suppress(HoldfastError):
            found.append(parse_session_id(name))
    return found


def _numbers(home: str) -> list[int]:
    try:
        names = os.listdir(home)
    except OSError:
        return []
    return [int(name) for name in names if _NUMBER.fullmatch(name)]


def _last(home: str) -> int:
    try:
        noted = read_file(f"{home}/last", _DIGITS).decode("latin-1")
    except OSError:
        return 0
    return int(noted) if _NUMBER.fullmatch(noted) else 0


def _above(path: str) -> str:
    return path.rpartition("/")[0]


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ImageUnwritten(error.strerror or "the disk is broken") from error
