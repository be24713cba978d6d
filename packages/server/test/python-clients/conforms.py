"""Compares a JSON value with a type of the SDK: the keys of TypedDicts above all."""

import datetime
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NotRequired, Required, Union

import typing_extensions

# docs/compatibility.md, "States": a checkpoint has no map of the checkpoints above it.
ABSENT = {("Checkpoint", "checkpoint_map")}


def differences(value: Any, wanted: Any, where: str) -> Iterator[str]:
    """Yields a sentence for each part of the value that does not have the type. What the SDK does not describe has every type."""
    origin = typing.get_origin(wanted)
    arguments = typing.get_args(wanted)
    if origin in (Required, NotRequired, typing.Annotated):
        yield from differences(value, arguments[0], where)
    elif typing_extensions.is_typeddict(wanted):
        yield from keys_and_values(value, wanted, where)
    elif origin in (Union, types.UnionType):
        if not any(not list(differences(value, one, where)) for one in arguments):
            yield from min((list(differences(value, one, where)) for one in arguments), key=len)
    elif origin is Literal:
        if value not in arguments:
            yield f"{where}: {value!r} is none of {arguments}"
    elif origin in (list, Sequence):
        if not isinstance(value, list):
            yield f"{where}: {value!r} is no list"
        else:
            for number, item in enumerate(value):
                yield from differences(item, arguments[0], f"{where}[{number}]")
    elif origin in (dict, Mapping):
        if not isinstance(value, dict):
            yield f"{where}: {value!r} is no object"
        else:
            for key, item in value.items():
                yield from differences(item, arguments[1], f"{where}.{key}")
    elif wanted is datetime.datetime:
        try:
            datetime.datetime.fromisoformat(value)
        except (TypeError, ValueError):
            yield f"{where}: {value!r} is no time"
    elif isinstance(wanted, type) and not is_open(wanted) and not isinstance(value, wanted):
        yield f"{where}: {value!r} is no {wanted.__name__}"


def is_open(wanted: type) -> bool:
    """Any value, or a protocol of Python objects."""
    return wanted is Any or getattr(wanted, "_is_protocol", False)


def keys_and_values(value: Any, wanted: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where}: {value!r} is no object"
        return
    hints = typing_extensions.get_type_hints(wanted, include_extras=True)
    for key, kind in hints.items():
        if key in value:
            yield from differences(value[key], kind, f"{where}.{key}")
        elif key in required(wanted, hints) and (wanted.__name__, key) not in ABSENT:
            yield f"{where}: {wanted.__name__} needs the key {key}"


def required(wanted: Any, hints: Mapping[str, Any]) -> set[str]:
    """Annotations that are text hide NotRequired from __required_keys__."""
    return {key for key in wanted.__required_keys__ if typing.get_origin(hints[key]) is not NotRequired}
