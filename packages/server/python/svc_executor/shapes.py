"""The shape of a chunk: what the Node process reads of it without parsing its values.

    shape := index of a part
           | {"s": scalar} | {"j": JSON}
           | {"o": [[key, shape], …]} | {"a": [shape, …]}
           | {"v": [key, spec]}          a value of a channel (lists.py)
           | {"m": number, "of": part}   metadata of a message: `of` only the first time
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from langgraph.types import Interrupt

from .parts import Parts

Shape = int | dict[str, Any]

_SCALARS = (str, bool, type(None))
_TEXT_MAX = 200


def shape_of(value: Any, parts: Parts, name: str, depth: int) -> Shape:
    """The shape of a value: dicts and lists up to a depth, and the parts below."""
    cls = type(value)
    if cls in _SCALARS and (cls is not str or len(value) <= _TEXT_MAX):
        return {"s": value}
    if depth > 0 and isinstance(value, dict) and all(type(key) is str for key in value):
        return {"o": [[key, _member(key, part, parts, f"{name}.{key}", depth - 1)] for key, part in value.items()]}
    if cls is Interrupt:
        return interrupt_shape(value, parts, name)
    return parts.value(value, name)


def _member(key: str, value: Any, parts: Parts, name: str, depth: int) -> Shape:
    if key == "__interrupt__" or key == "interrupts":
        return interrupts_shape(value, parts, name)
    if key == "__metadata__":
        return shape_of(value, parts, name, 2)
    return shape_of(value, parts, name, depth)


def interrupts_shape(value: Any, parts: Parts, name: str) -> Shape:
    """The shape of interrupts: a list, one of them, or the dicts that the engine makes of them for streams."""
    if isinstance(value, Interrupt):
        value = [value]
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return parts.value(value, name)
    return {"a": [interrupt_shape(one, parts, f"{name}[{at}]") for at, one in enumerate(value)]}


def interrupt_shape(value: Any, parts: Parts, name: str) -> Shape:
    """The shape of an interrupt. Its id is read by the Node process."""
    if isinstance(value, Interrupt):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value.get("response_schema"), type):
        value = {**value, "response_schema": _json_schema(value["response_schema"])}
    return shape_of(value, parts, name, 1)


def _json_schema(schema: type[Any]) -> Any:
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(schema).json_schema()
    except Exception:  # a type without a JSON Schema
        return None
