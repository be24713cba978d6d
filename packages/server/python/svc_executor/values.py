"""Converts values of channels to text and back.

The text is JSON. An object with the key "$" stands for a value that JSON lacks: "$" is its tag, the other keys are its parts. A dict of
the user with that key is wrapped: {"$":"object","of":{…}}. Tags of JavaScript values are read as well, and messages are stored as
JavaScript graphs store them, so graphs of both languages can continue the same thread. What only Python has is
{"$":"py","kind":…,"of":…}, where "of" is the value as plain data.

Where values are read for clients without Python: src/engine/codec/wire.ts and python-wire.ts.
"""

from __future__ import annotations

import math
from typing import Any

from .allowlist import Allowlist
from .classes import OBJECT_KINDS, read_object
from .json_text import exact_text_of, is_plain, text_of, tree_of
from .kinds import form_of
from .messages import is_message_tag, read_message
from .refusal import Step, ValueRefused
from .tags import ValueDamaged, reader_of

DEPTH_MAX = 400
"""Levels of a value. Each costs a frame of Python's stack, which has 1000."""

BYTES_MAX = 50 * 1024 * 1024
"""Bytes of the text of one value, or of one element of a list."""

_INTEGER_MAX = 2**53 - 1
_CHECKED_LEVELS = 3
_FORM = Step()


def encode(value: Any) -> bytes:
    """The text of a value. Raises ValueRefused with the path of a part that cannot be stored."""
    text = _encode(value)
    if len(text) > BYTES_MAX:
        raise ValueRefused(
            f"has {len(text) / 1_000_000:.0f} MB, and at most {BYTES_MAX // (1024 * 1024)} MB can be stored. "
            "Keep large data outside of the state, and store a reference to it"
        )
    return text


def _encode(value: Any) -> bytes:
    try:
        return text_of(_Encoder(_CHECKED_LEVELS).tree(value, 0))
    except (TypeError, RecursionError):
        # Large integers, bytes, lone surrogates or many levels inside of what `is_plain` has accepted.
        pass
    try:
        return exact_text_of(_Encoder(0).tree(value, 0))
    except RecursionError:
        raise ValueRefused("has too many levels to be stored") from None


def decode(text: bytes, allowed: Allowlist) -> Any:
    """The value of a text. Objects of classes that are not allowed, or no longer exist, become plain data."""
    tree = tree_of(text)
    if b'"$"' not in text:
        return tree
    try:
        return _Decoder(allowed).value(tree)
    except RecursionError:
        raise ValueDamaged("it has more levels than Python can read") from None


class _Decoder:
    """Converts a tree to its value."""

    def __init__(self, allowed: Allowlist) -> None:
        self._allowed = allowed

    def value(self, tree: Any) -> Any:
        """The value of a tree. Lists and dicts of the tree become parts of the value."""
        cls = type(tree)
        if cls is list:
            for index, part in enumerate(tree):
                if type(part) is dict or type(part) is list:
                    tree[index] = self.value(part)
            return tree
        if cls is not dict:
            return tree
        if "$" in tree:
            # Called here and not in further functions, because each call costs a frame of the stack.
            tag = tree["$"]
            if tag == "py" and tree.get("kind") in OBJECT_KINDS:
                return read_object(tree, self.value, self._allowed)
            if is_message_tag(tag):
                return read_message(tree, self.value, self._allowed)
            if tag != "object":
                return reader_of(tree)(tree, self.value)
            tree = tree["of"]
        for key, part in tree.items():
            if type(part) is dict or type(part) is list:
                tree[key] = self.value(part)
        return tree


class _Encoder:
    """Converts a value to a tree of JSON values. Parts that are plain JSON are returned and not copied."""

    def __init__(self, checked_levels: int) -> None:
        self._checked_levels = checked_levels
        self._open: list[int] = []

    def tree(self, value: Any, level: int) -> Any:
        cls = type(value)
        if cls is str or cls is bool or value is None:
            return value
        if cls is int:
            return value if -_INTEGER_MAX <= value <= _INTEGER_MAX else {"$": "bigint", "of": _digits(value)}
        if cls is float:
            return value if math.isfinite(value) else {"$": "number", "of": _number_text(value)}
        is_checked = level < self._checked_levels
        if is_checked and (cls is dict or cls is list) and is_plain(value):
            return value
        if level >= DEPTH_MAX:
            raise self._too_deep()
        self._open.append(id(value))
        key: Any = None
        try:
            # In one function, because each call costs a frame of the stack.
            if cls is list:
                trees: list[Any] = []
                for part in value:
                    key = len(trees)
                    trees.append(self.tree(part, level + 1))
                tree: Any = trees
            elif cls is dict and all(type(name) is str for name in value):
                members: dict[str, Any] = {}
                for key, part in value.items():
                    members[key] = self.tree(part, level + 1)
                tree = {"$": "object", "of": members} if "$" in members else members
            elif cls is dict:
                pairs: list[Any] = []
                for key, part in value.items():
                    pairs.append([self.tree(key, level + 1), self.tree(part, level + 1)])
                tree = {"$": "map", "py": 1, "of": pairs}
            else:
                key = _FORM
                head, parts = form_of(cls)(value)
                if head is None:
                    tree = self.tree(parts, level + 1)
                else:
                    tree = {**head, **parts}
                    if not (is_checked and is_plain(parts)):
                        for name, part in parts.items():
                            key = _FORM if name == "of" else name
                            tree[name] = self.tree(part, level + 1)
        except ValueRefused as refused:
            # A form that refuses its object adds no key.
            raise refused.within(key) from None
        self._open.pop()
        return tree

    def _too_deep(self) -> ValueRefused:
        first_levels: dict[int, int] = {}
        for level, identity in enumerate(self._open):
            if identity in first_levels:
                return ValueRefused("a cycle cannot be stored", (first_levels[identity], level))
            first_levels[identity] = level
        return ValueRefused(f"is nested more than {DEPTH_MAX} levels deep")


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        raise ValueRefused("is an integer with too many digits to be stored") from None


def _number_text(value: float) -> str:
    if value != value:
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
