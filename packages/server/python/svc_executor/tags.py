"""Reads tagged trees: values that JSON lacks."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from .arrays import ARRAY_READERS
from .engine_objects import ENGINE_READERS
from .forms import Read
from .standard import READERS


class ValueDamaged(ValueError):
    """A stored value cannot be read: an error of the storage, not of the graph."""


TagReader = Callable[[dict[str, Any], Read], Any]


def reader_of(tree: dict[str, Any]) -> TagReader:
    """The function that reads a tagged tree. Messages and objects of a project have their own."""
    tag = tree["$"]
    if tag == "py":
        kind = tree["kind"]
        found = READERS.get(kind) or ARRAY_READERS.get(kind)
        if found is None:
            raise ValueDamaged(f"the kind {kind!r} is unknown")
        return found
    found = _TAGS.get(tag) or ENGINE_READERS.get(tag)
    if found is None:
        raise ValueDamaged(f"the tag {tag!r} is unknown")
    return found


def _read_map(tree: dict[str, Any], value: Read) -> Any:
    """A dict. A Map of JavaScript may have keys that a dict cannot have: it becomes a list of pairs then."""
    pairs = [(value(key), value(part)) for key, part in tree["of"]]
    try:
        return dict(pairs)
    except TypeError:
        return [list(pair) for pair in pairs]


def _read_set(tree: dict[str, Any], value: Read) -> Any:
    """A set. A Set of JavaScript may have elements that a set cannot have: it becomes a list then."""
    elements = value(tree["of"])
    try:
        return set(elements)
    except TypeError:
        return elements


def _read_bytes(tree: dict[str, Any], _: Read) -> bytes | bytearray:
    read = base64.b64decode(tree["of"])
    return bytearray(read) if tree.get("py") == "bytearray" else read


def _read_date(tree: dict[str, Any], _: Read) -> datetime | None:
    """A Date of JavaScript. Those outside of the years 1 to 9999 become None, as invalid ones."""
    if tree["of"] is None:
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=tree["of"])
    except OverflowError:
        return None


def _read_regexp(tree: dict[str, Any], _: Read) -> Any:
    """A RegExp of JavaScript; its source where Python does not understand it."""
    flags = sum(
        flag for letter, flag in (("i", re.I), ("m", re.M), ("s", re.S)) if letter in tree.get("flags", "")
    )
    try:
        return re.compile(tree["of"], flags)
    except re.error:
        return tree["of"]


def _read_number(tree: dict[str, Any], _: Read) -> float:
    return -0.0 if tree["of"] == "-0" else float(tree["of"])


_TAGS: dict[str, TagReader] = {
    "undefined": lambda _tree, _value: None,
    "number": _read_number,
    "bigint": lambda tree, _: int(tree["of"]),
    "map": _read_map,
    "set": _read_set,
    "bytes": _read_bytes,
    "date": _read_date,
    "regexp": _read_regexp,
    "url": lambda tree, _: tree["of"],
    # As the engine stores exceptions: as text.
    "error": lambda tree, _: f"{tree.get('name')}: {tree.get('message')}",
}
