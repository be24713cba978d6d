"""The raw parts of a frame that is being made: JSON texts of values."""

from __future__ import annotations

from typing import Any

from .refusal import ValueRefused
from .values import encode


class ValueNotStored(ValueError):
    """A value of the graph cannot be stored or sent. The message begins with its path."""


class Parts:
    """Collects parts. A part is named by its index."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(map(len, self.texts))

    def add(self, text: bytes) -> int:
        """Adds a JSON text."""
        self.texts.append(text)
        return len(self.texts) - 1

    def value(self, value: Any, name: str) -> int:
        """Adds a value. Raises ValueNotStored; `name` is what the path of the part begins with."""
        try:
            return self.add(encode(value))
        except ValueRefused as refused:
            raise ValueNotStored(refused.message(name)) from None
