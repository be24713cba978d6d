"""Errors of graphs, as the Node process reports them."""

from __future__ import annotations

import os
import sysconfig
import traceback
from typing import Any

_OWN = os.path.dirname(os.path.abspath(__file__))
_LIBRARIES = tuple(
    os.path.realpath(path) for key in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_path(key))
)
_FRAMES_MAX = 40


class ProjectMistake(Exception):
    """A mistake in a file of the project. The message says what is wrong and what to do."""


def failure_of(error: BaseException) -> dict[str, Any]:
    """Class, message and stack of an error."""
    first = first_error(error)
    return {"name": type(first).__name__, "message": str(first), "stack": stack_of(first)}


def first_error(error: BaseException) -> BaseException:
    """Of a group of errors, the first one that is no group."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def stack_of(error: BaseException) -> str:
    """The traceback with the lines of the project. The lines of libraries are shown only when there are no others."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_of_project(frame.filename)]
    shown = traceback.StackSummary.from_list((own or list(frames))[-_FRAMES_MAX:])
    lines = ["Traceback (most recent call last):\n", *shown.format(), *traceback.format_exception_only(error)]
    cause = error.__cause__
    if cause is not None:
        lines.append(f"caused by {type(cause).__name__}: {cause}\n")
    return "".join(lines).rstrip()


def is_of_project(file: str) -> bool:
    """True for files that are neither of svc nor of an installed package."""
    if file.startswith(("<", _OWN)):
        return False
    # A module of the standard library may be a link to a file elsewhere.
    return not any(
        path.startswith(_LIBRARIES) or "site-packages" in path or "dist-packages" in path
        for path in (file, os.path.realpath(file))
    )


def place_of(error: BaseException) -> str | None:
    """`file:line` of the project's line that has raised the error."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_of_project(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None


