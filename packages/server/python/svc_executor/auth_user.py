"""What `authenticate` returns, as the fields of a user."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from collections.abc import Mapping
from typing import Any

_ATTRIBUTES = ("identity", "is_authenticated", "display_name", "permissions", "kind")


class InvalidUser(TypeError):
    """`authenticate` has returned something that is no user."""


def user_text(answer: Any) -> str:
    """The JSON text of a user: a text, a mapping, an object with an identity, or a pair of permissions and one of these. Raises InvalidUser."""
    if isinstance(answer, tuple):
        if len(answer) != 2:
            raise InvalidUser("authenticate returned a tuple, which must have two elements: permissions and a user")
        permissions, user = answer
        fields = {**_fields_of(user), "permissions": list(permissions)}
    else:
        fields = _fields_of(answer)
    try:
        return json.dumps(fields, default=plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidUser(f"authenticate returned a user that is not JSON: {error}") from error


def _fields_of(user: Any) -> dict[str, Any]:
    if isinstance(user, str):
        return {"identity": user}
    if isinstance(user, Mapping):
        return dict(user)
    if not hasattr(user, "identity"):
        raise InvalidUser(
            f"authenticate must return a text, a dict or an object with an identity, and returned {type(user).__name__}"
        )
    own = {name: getattr(user, name) for name in _ATTRIBUTES if hasattr(user, name)}
    return {**own, **_own_fields(user)}


def _own_fields(user: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(user) and not isinstance(user, type):
        return {field.name: getattr(user, field.name) for field in dataclasses.fields(user)}
    for name in ("model_dump", "dict"):
        dump = getattr(user, name, None)
        if callable(dump):
            return dict(dump())
    return {name: value for name, value in getattr(user, "__dict__", {}).items() if not name.startswith("_")}


def plain(value: Any) -> Any:
    """The JSON of a value that the JSON encoder does not know. Raises TypeError."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    raise TypeError(f"{type(value).__name__} is not JSON")
