"""The processor features that a program may depend on, from /proc/cpuinfo.

Libraries choose how they compute by the abilities that they find at their start, and
keep to it. So a restored program needs every ability that it may have found.
"""

from holdfast.model.text import printable
from holdfast.wire.image_manifest import MAX_FLAGS, Processor

_VENDOR = ("vendor_id", "CPU implementer")
_FAMILY = ("cpu family", "CPU architecture")
_MODEL = ("model", "CPU part")
_FLAGS = ("flags", "Features")
_MAX_WORD = 64
_MAX_NUMBER = 2**32


def read_processor(text: str) -> Processor:
    """Return the first processor of /proc/cpuinfo; what it does not say is empty.

    All of a machine have the same abilities; where that is not so, programs cannot
    rely on any that one of them lacks.
    """
    facts: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        facts.setdefault(name.strip(), value.strip())
    flags = {word for word in _first(facts, _FLAGS).split() if _is_flag(word)}
    return Processor(
        printable(_first(facts, _VENDOR), _MAX_WORD),
        _number(_first(facts, _FAMILY)),
        _number(_first(facts, _MODEL)),
        tuple(sorted(flags)[:MAX_FLAGS]),
    )


def _first(facts: dict[str, str], names: tuple[str, ...]) -> str:
    return next((facts[name] for name in names if name in facts), "")


def _number(text: str) -> int:
    try:
        number = int(text, 0)
    except ValueError:
        return 0
    return number if 0 <= number < _MAX_NUMBER else 0


def _is_flag(word: str) -> bool:
    plain = word.replace("_", "").replace(".", "").replace(":", "").replace("-", "")
    is_plain = plain.isascii() and plain.isalnum() and plain == plain.lower()
    return is_plain and len(word) <= _MAX_WORD
