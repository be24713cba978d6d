"""The stored forms of Python's classes.

A form is (head, parts): `head` is what is written as it is, with the tag; the values of `parts` are converted. When `head` is None, `parts`
is a value that is stored instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .messages import Form, message_form
from .refusal import ValueRefused

from langchain_core.messages import BaseMessage

FormOf = Callable[[Any], Form]

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
    if issubclass(cls, BaseMessage):
        found = message_form(cls)
        if found is not None:
            return found
    return _refused


def _refused(value: Any) -> Form:
    cls = type(value)
    raise ValueRefused(f"is of type {cls.__module__}.{cls.__qualname__}, which cannot be stored")
