"""Creates objects of pydantic models without running their code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from pydantic import BaseModel

_set_attribute = object.__setattr__


class Defaults:
    """What a new object of a model has."""

    _known: dict[type[BaseModel], Defaults] = {}
    _KNOWN_MAX = 10_000

    def __init__(self, cls: type[BaseModel]) -> None:
        self._constants: dict[str, Any] = {}
        self._factories: list[tuple[str, Callable[[], Any]]] = []
        for name, field in cls.model_fields.items():
            factory = field.default_factory
            if factory is None:
                self._constants[name] = None if field.is_required() else field.default
            else:
                self._constants[name] = None
                self._factories.append((name, cast("Callable[[], Any]", factory)))

    @classmethod
    def of(cls, model: type[BaseModel]) -> Defaults:
        """The defaults of a model, which are found once."""
        found = cls._known.get(model)
        if found is None:
            if len(cls._known) >= cls._KNOWN_MAX:
                cls._known.clear()
            found = cls._known[model] = Defaults(model)
        return found

    def fields(self) -> dict[str, Any]:
        """The fields of a new object, in the order of the class. Required ones are None."""
        fields = self._constants.copy()
        for name, factory in self._factories:
            fields[name] = factory()
        return fields


def restored(cls: type[Any], fields: dict[str, Any], extra: dict[str, Any] | None) -> Any:
    """An object of a model with these fields, which are not validated."""
    model = cls.__new__(cls)
    _set_attribute(model, "__dict__", fields)
    _set_attribute(model, "__pydantic_fields_set__", set(fields))
    _set_attribute(model, "__pydantic_extra__", extra)
    _set_attribute(model, "__pydantic_private__", None)
    return model
