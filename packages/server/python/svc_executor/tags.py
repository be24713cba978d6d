"""Reads tagged trees: values that JSON lacks."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from .arrays import ARRAY_READERS
from .classes import OBJECT_KINDS, read_object, read_secret
from .engine_objects import read_engine_object
from .forms import Read
from .messages import is_message_tag, read_message
from .standard import READERS

if TYPE_CHECKING:
    from .allowlist import Allowlist


class ValueDamaged(ValueError):
    """A stored value cannot be read: an error of the storage, not of the graph."""


def read_tagged(tree: dict[str, Any], value: Read, allowed: Allowlist) -> Any:
    """The value of a tagged tree; `value` reads its parts."""
    tag = tree["$"]
    if tag == "py":
        return _read_python(tree, value, allowed)
    if is_message_tag(tag):
        return read_message(tree, value, allowed)
    reader = _TAGS.get(tag)
    if reader is not None:
        return reader(tree, value)
    found = read_engine_object(tree, value)
    if found is None:
        raise ValueDamaged(f"the tag {tag!r} is unknown")
    return found


def _read_python(tree: dict[str, Any], value: Read, allowed: Allowlist) -> Any:
    kind = tree["kind"]
    if kind in OBJECT_KINDS:
        return read_object(tree, value, allowed)
    reader = READERS.get(kind) or ARRAY_READERS.get(kind)
    if reader is not None:
        return reader(tree, value)
    if kind == "secret":
        return read_secret(tree, value)
    raise ValueDamaged(f"the kind {kind!r} is unknown")


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


_TAGS: dict[str, Callable[[dict[str, Any], Read], Any]] = {
    "object": lambda tree, value: {key: value(part) for key, part in tree["of"].items()},
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
