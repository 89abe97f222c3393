"""What the program of a start is: the file, and what a script hands itself to.

Invariants, checked by tests/core/provenance/test_program_resolution.py:

I1  A file that could not be looked at is in doubt, whatever its path says.
I2  A link is followed in the open: both its own path and the file behind are named.
"""

from holdfast.core.provenance.line_resolution import Found
from holdfast.model.resolutions import Link, Resolved, Sort

_SHEBANG = b"#!"


def resolved_program(program: str, found: object) -> Resolved:
    """Return what would be executed for `program`, by what was found at its path."""
    if not isinstance(found, Found):
        return Resolved(
            (Link(Sort.UNKNOWN, program),),
            doubt="which file it is could not be determined",
        )
    is_script = found.head.startswith(_SHEBANG)
    sort = Sort.SCRIPT if is_script else Sort.PROGRAM
    links = [Link(sort, program, found.digest)]
    if found.path != program:
        links.append(Link(sort, found.path, found.digest))
    if is_script:
        line = (
            found.head.removeprefix(_SHEBANG).split(b"\n")[0].decode(errors="replace")
        )
        interpreter = line.split(maxsplit=1)[0] if line.split() else ""
        links.append(Link(Sort.PROGRAM, interpreter))
    return Resolved(tuple(links))
