"""Values for modules that have no time to load `dataclasses`.

A dataclass takes longer to load than a handshake takes. A subclass names its fields in
`__slots__`, and sets them in its `__init__`; nobody sets them again.
"""


class PlainValue:
    """Equal to another of its class whose fields are equal."""

    __slots__: tuple[str, ...] = ()

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        """Compare by class and fields."""
        if not isinstance(other, PlainValue) or type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        """Go by the fields, as equality does."""
        return hash(self._values())

    def __repr__(self) -> str:
        pairs = zip(self.__slots__, self._values(), strict=True)
        fields = ", ".join(f"{name}={value!r}" for name, value in pairs)
        return f"{type(self).__name__}({fields})"
