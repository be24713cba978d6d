"""Frames between the Node process and this process. The format and the kinds: src/engine/python/frames.ts."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from typing import Any

try:
    import orjson
except ImportError:  # an environment without langgraph, which the setup reports
    orjson = None  # type: ignore[assignment]

PROTOCOL_VERSION = 3

FRAME_BYTES_MAX = 512 * 1024 * 1024

Header = dict[str, Any]
Frame = tuple[Header, list[bytes]]

_OPTIONS = (
    0 if orjson is None else orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)

_LENGTH = struct.Struct("<I")
_LENGTHS = struct.Struct("<II")


class BrokenFrame(ValueError):
    """The bytes are not frames, so the bytes that follow cannot be decoded either."""


class FrameTooLarge(ValueError):
    """A frame has more bytes than the other side takes."""


def encode_frame(header: Header, parts: Sequence[bytes] = ()) -> list[bytes]:
    """The pieces of a frame, in order. Raises FrameTooLarge."""
    if parts:
        header = {**header, "parts": [len(part) for part in parts]}
    head = _text(header)
    total = _LENGTH.size + len(head) + sum(map(len, parts))
    if total > FRAME_BYTES_MAX:
        raise FrameTooLarge(f"a frame of {total} bytes, at most {FRAME_BYTES_MAX}")
    return [_LENGTHS.pack(total, len(head)), head, *parts]


def _text(header: Header) -> bytes:
    if orjson is not None:
        try:
            return orjson.dumps(header, default=_plain, option=_OPTIONS)
        except TypeError:  # lone surrogates, integers of more than 64 bits, keys that are no text
            pass
    try:
        return _dump(header)
    except (ValueError, TypeError):
        return _dump(_representable(header))


def _plain(value: Any) -> Any:
    """Of what JSON lacks, its text: fields that come from a graph, such as metadata, may hold anything. orjson lacks named tuples."""
    return list(value) if isinstance(value, tuple) else str(value)


def _dump(header: Header) -> bytes:
    return json.dumps(header, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=_plain).encode()


def _representable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _representable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_representable(part) for part in value]
    return value


class FrameDecoder:
    """Decodes bytes as they arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def push(self, data: bytes) -> list[Frame]:
        """The frames that are complete. Raises BrokenFrame."""
        held = self._bytes
        held += data
        frames: list[Frame] = []
        at = 0
        while len(held) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(held, at)
            if length > FRAME_BYTES_MAX or length < _LENGTH.size:
                raise BrokenFrame(f"a frame of {length} bytes")
            start, end = at + _LENGTH.size, at + _LENGTH.size + length
            if end > len(held):
                break
            frames.append(_decode(held, start, end))
            at = end
        if at:
            del held[:at]
        return frames


def _decode(held: bytearray, start: int, end: int) -> Frame:
    (head_bytes,) = _LENGTH.unpack_from(held, start)
    at = start + _LENGTH.size + head_bytes
    if at > end:
        raise BrokenFrame("a header that is longer than its frame")
    header = _header_of(held[start + _LENGTH.size : at])
    if type(header) is not dict or type(header.get("kind")) is not str:
        raise BrokenFrame("a header without a kind")
    parts: list[bytes] = []
    for size in header.pop("parts", ()):
        parts.append(bytes(held[at : at + size]))
        at += size
    if at != end:
        raise BrokenFrame("parts that do not fill their frame")
    return header, parts


def _header_of(text: bytearray) -> Any:
    if orjson is not None:
        try:
            return orjson.loads(text)
        except ValueError:  # perhaps only lone surrogates
            pass
    try:
        return json.loads(text)
    except ValueError as error:
        raise BrokenFrame("a header that is not JSON") from error
