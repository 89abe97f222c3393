"""What another host brings of a session that moves here, until the session goes on.

    images/arriving/SESSION.NUMBER/
        papers       who knows the session, its shell's secrets, the files of its book
        manifest     of the image, as the host that brings it has signed it
        image/…      the files of the image, in the order and of the sizes it says
        book/…       the files of the logbook
        whole        all of it has come, and was found right
        life         the incarnation that its relay has granted us for it

What comes is one stream of bytes in this order, so how much of it is here is one
number: after a cut it goes on from there. Nothing counts before all of it was hashed.
Then it is put in place: the logbook, and the image, for which this host signs from then
on.
"""

# ruff: noqa: PTH103, PTH104, PTH105, PTH110, PTH116, PTH202, PTH208  # strings

import contextlib
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from typing import NamedTuple, Self

from holdfast.core.capsule.manifest import (
    MANIFEST,
    check_files,
    image_name,
    read_manifest,
    sign_manifest,
)
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import folders, shell_secrets
from holdfast.linux.stored.image_files import closed_files, enter
from holdfast.linux.stored.image_store import ImageName, images_folder
from holdfast.linux.stored.small_files import (
    read_file,
    replace_file,
    sync_folder,
    write_all,
)
from holdfast.model.errors import (
    ImageBusy,
    ImageImported,
    ImageTooLarge,
    ImageUnwritten,
    MalformedId,
    MalformedMessage,
    ParcelRefused,
)
from holdfast.model.ids import Incarnation, SessionId, parse_actor_id
from holdfast.wire.image_manifest import MAX_MANIFEST, Manifest

MAX_PAPERS = 1024 * 1024
"""Bytes of the papers: some thousand operators."""

MAX_OPERATORS = 1000
MAX_BOOK = 4096
"""Files of a logbook, of 16 MiB each."""

CHUNK = 1024 * 1024
_BOOK_FILE = re.compile(r"(log(\.[1-9][0-9]{0,3})?|state[01]|head)", re.ASCII)
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class Brought(NamedTuple):
    """An operator that the session knows, as its host has enrolled it."""

    actor: str
    name: str
    kind: str
    key: bytes
    rights: tuple[str, ...]


class Papers(NamedTuple):
    """What is told of a session beside its image."""

    name: str
    """What the session is called."""

    host: str
    """What the host that brings it calls itself."""

    manifest: int
    """Bytes of the signed manifest."""

    book: tuple[tuple[str, int], ...]
    """The files of its logbook, by what follows its id, and their sizes."""

    shell: tuple[str, bytes, bytes]
    """Of which session its shell has its secrets, and these."""

    operators: tuple[Brought, ...]

    def to_bytes(self) -> bytes:
        """Return it as it is sent."""
        shell, nonce, key = self.shell
        told = {
            "name": self.name,
            "host": self.host,
            "manifest": self.manifest,
            "book": [[*one] for one in self.book],
            "shell": [shell, nonce.hex(), key.hex()],
            "operators": [
                [one.actor, one.name, one.kind, one.key.hex(), [*one.rights]]
                for one in self.operators
            ],
        }
        return json.dumps(told).encode()


def read_papers(raw: bytes) -> Papers:
    """Read what another host says of a session.

    Raises:
        PeerError: It is nonsense, or out of bounds.

    """
    try:
        told = json.loads(raw)
        shell, nonce, key = told["shell"]
        found = Papers(
            str(told["name"]),
            str(told["host"]),
            int(told["manifest"]),
            tuple((str(name), int(size)) for name, size in told["book"]),
            (str(shell), bytes.fromhex(nonce), bytes.fromhex(key)),
            tuple(
                Brought(actor, str(name), str(kind), bytes.fromhex(key), tuple(rights))
                for actor, name, kind, key, rights in told["operators"]
            ),
        )
        for one in found.operators:
            parse_actor_id(one.actor)
    except (ValueError, KeyError, TypeError, RecursionError, MalformedId) as error:
        raise MalformedMessage("papers of a session", str(error)) from None
    is_right = (
        0 < found.manifest <= MAX_MANIFEST + MAX_PAPERS
        and len(found.book) <= MAX_BOOK
        and len(found.operators) <= MAX_OPERATORS
        and all(_BOOK_FILE.fullmatch(name) and size >= 0 for name, size in found.book)
        and len({name for name, _ in found.book}) == len(found.book)
    )
    if not is_right:
        raise MalformedMessage("papers of a session", "out of bounds")
    return found


class Parcel:
    """What has come of one session, or is coming. Close it."""

    def __init__(
        self, folder: str, fd: int, papers: Papers, manifest: Manifest, sender: bytes
    ) -> None:
        self.folder = folder
        self.papers = papers
        self.manifest = manifest
        self.sender = sender
        """The key of the host that brings it."""

        self._fd = fd
        self._files = [
            *((f"image/{one.name}", one.size) for one in manifest.files),
            *((f"book/{name}", size) for name, size in papers.book),
        ]
        self._open = -1
        self._at = 0
        self._room = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size in self._files)

    @property
    def is_whole(self) -> bool:
        """Whether all of it has come and was found right."""
        return os.path.exists(f"{self.folder}/whole")

    def received(self) -> int:
        """Return how many bytes are here, from the first on; the rest is removed."""
        if self.is_whole:
            return self.size
        count = 0
        for at, (name, size) in enumerate(self._files):
            try:
                here = os.stat(f"{self.folder}/{name}", follow_symlinks=False).st_size
            except FileNotFoundError:
                here = 0
            if here < size:
                self._at, self._room = at, size - here
                return count + here
            if here > size:
                raise ParcelRefused(f"{name} has more bytes than it should")
            count += size
        self._at, self._room = len(self._files), 0
        return count

    def write(self, data: bytes | memoryview) -> None:
        """Take the next bytes.

        Raises:
            Unavailable: The disk is full, or broken; what came before is kept.
            PeerError: There are more than there should be.

        """
        view = memoryview(data)
        while view:
            if self._at == len(self._files):
                raise MalformedMessage("parcel", "more than its papers say")
            if self._room == 0:
                self._next()
                continue
            with writing():
                if self._open < 0:
                    self._enter()
                piece = view[: self._room]
                write_all(self._open, bytes(piece))
            self._room -= len(piece)
            view = view[len(piece) :]

    def finish(self) -> None:
        """Check that all is here and as it was made; from then on it is whole.

        Raises:
            PeerError: It is not; all of it is removed, to be sent anew.
            Unavailable: The disk is full, or broken.

        """
        self._leave()
        if self.is_whole:
            return
        try:
            self._check()
        except BaseException:
            self.remove()
            raise
        with writing():
            replace_file(f"{self.folder}/whole", b"")

    def granted(self) -> Incarnation | None:
        """Return which incarnation our relay has granted us for it, if one."""
        try:
            return Incarnation(int(read_file(f"{self.folder}/life", 32)))
        except (OSError, ValueError):
            return None

    def grant(self, life: Incarnation) -> None:
        """Write down which incarnation we were granted.

        Raises:
            Unavailable: The disk is full, or broken.

        """
        with writing():
            replace_file(f"{self.folder}/life", str(life).encode())

    def install(self, key: SigningKey) -> None:
        """Put image and logbook in place; doing it again changes nothing.

        Raises:
            Unavailable: The disk is full, or broken, or what lies there is another's.

        """
        with writing():
            self._install_book()
            self._install_image(key)
        session, *secrets = self.papers.shell
        shell_secrets.keep(session, shell_secrets.ShellSecrets(*secrets))

    def uninstall(self) -> None:
        """Remove what was put in place, so that it can be brought again."""
        session = self.manifest.session
        home = f"{images_folder()}/{session}"
        with contextlib.suppress(OSError):
            os.unlink(f"{home}/{self.manifest.number}.restored")  # noqa: PTH108  # see above
        shutil.rmtree(f"{home}/{self.manifest.number}", ignore_errors=True)
        for name, _ in self.papers.book:
            with contextlib.suppress(OSError):
                os.unlink(_book_path(session, name))  # noqa: PTH108  # see above
        self.remove()

    def remove(self) -> None:
        """Remove all of it."""
        self._leave()
        with contextlib.suppress(OSError):
            os.unlink(f"{self.folder}/whole")  # noqa: PTH108  # first: then it counts no more
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Let go of it. What has come is kept."""
        self._leave()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _next(self) -> None:
        self._leave()
        self._at += 1
        while self._at < len(self._files) and self._files[self._at][1] == 0:
            with writing():
                self._enter()
            self._leave()
            self._at += 1
        if self._at < len(self._files):
            self._room = self._files[self._at][1]

    def _enter(self) -> None:
        path = f"{self.folder}/{self._files[self._at][0]}"
        os.makedirs(path.rpartition("/")[0], 0o700, exist_ok=True)
        self._open = os.open(path, _MAKE, 0o600)

    def _leave(self) -> None:
        if self._open >= 0:
            os.close(self._open)
            self._open = -1

    def _check(self) -> None:
        for name, size in self._files:
            path = f"{self.folder}/{name}"
            if size == 0 and not os.path.exists(path):
                with writing():
                    os.makedirs(path.rpartition("/")[0], 0o700, exist_ok=True)
                    os.close(os.open(path, _MAKE, 0o600))
            if os.path.getsize(path) != size:
                raise ParcelRefused(f"{name} is not whole")
        image = enter(f"{self.folder}/image")
        try:
            check_files(self.manifest, closed_files(image, {}))
        finally:
            os.close(image)

    def _install_book(self) -> None:
        session = self.manifest.session
        for name, size in self.papers.book:
            brought = f"{self.folder}/book/{name}"
            if os.path.exists(brought):
                os.replace(brought, _book_path(session, name))
            elif not os.path.exists(_book_path(session, name)):
                raise ParcelRefused(f"{name} of its logbook is missing ({size} bytes)")
        sync_folder(os.path.dirname(_book_path(session, "log")))  # noqa: PTH120  # a string

    def _install_image(self, key: SigningKey) -> None:
        home = folders.owned(f"{images_folder()}/{self.manifest.session}")
        final, brought = f"{home}/{self.manifest.number}", f"{self.folder}/image"
        signed = sign_manifest(self.manifest, key)
        if os.path.exists(brought):
            if os.path.exists(final):
                raise ImageImported(image_name(self.manifest))
            replace_file(f"{brought}/{MANIFEST}", signed)
            os.rename(brought, final)
        elif not os.path.exists(f"{final}/{MANIFEST}"):
            raise ParcelRefused("its image is missing")
        replace_file(f"{home}/last", str(self.manifest.number).encode())
        sync_folder(home)


def receive(
    name: ImageName,
    sender: bytes,
    papers: bytes,
    signed: bytes,
    limit: int,
    folder: str = "",
) -> Parcel:
    """Begin to receive what a host brings, or go on with what has come of it.

    `check` of the caller comes after: nothing is written here but papers and manifest.
    `folder` is for what is not to go on here at once (linux/stored/kept_copies.py).

    Raises:
        PeerError: The manifest is not to be believed, or is of another session.
        UsageError: It is too large.
        Unavailable: Somebody brings it at this moment, or the disk is full.

    """
    told, manifest = read_papers(papers), read_manifest(signed, sender)
    if image_name(manifest) != str(name):
        raise MalformedMessage("parcel", "its manifest is of another image")
    total = sum(one.size for one in manifest.files)
    if total > limit:
        raise ImageTooLarge(total, limit)
    folder = folder or arriving(name)
    with writing():
        os.makedirs(folder, 0o700, exist_ok=True)
        fd = enter(folder)
        try:
            _lock(fd, name)
            if _kept(folder, "manifest") not in (None, signed):
                # Another image of the same number: nothing of it can be used.
                for one in os.listdir(folder):
                    _clear(f"{folder}/{one}")
            replace_file(f"{folder}/papers", papers)
            replace_file(f"{folder}/manifest", signed)
        except BaseException:
            os.close(fd)
            raise
    return Parcel(folder, fd, told, manifest, sender)


def find(name: ImageName, sender: bytes, folder: str = "") -> Parcel:
    """Return what has come of an image from a host.

    Raises:
        Unavailable: Nothing has, or somebody uses it.
        PeerError: It is damaged.

    """
    folder = folder or arriving(name)
    papers, signed = _kept(folder, "papers"), _kept(folder, "manifest")
    if papers is None or signed is None:
        raise ParcelRefused("nothing of it has come")
    fd = enter(folder)
    try:
        _lock(fd, name)
        manifest = read_manifest(signed, sender)
        return Parcel(folder, fd, read_papers(papers), manifest, sender)
    except BaseException:
        os.close(fd)
        raise


def book_files(session: SessionId) -> list[tuple[str, str]]:
    """Return the files of a session's logbook here: what each is called, and where."""
    folder = os.path.dirname(folders.session_log(session))  # noqa: PTH120  # a string
    found = [
        (name.removeprefix(f"{session}."), f"{folder}/{name}")
        for name in sorted(os.listdir(folder))
        if name.startswith(f"{session}.")
    ]
    return [(name, path) for name, path in found if _BOOK_FILE.fullmatch(name)]


def continues(parcel: Parcel) -> bool:
    """Tell whether the logbook that was brought goes on where the one here ends.

    A session that has been here before left its book: what comes back has to begin with
    it, byte for byte.
    """
    session = parcel.manifest.session
    for name, path in book_files(session):
        brought = f"{parcel.folder}/book/{name}"
        if not name.startswith("log") or not os.path.exists(brought):
            continue
        if not _begins_with(brought, path):
            return False
    return True


def _begins_with(longer: str, shorter: str) -> bool:
    with open(longer, "rb") as whole, open(shorter, "rb") as part:  # noqa: PTH123  # strings
        while piece := part.read(CHUNK):
            if whole.read(len(piece)) != piece:
                return False
    return True


def _book_path(session: SessionId, name: str) -> str:
    return f"{folders.session_log(session).removesuffix('.log')}.{name}"


def _kept(folder: str, name: str) -> bytes | None:
    try:
        return read_file(f"{folder}/{name}", MAX_MANIFEST + MAX_PAPERS)
    except OSError:
        return None


def _clear(path: str) -> None:
    if os.path.isdir(path):  # noqa: PTH112  # a string
        shutil.rmtree(path)
    else:
        os.unlink(path)  # noqa: PTH108  # a string


def _lock(fd: int, name: ImageName) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ImageBusy(str(name)) from None


def arriving(name: ImageName) -> str:
    """Return the folder for what is to go on here once it has come."""
    return f"{folders.owned(f'{images_folder()}/arriving')}/{name}"


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Do something with the disk, and call what it refuses by its name here."""
    try:
        yield
    except OSError as error:
        raise ImageUnwritten(error.strerror or "the disk is broken") from error
