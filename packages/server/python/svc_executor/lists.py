"""The values that a run exchanges with its host. An element of a list is sent once, as long as it does not change.

Both sides number the elements of lists. A value is described by one of:
  {"t": part}                                       a text
  {"l": [shared, handles], "n": [[handle, part]]}   a list: the first `shared` elements of the last list of this key, then these elements;
                                                    the texts of the elements that are new
`part` is an index into the parts of the frame. "reset": true says that the host has to drop all elements and lists first.
Frames have to be sent in the order in which their values were described.
The host numbers its elements below zero; what it sends is {"t": part} or {"l": [[handle, part]]}.
"""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b
from typing import Any

import ormsgpack
from langchain_core.messages import BaseMessage

from .allowlist import Allowlist
from .refusal import ValueRefused
from .values import decode, encode

Spec = dict[str, Any]

ELEMENTS_MAX = 20_000
"""Elements that are remembered. Each keeps its object in memory until the run ends."""

_SCALARS = (str, int, float, bool, type(None))


class RunValues:
    """What both sides of a run know of its lists."""

    def __init__(self, allowed: Allowlist, elements_max: int = ELEMENTS_MAX) -> None:
        self._allowed = allowed
        self._elements_max = elements_max
        self._known: dict[int, _Element] = {}
        self._lists: dict[Hashable, list[int]] = {}
        self._count = 0

    def describe(self, key: Hashable, value: Any, parts: list[bytes]) -> Spec:
        """Describes a value, and adds the texts that the host lacks to `parts`. `key` names the channel, with its namespace.

        Raises ValueRefused and changes nothing when an element cannot be stored.
        """
        if type(value) is not list or all(type(element) in _SCALARS for element in value):
            parts.append(encode(value))
            return {"t": len(parts) - 1}
        is_full = len(self._known) > self._elements_max
        known = {} if is_full else self._known
        handles: list[int] = []
        added: list[tuple[_Element, bytes]] = []
        count = self._count
        for index, part in enumerate(value):
            element = known.get(id(part))
            if element is not None and element.has_same_fields():
                handles.append(element.handle)
                continue
            text = _encoded(part, index)
            if element is not None and element.has_same_text(text):
                handles.append(element.handle)
                continue
            handles.append(count)
            added.append((_Element(count, part, text), text))
            count += 1
        return self._record(key, handles, added, parts, is_full)

    def _record(
        self, key: Hashable, handles: list[int], added: list[tuple[_Element, bytes]], parts: list[bytes], is_full: bool
    ) -> Spec:
        if is_full:
            self._known.clear()
            self._lists.clear()
        new: list[list[int]] = []
        for element, text in added:
            parts.append(text)
            new.append([element.handle, len(parts) - 1])
            self._remember(element)
        self._count += len(added)
        shared = _shared(self._lists.get(key, ()), handles)
        self._lists[key] = handles
        spec: Spec = {"l": [shared, handles[shared:]], "n": new}
        return {**spec, "reset": True} if is_full else spec

    def read(self, key: Hashable, spec: Spec, parts: list[bytes]) -> Any:
        """The value that the host describes."""
        if "t" in spec:
            return decode(parts[spec["t"]], self._allowed)
        values: list[Any] = []
        for handle, part in spec["l"]:
            text = parts[part]
            value = decode(text, self._allowed)
            values.append(value)
            self._remember(_Element(handle, value, text))
        self._lists[key] = [handle for handle, _ in spec["l"]]
        return values

    def _remember(self, element: _Element) -> None:
        if type(element.value) not in _SCALARS:
            self._known[id(element.value)] = element


def _encoded(value: Any, index: int) -> bytes:
    try:
        return encode(value)
    except ValueRefused as refused:
        raise refused.within(index) from None


def _shared(last: Any, handles: list[int]) -> int:
    shared = 0
    for before, now in zip(last, handles, strict=False):
        if before != now:
            break
        shared += 1
    return shared


class _Element:
    """An element that the host has, and what shows later that it was changed."""

    __slots__ = ("handle", "value", "_fields", "_containers", "_packed", "_digest")

    def __init__(self, handle: int, value: Any, text: bytes) -> None:
        self.handle = handle
        self.value = value
        self._fields: dict[str, Any] | None = None
        self._containers: list[Any] = []
        self._packed = b""
        self._digest = b""
        if not (isinstance(value, BaseMessage) and self._keep(value)):
            self._digest = _digest(text)

    def _keep(self, message: BaseMessage) -> bool:
        """Keeps the fields of a message, and the bytes of those that may be changed in place. False when these have more than plain data."""
        fields = message.__dict__.copy()
        for part in fields.values():
            if type(part) is dict or type(part) is list:
                self._containers.append(part)
            elif type(part) not in _SCALARS:
                return False
        self._containers.append(message.__pydantic_extra__)
        try:
            self._packed = ormsgpack.packb(self._containers, default=_refuse, option=_EXACT)
        except TypeError:
            return False
        self._fields = fields
        return True

    def has_same_fields(self) -> bool:
        """True when a message has not changed, without its text. False for what is not known to be the same."""
        if self._fields is None or self.value.__pydantic_extra__ is not self._containers[-1]:
            return False
        try:
            if self.value.__dict__ != self._fields:
                return False
            return ormsgpack.packb(self._containers, default=_refuse, option=_EXACT) == self._packed
        except (TypeError, ValueError):  # no plain data any more, or an array, which cannot be compared
            return False

    def has_same_text(self, text: bytes) -> bool:
        """True when the text is the one that the host has."""
        return self._fields is None and _digest(text) == self._digest


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


def _refuse(_: Any) -> Any:
    raise TypeError


_EXACT = (
    ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
)
