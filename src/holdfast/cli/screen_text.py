"""A screen as text."""

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Iterable


def trimmed(rows: "Iterable[str]") -> str:
    """Return the rows without blanks at their ends and without empty last ones."""
    return "\n".join(line.rstrip() for line in rows).rstrip("\n")
