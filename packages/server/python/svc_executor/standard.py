"""Values of the standard library. Their objects are created by functions of this file, never by a class that is named in the stored form."""

from __future__ import annotations

import base64
import decimal
import ipaddress
import pathlib
import re
import uuid
from collections import deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import SecretBytes, SecretStr

from .forms import Form, FormOf, Read, py_head

_EXPONENT_MAX = 308
_EXCEPTION_CHARS_MAX = 8_000


def _list_form(kind: str) -> FormOf:
    return lambda value: (py_head(kind), {"of": list(value)})


def _text_form(kind: str, text: Callable[[Any], str] = str) -> FormOf:
    return lambda value: (py_head(kind, of=text(value)), {})


def _bytes_form(value: bytes | bytearray) -> Form:
    more = {"py": "bytearray"} if isinstance(value, bytearray) else {}
    return {"$": "bytes", "kind": "Uint8Array", **more, "of": base64.b64encode(value).decode()}, {}


def _set_form(value: set[Any]) -> Form:
    return {"$": "set", "py": 1}, {"of": list(value)}


def _deque_form(value: deque[Any]) -> Form:
    more = {} if value.maxlen is None else {"maxlen": value.maxlen}
    return py_head("deque", **more), {"of": list(value)}


def _zoned_form(kind: str) -> FormOf:
    def form(value: Any) -> Form:
        head = py_head(kind, of=value.isoformat())
        if isinstance(value.tzinfo, ZoneInfo) and value.tzinfo.key is not None:
            head["zone"] = value.tzinfo.key
        if value.fold:
            head["fold"] = value.fold
        return head, {}

    return form


def _timedelta_form(value: timedelta) -> Form:
    return py_head("timedelta", of=value.total_seconds(), parts=[value.days, value.seconds, value.microseconds]), {}


def _timezone_form(value: timezone) -> Form:
    name = value.tzname(None)
    offset = value.utcoffset(None)
    more = {} if timezone(offset).tzname(None) == name else {"name": name}
    return py_head("timezone", of=name, seconds=offset.total_seconds(), **more), {}


def _decimal_form(value: decimal.Decimal) -> Form:
    head = py_head("decimal", text=str(value))
    exponent = value.as_tuple().exponent
    if isinstance(exponent, str):
        return head, {"of": float("nan")} if value.is_nan() else {"of": float(value)}
    if abs(exponent) > _EXPONENT_MAX:
        return {**head, "of": str(value)}, {}
    return head, {"of": int(value) if exponent >= 0 else float(value)}


def _regex_form(value: re.Pattern[Any]) -> Form:
    return py_head("regex", flags=value.flags), {"of": value.pattern}


def _zone_form(value: ZoneInfo) -> Form:
    # The stock server prints null.
    return py_head("zoneinfo", of=value.key, json=None), {}


def _path_form(value: pathlib.PurePath) -> Form:
    is_pure = not isinstance(value, pathlib.Path)
    is_windows = isinstance(value, pathlib.PureWindowsPath)
    more = {"pure": "windows" if is_windows else "posix"} if is_pure else {}
    return py_head("path", of=str(value), **more), {}


def _exception_form(value: BaseException) -> Form:
    """Exceptions are stored as text, as the engine stores them."""
    try:
        text = repr(value)
    except Exception:
        text = f"{type(value).__name__}(…)"
    return None, text[:_EXCEPTION_CHARS_MAX]


_IP_CLASSES: dict[str, Callable[[str], Any]] = {
    "IPv4Address": ipaddress.IPv4Address,
    "IPv4Interface": ipaddress.IPv4Interface,
    "IPv4Network": ipaddress.IPv4Network,
    "IPv6Address": ipaddress.IPv6Address,
    "IPv6Interface": ipaddress.IPv6Interface,
    "IPv6Network": ipaddress.IPv6Network,
}


def _ip_form(name: str) -> FormOf:
    return lambda value: (py_head("ip", name=name, of=str(value)), {})


# The first class that a value is an instance of counts: a datetime is a date, an IPv4Interface is an IPv4Address.
_FORMS: list[tuple[type[Any], FormOf]] = [
    (tuple, _list_form("tuple")),
    (frozenset, _list_form("frozenset")),
    (set, _set_form),
    (deque, _deque_form),
    (bytes, _bytes_form),
    (bytearray, _bytes_form),
    (memoryview, lambda value: (None, value.tobytes())),
    (datetime, _zoned_form("datetime")),
    (date, _text_form("date", lambda value: value.isoformat())),
    (time, _zoned_form("time")),
    (timedelta, _timedelta_form),
    (timezone, _timezone_form),
    (ZoneInfo, _zone_form),
    (uuid.UUID, _text_form("uuid")),
    (decimal.Decimal, _decimal_form),
    (pathlib.PurePath, _path_form),
    (re.Pattern, _regex_form),
    (BaseException, _exception_form),
    *((getattr(ipaddress, name), _ip_form(name)) for name in ("IPv4Interface", "IPv6Interface")),
    *((getattr(ipaddress, name), _ip_form(name)) for name in _IP_CLASSES if not name.endswith("Interface")),
    # Subclasses of builtin types become these, as in the engine: OrderedDict, Counter, texts with methods.
    (str, lambda value: (None, str.__str__(value))),
    (int, lambda value: (None, int(value))),
    (float, lambda value: (None, float.__float__(value))),
    (list, lambda value: (None, list(value))),
    (dict, lambda value: (None, dict(value))),
    (complex, lambda value: (py_head("complex"), {"of": [value.real, value.imag]})),
]


def standard_form(cls: type[Any]) -> FormOf | None:
    """The form of a class of the standard library, or of a subclass of one."""
    return next((form for known, form in _FORMS if issubclass(cls, known)), None)


_SECRETS: dict[str, Callable[[Any], Any]] = {"SecretStr": SecretStr, "SecretBytes": SecretBytes}


def _read_datetime(tree: dict[str, Any], _: Read) -> datetime:
    value = datetime.fromisoformat(tree["of"])
    if "zone" in tree:
        value = value.replace(tzinfo=ZoneInfo(tree["zone"]))
    return value.replace(fold=1) if tree.get("fold") else value


def _read_time(tree: dict[str, Any], _: Read) -> time:
    value = time.fromisoformat(tree["of"])
    if "zone" in tree:
        value = value.replace(tzinfo=ZoneInfo(tree["zone"]))
    return value.replace(fold=1) if tree.get("fold") else value


def _read_timezone(tree: dict[str, Any], _: Read) -> timezone:
    offset = timedelta(seconds=tree["seconds"])
    return timezone(offset, tree["name"]) if "name" in tree else timezone(offset)


def _read_path(tree: dict[str, Any], _: Read) -> pathlib.PurePath:
    match tree.get("pure"):
        case "posix":
            return pathlib.PurePosixPath(tree["of"])
        case "windows":
            return pathlib.PureWindowsPath(tree["of"])
        case _:
            return pathlib.Path(tree["of"])


READERS: dict[str, Callable[[dict[str, Any], Read], Any]] = {
    "tuple": lambda tree, value: tuple(value(tree["of"])),
    "frozenset": lambda tree, value: frozenset(value(tree["of"])),
    "deque": lambda tree, value: deque(value(tree["of"]), tree.get("maxlen")),
    "datetime": _read_datetime,
    "date": lambda tree, _: date.fromisoformat(tree["of"]),
    "time": _read_time,
    "timedelta": lambda tree, _: timedelta(*tree["parts"]),
    "timezone": _read_timezone,
    "zoneinfo": lambda tree, _: ZoneInfo(tree["of"]),
    "uuid": lambda tree, _: uuid.UUID(tree["of"]),
    "decimal": lambda tree, _: decimal.Decimal(tree["text"]),
    "path": _read_path,
    "regex": lambda tree, value: re.compile(value(tree["of"]), tree["flags"]),
    "ip": lambda tree, _: _IP_CLASSES[tree["name"]](tree["of"]),
    "complex": lambda tree, value: complex(*value(tree["of"])),
    "secret": lambda tree, value: _SECRETS[tree["name"]](value(tree["of"])),
}
"""By kind: reads a value of the tag "py"."""
