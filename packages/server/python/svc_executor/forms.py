"""What a stored form is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Form = tuple[dict[str, Any] | None, Any]
"""(head, parts): `head` is written as it is, with the tag; the values of `parts` are converted. Without a head, the value `parts` is
stored instead. The plain data of an object is in "of": clients and JavaScript graphs get it."""

FormOf = Callable[[Any], Form]

Read = Callable[[Any], Any]
"""Converts a part of a stored form to its value."""


def py_head(kind: str, **more: Any) -> dict[str, Any]:
    """The head of a value that only Python has."""
    return {"$": "py", "kind": kind, **more}
