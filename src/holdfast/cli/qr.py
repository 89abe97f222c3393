"""A QR code drawn with half blocks, two rows of modules in one line."""

MARGIN = 2
"""Light modules around the code; readers want four, and terminals have a frame."""

_LOOKS = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}
"""By upper and lower module. Dark modules are drawn as blanks, because most terminals
are dark; the light ones around them make a code that every reader accepts."""


def qr_lines(text: str) -> list[str]:
    """Return the lines that show `text` as a QR code."""
    import segno  # noqa: PLC0415  # only who shows one

    code = segno.make(text, error="l", micro=False, boost_error=False)
    rows = [list(row) for row in code.matrix_iter(border=MARGIN)]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    return [
        "".join(_LOOKS[bool(up), bool(down)] for up, down in zip(*pair, strict=True))
        for pair in zip(rows[::2], rows[1::2], strict=True)
    ]
