"""The user of a run or a request, as graphs get it in `configurable` and in `Runtime.server_info`, and auth handlers in `ctx.user`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class AuthUser(Mapping[str, Any]):
    """A user whose fields are read as attributes and as items, as `langgraph_sdk.auth.types.BaseUser`."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    @property
    def identity(self) -> str:
        """The id of the user."""
        return str(self._fields.get("identity", ""))

    @property
    def display_name(self) -> str:
        """The name of the user; the id if it has none."""
        return str(self._fields.get("display_name") or self.identity)

    @property
    def is_authenticated(self) -> bool:
        """False for users of a server that lets everybody in."""
        return bool(self._fields.get("is_authenticated", True))

    @property
    def permissions(self) -> list[str]:
        """What the user may do."""
        return list(self._fields.get("permissions") or ())

    def __getattr__(self, name: str) -> Any:
        try:
            value = self.__dict__["_fields"][name]
        except KeyError:
            raise AttributeError(f"the user has no field {name!r}") from None
        return AuthUser(value) if isinstance(value, dict) else value

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __contains__(self, key: object) -> bool:
        return key in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"AuthUser({self.identity!r})"

    def dict(self) -> dict[str, Any]:
        """A copy of the fields."""
        return {**self._fields}

    def model_dump(self) -> dict[str, Any]:
        """A copy of the fields."""
        return {**self._fields}


def with_user(configurable: Mapping[str, Any]) -> dict[str, Any]:
    """`configurable`, with the user as an object."""
    user = configurable.get("langgraph_auth_user")
    if not isinstance(user, Mapping):
        return dict(configurable)
    return {**configurable, "langgraph_auth_user": AuthUser(user)}
