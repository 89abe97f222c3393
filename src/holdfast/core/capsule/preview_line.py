"""The line of an input that can be previewed, or why there is none."""

from typing import NamedTuple

from holdfast.model.inputs import InputKind

ENTER = b"\r"


class Line(NamedTuple):
    """A line to run in a branch; if it is empty, `why` says why there is none."""

    text: str = ""
    why: str = ""


def line_of(
    kind: InputKind, payload: bytes, *, staged: bytes | None, is_secret: bool
) -> Line:
    """Return the line of a command, or of keys that are one whole line.

    `staged` is what stands typed before it; None if that is not known.
    """
    if is_secret:
        return Line(why="it is a secret")
    if kind not in (InputKind.KEYS, InputKind.COMMAND):
        return Line(why="only a line for the shell can be previewed")
    if kind is InputKind.KEYS and (staged != b"" or not payload.endswith(ENTER)):
        return Line(why="it is not a complete line")
    text = payload.removesuffix(ENTER).decode("utf-8", "replace")
    if not text.strip() or not text.isprintable() or "\ufffd" in text:
        return Line(why="it is not one line of plain text")
    return Line(text)
