"""Where the web page that came with this installation is, if it did.

`make web` builds it there; a wheel includes it. Without it everything but the
page works.
"""

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "webpage"


def built_page() -> Path | None:
    """Return the folder with the page's files, or None if it was not built."""
    return _FOLDER if (_FOLDER / "index.html").is_file() else None
