"""Finds the stored form of a class."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage

from .arrays import array_form
from .classes import class_form
from .engine_objects import engine_form
from .forms import Form, FormOf
from .messages import message_form
from .refusal import ValueRefused
from .standard import standard_form

_CLASSES_MAX = 10_000
_known: dict[type[Any], FormOf] = {}


def form_of(cls: type[Any]) -> FormOf:
    """The function that makes the form of the objects of a class."""
    found = _known.get(cls)
    if found is None:
        if len(_known) >= _CLASSES_MAX:
            _known.clear()
        found = _known[cls] = _find(cls)
    return found


def _find(cls: type[Any]) -> FormOf:
    message = message_form(cls) if issubclass(cls, BaseMessage) else None
    # Arrays first: some scalars of numpy are floats as well. Classes before what they are derived from.
    return message or engine_form(cls) or class_form(cls) or array_form(cls) or standard_form(cls) or _refused


def _refused(value: Any) -> Form:
    cls = type(value)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    raise ValueRefused(f"is of type {name}, which cannot be stored")
