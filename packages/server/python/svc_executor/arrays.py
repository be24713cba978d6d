"""Arrays and scalars of numpy, tables and series of pandas. The libraries are used where the project has loaded them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .forms import Form, FormOf, Read, py_head
from .refusal import ValueRefused

# Booleans, integers, floats of at most 64 bits, texts and bytes: what lists of Python represent exactly.
_KINDS = "biufUS"
_FLOAT_BYTES_MAX = 8


def array_form(cls: type[Any]) -> FormOf | None:
    """The form of a class of numpy or pandas; None for other classes."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if issubclass(cls, numpy.ndarray):
            return _array_form
        if issubclass(cls, numpy.generic):
            return _scalar_form
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if issubclass(cls, pandas.DataFrame):
            return _frame_form
        if issubclass(cls, pandas.Series):
            return _series_form
        if cls is type(pandas.NaT) or cls is type(pandas.NA):
            return lambda _: (None, None)
    return None


def _array_form(array: Any) -> Form:
    dtype = array.dtype
    head = py_head("ndarray", dtype=dtype.str, shape=list(array.shape))
    if dtype.kind in "mM":
        # Dates as text, as clients get them; durations as numbers.
        return head, {"of": (array.astype("int64") if dtype.kind == "m" else array.astype("U")).tolist()}
    if dtype.kind == "c":
        return head, {"of": [[part.real, part.imag] for part in array.ravel().tolist()]}
    if dtype.kind not in _KINDS or (dtype.kind == "f" and dtype.itemsize > _FLOAT_BYTES_MAX):
        raise ValueRefused(f"is an array of {dtype}, which cannot be stored")
    if dtype.kind == "f" and dtype.itemsize < _FLOAT_BYTES_MAX:
        # The shortest number that is the same in this precision: 0.1 and not 0.10000000149011612.
        return head, {"of": array.astype("U").astype("f8").tolist()}
    return head, {"of": array.tolist()}


def _read_array(tree: dict[str, Any], value: Read) -> Any:
    import numpy

    of = value(tree["of"])
    dtype = numpy.dtype(tree["dtype"])
    if dtype.kind == "c":
        of = [complex(*pair) for pair in of]
    if dtype.kind == "m":
        return numpy.array(of, dtype="int64").astype(dtype).reshape(tree["shape"])
    return numpy.array(of, dtype=dtype).reshape(tree["shape"])


def _scalar_form(scalar: Any) -> Form:
    import numpy

    head, parts = _array_form(numpy.asarray(scalar))
    return {**(head or {}), "kind": "numpy"}, parts


def _read_scalar(tree: dict[str, Any], value: Read) -> Any:
    return _read_array(tree, value)[()]


def _column(series: Any) -> dict[str, Any]:
    import numpy

    dtype = series.dtype
    if not isinstance(dtype, numpy.dtype) and not str(dtype).startswith(_EXTENSIONS):
        raise ValueRefused(f"has the type {dtype}, which cannot be stored")
    if dtype.kind in "mM":
        return {"dtype": str(dtype), "of": series.to_numpy()}
    return {"dtype": str(dtype), "of": series.tolist()}


# Types of pandas whose values are texts and numbers, or missing.
_EXTENSIONS = ("str", "string", "boolean", "Int", "UInt", "Float")


def _index(index: Any) -> Any:
    import pandas

    if index.nlevels > 1:
        raise ValueRefused("has an index of several levels, which cannot be stored")
    if isinstance(index, pandas.RangeIndex):
        return {"range": [index.start, index.stop, index.step]}
    return index.tolist()


def _read_index(stored: Any) -> Any:
    import pandas

    return pandas.RangeIndex(*stored["range"]) if isinstance(stored, dict) else pandas.Index(stored)


def _frame_form(frame: Any) -> Form:
    columns = [_column(frame.iloc[:, at]) for at in range(frame.shape[1])]
    of = {"columns": _index(frame.columns), "index": _index(frame.index), "data": columns}
    return py_head("dataframe"), {"of": of}


def _read_frame(tree: dict[str, Any], value: Read) -> Any:
    import pandas

    of = value(tree["of"])
    index = _read_index(of["index"])
    columns = [pandas.Series(part["of"], index=index, dtype=part["dtype"]) for part in of["data"]]
    frame = pandas.concat(columns, axis=1) if columns else pandas.DataFrame(index=index)
    frame.columns = _read_index(of["columns"])
    return frame


def _series_form(series: Any) -> Form:
    of = {"name": series.name, "index": _index(series.index), **_column(series)}
    return py_head("series"), {"of": of}


def _read_series(tree: dict[str, Any], value: Read) -> Any:
    import pandas

    of = value(tree["of"])
    return pandas.Series(of["of"], index=_read_index(of["index"]), dtype=of["dtype"], name=of["name"])


ARRAY_READERS: dict[str, Callable[[dict[str, Any], Read], Any]] = {
    "ndarray": _read_array,
    "numpy": _read_scalar,
    "dataframe": _read_frame,
    "series": _read_series,
}
"""By kind: reads an array, a scalar or a table."""
