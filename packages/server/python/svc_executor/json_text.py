"""JSON text of values: which values JSON represents exactly, and their text."""

from __future__ import annotations

import json
from typing import Any

import orjson
import ormsgpack

_TEXT = (
    orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_STRICT_INTEGER
)

# ormsgpack is used as a check of types: other than orjson, it can be asked to refuse UUID, Enum and tuples.
_CHECK = (
    ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
)

# In MessagePack: the key "$" of a dict, and the first bytes of NaN, the infinities and the largest floats.
_TAG, _LARGE, _LARGE_NEGATIVE = b"\xa1$", b"\xcb\x7f", b"\xcb\xff"


def _refuse(_: Any) -> Any:
    raise TypeError


def is_plain(value: Any) -> bool:
    """True when JSON represents the value exactly, except for large integers, which `text_of` refuses."""
    try:
        packed = ormsgpack.packb(value, default=_refuse, option=_CHECK)
    except TypeError:
        return False
    return _TAG not in packed and _LARGE not in packed and _LARGE_NEGATIVE not in packed


def text_of(tree: Any) -> bytes:
    """The text of a tree of JSON values. Raises TypeError for integers that JavaScript does not represent."""
    return orjson.dumps(tree, option=_TEXT)


def exact_text_of(tree: Any) -> bytes:
    """Like `text_of`, for what orjson refuses: lone surrogates and more than 254 levels."""
    text = json.dumps(tree, ensure_ascii=True, allow_nan=False, check_circular=False, separators=(",", ":"))
    return text.encode()


def tree_of(text: bytes) -> Any:
    """The tree of a JSON text, which may contain lone surrogates."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)
