"""Errors rebuilt from another process's description."""

from collections.abc import Mapping

from holdfast.model.errors.branches import Fact, HoldfastError


def leaves(branch: type[HoldfastError] = HoldfastError) -> list[type[HoldfastError]]:
    """Return every error class with a code of its own, in order of definition."""
    found: list[type[HoldfastError]] = []
    for kind in branch.__subclasses__():
        if "code" in vars(kind):
            found.append(kind)
        found.extend(leaves(kind))
    return found


def from_facts(code: str, facts: Mapping[str, Fact], sentence: str) -> HoldfastError:
    """Make the error again that another process described.

    A code this version does not know, or facts that do not fit it, become a
    plain HoldfastError with the other side's sentence: a newer peer is no
    reason to lose what it said.
    """
    for kind in leaves():
        if kind.code == code and _fits(kind, facts):
            return kind(**facts)  # type: ignore[arg-type]  # checked by _fits
    error = HoldfastError(sentence)
    error.facts = dict(facts)  # not as parameters: a peer may name one "sentence"
    return error


def _fits(kind: type[HoldfastError], facts: Mapping[str, Fact]) -> bool:
    wanted = {**kind.__init__.__annotations__}
    del wanted["return"]
    return {name: type(fact) for name, fact in facts.items()} == wanted
