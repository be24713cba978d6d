"""The classes that the state of a graph may have, by the annotations of its schemas and channels."""

from __future__ import annotations

import dataclasses
import enum
import sys
import typing
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel


def classes_in(annotations: Iterable[Any]) -> set[type[Any]]:
    """Pydantic models, dataclasses, named tuples and enums that the annotations name, also as fields of one another."""
    found: set[type[Any]] = set()
    open_ = list(annotations)
    # By identity, because some annotations have no hash. They are kept, so that no other one gets their identity.
    seen: dict[int, Any] = {}
    while open_:
        annotation = open_.pop()
        if id(annotation) in seen:
            continue
        seen[id(annotation)] = annotation
        # Generic types, unions, Annotated, NotRequired, and the type of a NewType.
        open_.extend(typing.get_args(annotation))
        if hasattr(annotation, "__supertype__"):
            open_.append(annotation.__supertype__)
        if not isinstance(annotation, type):
            continue
        if _is_restored(annotation):
            found.add(annotation)
        if _has_fields(annotation):
            open_.extend(_hints(annotation))
    return found


def _is_named_tuple(cls: type[Any]) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _is_restored(cls: type[Any]) -> bool:
    return _has_model_fields(cls) or dataclasses.is_dataclass(cls) or _is_named_tuple(cls) or issubclass(cls, enum.Enum)


def _has_model_fields(cls: type[Any]) -> bool:
    v1 = sys.modules.get("pydantic.v1.main")
    return issubclass(cls, BaseModel) or (v1 is not None and issubclass(cls, v1.BaseModel))


def _has_fields(cls: type[Any]) -> bool:
    return _has_model_fields(cls) or dataclasses.is_dataclass(cls) or _is_named_tuple(cls) or typing.is_typeddict(cls)


def _hints(cls: type[Any]) -> list[Any]:
    """The annotations of the fields. Those that cannot be evaluated, such as imports for type checkers only, are left out."""
    try:
        return list(typing.get_type_hints(cls, include_extras=True).values())
    except Exception:  # annotations of the project may raise anything
        return [part for part in getattr(cls, "__annotations__", {}).values() if not isinstance(part, str)]
