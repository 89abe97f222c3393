"""The request itself is wrong, about images, branches and files: fix the call."""

from holdfast.model.errors.branches import UsageError


class ImageNotFound(UsageError):
    """There is no complete image of that name here."""

    image: str

    says = "no image {image!r} here"
    next_step = "`holdfast images` lists the images."


class ImageSpent(UsageError):
    """An image that can be restored only once was already restored."""

    image: str
    incarnation: int

    says = "{image} was already restored, as incarnation {incarnation}"
    next_step = "Restore a newer image, or this one as a new session."


class ImageMisfit(UsageError):
    """The image needs something that is different on this machine."""

    what: str
    theirs: str
    ours: str

    says = "the image needs {what} {theirs}; here it is {ours}"
    next_step = "Restore it on a machine like the one it was made on."


class MappedFileChanged(UsageError):
    """A program or library that the image uses has changed on disk."""

    path: str
    why: str

    says = "{path}, which the image has in memory, {why}"
    next_step = "Put back the version that was there at the checkpoint."


class OpenFilesChanged(UsageError):
    """Files that the session had open have changed since the checkpoint."""

    files: str
    copies: str

    says = "changed since the image was made: {files}; the image has {copies}"
    next_step = (
        "`holdfast restore --files put-back` restores the copies and keeps the"
        " current files beside them; `--files as-is` continues with the current"
        " files."
    )


class FileNotPutBack(UsageError):
    """The image's copy of an open file could not be put back."""

    path: str
    why: str

    says = "{path} cannot be put back: {why}"
    next_step = "Put the file back by hand, or restore with `--files as-is`."


class ImageImported(UsageError):
    """The image was already imported."""

    image: str

    says = "{image} is here already"
    next_step = "`holdfast images` lists it."


class ImageTooLarge(UsageError):
    """The image to import is larger than this host's limit for images."""

    size: int
    most: int

    says = "the image has {size} bytes; the limit for all images here is {most}"
    next_step = "Raise `images.size` in the settings."


class ImageOnlyKept(UsageError):
    """An imported image cannot be restored here."""

    image: str

    says = "{image} was made by another host: it can only be listed and verified"
    next_step = "Restore it on the host that made it."


class NotCheckpointable(UsageError):
    """Something prevents a checkpoint of the session."""

    session: str
    why: str

    says = "{session} cannot be saved to disk: {why}"
    next_step = "`holdfast can-checkpoint` lists every obstacle."


class NotPreviewable(UsageError):
    """The command could not be previewed in a branch."""

    session: str
    why: str

    says = "no preview is possible in {session}: {why}"
    next_step = "`holdfast fork` makes a branch in which you can try it yourself."


class SessionStopped(UsageError):
    """The session was saved to disk and stopped; its image can be restored."""

    image: str

    says = "the session was stopped and is on disk as {image}"
    next_step = "`holdfast restore` continues it."


class NoBranch(UsageError):
    """The session is not a branch, and only a branch can be used here."""

    session: str

    says = "{session} is not a branch"
    next_step = "`holdfast ls` shows branches below their sessions."


class NoFiles(UsageError):
    """No session of that name has its own files."""

    session: str

    says = "no session {session} with its own files here"
    next_step = "`holdfast files` lists the sessions that have their own files."


class FilesConflict(UsageError):
    """Files that the session changed have also changed outside."""

    path: str
    count: int

    says = "changed outside since the session began: {path} ({count} in all)"
    next_step = "`holdfast files` marks them with !; `--force` overwrites them."


class FilesUnfit(UsageError):
    """One of the session's changes cannot be applied."""

    path: str
    why: str

    says = "{path} cannot be applied: {why}"
    next_step = "Remove it in the session, then apply the changes."


class FilesInUse(UsageError):
    """The session is running and may change the files that are to be applied."""

    session: str

    says = "{session} is running, and may change its files meanwhile"
    next_step = "`holdfast freeze` it, or end it; its changes are kept."


class CopyRefused(UsageError):
    """No copy of this image can be kept at another host."""

    image: str
    host: str
    why: str

    says = "no copy of {image} was sent to {host}: {why}"
    next_step = "Only a session that is movable, and does not move, is copied."
