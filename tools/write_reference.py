"""Write docs/reference/errors.md from the error tree.

python -m tools.write_reference            write it
python -m tools.write_reference --check    exit 1 if it is not what would be written
"""

from pathlib import Path

from tools.generated import write

from holdfast.model.errors import (
    Forbidden,
    HoldfastError,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
    leaves,
)

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "errors.md"

BRANCHES: dict[type[HoldfastError], str] = {
    UsageError: "fix the call",
    Forbidden: "get the authority first",
    PeerError: "hang up",
    Unavailable: "try again later",
    Unsettled: "look, do not repeat",
}

INTRODUCTION = """\
# Errors

For whoever calls holdfast from a program, a script or an agent, and is told no.

Every error has a stable code, the facts it is made of, and a sentence.
Decide by the branch, show the sentence, log the code.
The code never changes; the sentence may.
*Retry* says whether the same request may succeed later without anything else changed.
`tools/write_reference.py` writes this page from the code.
"""


def text() -> str:
    """Return the page as it should be."""
    parts = [INTRODUCTION]
    for branch, reaction in BRANCHES.items():
        parts += [
            f"## {branch.__name__}: {reaction}\n",
            f"{_summary(branch)}\n",
            "| code | what happened | facts | retry | what to do next |",
            "| --- | --- | --- | --- | --- |",
            *(_row(leaf) for leaf in leaves(branch)),
            "",
        ]
    return "\n".join(parts)


def _row(leaf: type[HoldfastError]) -> str:
    names = [f"`{name}`" for name in leaf.__init__.__annotations__ if name != "return"]
    retry = "yes" if leaf.retryable else "no"
    next_step = leaf.next_step or "Hang up."
    cells = (f"`{leaf.code}`", _summary(leaf), ", ".join(names), retry, next_step)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _summary(kind: type[HoldfastError]) -> str:
    return (kind.__doc__ or "").split("\n", maxsplit=1)[0]


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
