"""Objects of classes of a project: pydantic models, dataclasses, named tuples and enums.

They are restored without `__init__` and without validation, and only if their class is allowed.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, SecretBytes, SecretStr

from .forms import Form, FormOf, Read, py_head
from .pydantic_objects import Defaults, restored

if TYPE_CHECKING:
    from .allowlist import Allowlist


def _head(kind: str, cls: type[Any]) -> dict[str, Any]:
    return py_head(kind, module=cls.__module__, name=cls.__qualname__)


def class_form(cls: type[Any]) -> FormOf | None:
    """The form of a class of a project; None for other classes."""
    if issubclass(cls, BaseModel):
        return _model_form(cls)
    v1 = sys.modules.get("pydantic.v1.main")
    if v1 is not None and issubclass(cls, v1.BaseModel):
        return _model_v1_form(cls)
    if issubclass(cls, (SecretStr, SecretBytes)):
        return lambda value: (py_head("secret", json=None, name=cls.__name__), {"of": value.get_secret_value()})
    if issubclass(cls, enum.Enum):
        head = _head("enum", cls)
        return lambda value: (head, {"of": value.value})
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_asdict"):
        head = _head("namedtuple", cls)
        return lambda value: (head, {"of": dict(zip(cls._fields, value, strict=True))})
    if dataclasses.is_dataclass(cls):
        return _dataclass_form(cls)
    return None


def _has_own_output(cls: type[BaseModel]) -> bool:
    """True when `model_dump` returns something else than the fields."""
    decorators = cls.__pydantic_decorators__
    if decorators.field_serializers or decorators.model_serializers or decorators.computed_fields:
        return True
    if cls.model_config.get("serialize_by_alias") or cls.model_dump is not BaseModel.model_dump:
        return True
    return any(
        field.exclude or any("Serializer" in type(part).__name__ for part in field.metadata)
        for field in cls.model_fields.values()
    )


def _model_form(cls: type[BaseModel]) -> FormOf:
    head = _head("model", cls)
    names = cls.model_fields
    has_own_output = _has_own_output(cls) or "root" in names

    def form(model: BaseModel) -> Form:
        parts: dict[str, Any] = {"of": {name: part for name, part in model.__dict__.items() if name in names}}
        if model.__pydantic_extra__:
            parts["of"] |= model.__pydantic_extra__
        if has_own_output:
            parts["json"] = model.model_dump()
        return head, parts

    return form


def _model_v1_form(cls: type[Any]) -> FormOf:
    head = _head("model1", cls)
    return lambda model: (head, {"of": dict(model.__dict__)})


def _dataclass_form(cls: type[Any]) -> FormOf:
    head = _head("dataclass", cls)
    names = [field.name for field in dataclasses.fields(cls)]
    return lambda value: (head, {"of": {name: getattr(value, name) for name in names if hasattr(value, name)}})


def read_object(tree: dict[str, Any], value: Read, allowed: Allowlist) -> Any:
    """An object of a class of the project; its plain data when the class is not allowed, is gone or no longer fits."""
    of = value(tree["of"])
    cls = allowed.find(str(tree["module"]), str(tree["name"]))
    if cls is None:
        return of
    try:
        return _RESTORERS[tree["kind"]](cls, of)
    except Exception as error:  # code of the project may raise anything
        allowed.unreadable(cls, error)
        return of


def _restore_model(cls: Any, of: dict[str, Any]) -> Any:
    if not issubclass(cls, BaseModel):
        raise TypeError("the class is no pydantic model any more")
    fields = Defaults.of(cls).fields()
    extra: dict[str, Any] = {}
    for name, part in of.items():
        (fields if name in fields else extra)[name] = part
    takes_extra = cls.model_config.get("extra") == "allow"
    model = restored(cls, fields, extra if takes_extra else None)
    if cls.__pydantic_post_init__:
        model.model_post_init(None)
    return model


def _restore_model_v1(cls: Any, of: dict[str, Any]) -> Any:
    model = cls.__new__(cls)
    defaults = {name: field.get_default() for name, field in cls.__fields__.items() if name not in of}
    object.__setattr__(model, "__dict__", {**defaults, **of})
    object.__setattr__(model, "__fields_set__", set(of))
    model._init_private_attributes()
    return model


def _restore_dataclass(cls: Any, of: dict[str, Any]) -> Any:
    fields = {field.name: field for field in dataclasses.fields(cls)}
    unknown = [name for name in of if name not in fields]
    if unknown:
        raise TypeError(f"it has no field {unknown[0]!r} any more")
    made = object.__new__(cls)
    for name, field in fields.items():
        if name in of:
            part = of[name]
        elif field.default is not dataclasses.MISSING:
            part = field.default
        elif field.default_factory is not dataclasses.MISSING:
            part = field.default_factory()
        elif field.init:
            raise TypeError(f"the stored object has no field {name!r}")
        else:
            continue
        object.__setattr__(made, name, part)
    return made


def _restore_namedtuple(cls: Any, of: dict[str, Any]) -> Any:
    if set(of) - set(cls._fields):
        raise TypeError(f"its fields are {', '.join(cls._fields)} now")
    return tuple.__new__(cls, [of[name] if name in of else cls._field_defaults[name] for name in cls._fields])


_RESTORERS: dict[str, Callable[[Any, Any], Any]] = {
    "model": _restore_model,
    "model1": _restore_model_v1,
    "dataclass": _restore_dataclass,
    "namedtuple": _restore_namedtuple,
    "enum": lambda cls, of: cls(of),
}

OBJECT_KINDS = frozenset(_RESTORERS)
