"""Adds the state of a session's files to an image."""

from collections.abc import Sequence

from holdfast.linux.capsule import opened_files
from holdfast.linux.stored import layer_archive
from holdfast.linux.stored.image_store import ImageDraft
from holdfast.model.session_record import CapsuleRecord
from holdfast.wire.image_manifest import OpenFile


def keep_files(
    draft: ImageDraft, capsule: CapsuleRecord, pids: Sequence[int], *, shares: bool
) -> tuple[OpenFile, ...]:
    """Keep the layers of files of its own; else what its processes have open.

    Return the latter. Without `shares` the image goes on over files that change.

    Raises:
        HoldfastError: The disk is full, or broken.
        OSError: Likewise.

    """
    if capsule.files == "own":
        path = f"{draft.folder}/{layer_archive.FILES}"
        layer_archive.pack(draft.name.session, path)
        return ()
    return opened_files.noted(list(pids), draft.copy) if shares else ()
