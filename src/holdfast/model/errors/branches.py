"""The five things a caller can do about an error, as classes to catch."""

TYPE_CHECKING = False
"""Only checkers take it for true: commands that begin early wait for this to load."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import ClassVar, Never, Self, dataclass_transform
else:

    def dataclass_transform() -> "Callable[[type], type]":
        """Say something to type checkers alone."""
        return lambda kind: kind


Fact = str | int


@dataclass_transform()
class HoldfastError(Exception):
    """Base of every error raised on purpose.

    Its subclasses are the branches, and theirs the leaves. A leaf declares its
    facts as fields, which are also the parameters of its constructor; type
    checkers read them as they would those of a dataclass.
    """

    code: "ClassVar[str]" = "error"
    """Stable name on the wire, in logs and in `holdfast --json` output.

    A leaf has that of its class in lower case, unless it says otherwise.
    """

    retryable: "ClassVar[bool]" = False
    """Whether the same request may succeed later without anything else changed."""

    says: "ClassVar[str]"
    """What happened, as a sentence with the names of facts in braces."""

    next_step: "ClassVar[str]" = ""
    """What to do about it, as a sentence for a person or an agent."""

    fields: "ClassVar[Mapping[str, type]]" = {}  # noqa: RUF012  # a leaf has its own
    """The facts that this error has, and their types."""

    def __init_subclass__(cls) -> None:
        if HoldfastError not in cls.__bases__:
            cls.code = vars(cls).get("code") or _dashed(cls.__name__)
            cls.fields = cls.__annotations__

    # No parameters, as far as types go: this is what a leaf without fields has.
    def __init__(self, *values: "Never", **named: "Never") -> None:
        names = list(self.fields)
        facts = {**dict(zip(names, values, strict=False)), **named}
        if facts.keys() != self.fields.keys() or len(values) + len(named) > len(names):
            raise TypeError(f"{type(self).__name__} takes {names}")
        self.facts: dict[str, Fact] = {name: facts[name] for name in names}
        vars(self).update(facts)
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        """Say what happened."""
        return self.says.format_map(self.facts)

    @classmethod
    def told(cls, sentence: str, facts: "Mapping[str, Fact]") -> "Self":
        """Make an error from another process's sentence and facts."""
        error = cls.__new__(cls)
        Exception.__init__(error, sentence)
        error.facts = dict(facts)
        return error


class UsageError(HoldfastError):
    """The request itself is wrong; repeating it will not help."""


class Forbidden(HoldfastError):
    """The request is well formed, but not yours to make as things stand."""


class PeerError(HoldfastError):
    """The other side sent something the specification forbids."""


class Unavailable(HoldfastError):
    """Nothing was done; the same request may succeed later."""

    retryable = True


class Unsettled(HoldfastError):
    """Whether it happened is not known; repeating it could do it twice."""


def _dashed(name: str) -> str:
    parts = (f"-{one}" if one.isupper() else one for one in name)
    return "".join(parts).lower().removeprefix("-")


def leaves(branch: type[HoldfastError] = HoldfastError) -> list[type[HoldfastError]]:
    """Return every error class with a code of its own, in order of definition."""
    found: list[type[HoldfastError]] = []
    for kind in branch.__subclasses__():
        if "code" in vars(kind):
            found.append(kind)
        found.extend(leaves(kind))
    return found


def from_facts(code: str, facts: "Mapping[str, Fact]", sentence: str) -> HoldfastError:
    """Make the error again that another process described.

    A code this version does not know, or facts that do not fit it, become a
    plain HoldfastError with the other side's sentence: a newer peer is no
    reason to lose what it said.
    """
    types = {name: type(fact) for name, fact in facts.items()}
    for kind in leaves():
        if kind.code == code and kind.fields == types:
            return kind(**facts)  # type: ignore[arg-type]  # these are its fields
    return HoldfastError.told(sentence, facts)
