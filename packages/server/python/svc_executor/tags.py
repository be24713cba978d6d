"""Reads tagged trees: values that JSON lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .messages import is_message_tag, read_message

if TYPE_CHECKING:
    from .allowlist import Allowlist


class ValueDamaged(ValueError):
    """A stored value cannot be read: an error of the storage, not of the graph."""


def read_tagged(tree: dict[str, Any], value: Callable[[Any], Any], allowed: Allowlist) -> Any:
    """The value of a tagged tree; `value` reads its parts."""
    tag = tree["$"]
    of = tree.get("of")
    if is_message_tag(tag):
        return read_message(tree, value, allowed)
    if tag == "object":
        return {key: value(part) for key, part in of.items()}
    if tag == "map":
        return {_key(value(key)): value(part) for key, part in of}
    if tag == "bigint":
        return int(of)
    if tag == "number":
        return -0.0 if of == "-0" else float(of)
    if tag == "undefined":
        return None
    raise ValueDamaged(f"the tag {tag!r} is unknown")


def _key(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key
