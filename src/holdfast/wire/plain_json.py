"""JSON as `json` writes and reads it, without slow imports.

`json` loads patterns and enumerations first, which takes as long as half of Python's
own start, and needs them for spaces and for the places of mistakes. Its scanner and
its way with texts are the same here.

I1  What is written is what `json.dumps` writes, byte for byte.
I2  What is read is what `json.loads` reads; and what that refuses is refused.
"""

from _json import encode_basestring_ascii, make_scanner

TYPE_CHECKING = False
"""Only checkers take it for true: `holdfast new` waits for this to load."""

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPACES = " \t\n\r"
_BOM = "\ufeff"
_CONSTANTS = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


class _Scanned:
    """How the scanner is to read, as `json` has it."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__


_scan = make_scanner(_Scanned)  # type: ignore[arg-type]  # anything that has these


def dumps(value: object, *, sort_keys: bool = False) -> str:
    """Write down texts, numbers without fractions, lists and objects of those.

    Raises:
        TypeError: There is something else in it.

    """
    match value:
        case str():
            return encode_basestring_ascii(value)
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case int():
            return int.__repr__(value)
        case list() | tuple():
            return f"[{', '.join([dumps(one, sort_keys=sort_keys) for one in value])}]"
        case dict():
            members: Iterable[tuple[object, object]] = value.items()
            parts = [
                f"{_key(name)}: {dumps(one, sort_keys=sort_keys)}"
                for name, one in (sorted(members) if sort_keys else members)
            ]
            return f"{{{', '.join(parts)}}}"
        case _:
            raise TypeError(f"{type(value).__name__} is not written here")


def loads(raw: str | bytes) -> object:
    """Read what is one value, and nothing else.

    Raises:
        ValueError: It is none.
        RecursionError: It is too deep.

    """
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "surrogatepass")
    text = text.strip(_SPACES)
    if text.startswith(_BOM):
        raise ValueError("it begins with a mark of its byte order")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("there is no value") from None
    if end != len(text):
        raise ValueError("something follows the value")
    return value


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError("a name is a text")
    return encode_basestring_ascii(name)
