"""The user of a request, as auth handlers and graphs get it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class User(Mapping[str, Any]):
    """The fields that `authenticate` has returned, as attributes and as items: `user.identity` and `user["identity"]`."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles of an object ask for names before its fields are set.
        if name == "_fields" or name not in self._fields:
            raise AttributeError(f"the user has no field {name!r}")
        value = self._fields[name]
        return User(value) if isinstance(value, dict) else value

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"User({self._fields!r})"

    def dict(self) -> dict[str, Any]:
        """A copy of the fields."""
        return dict(self._fields)

    model_dump = dict
