"""The request that `authenticate` may ask for by the names of its parameters. It has no body: a caller is authenticated before it is read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .failures import ProjectMistake

PARAMETERS = (
    "request",
    "path",
    "method",
    "path_params",
    "query_params",
    "headers",
    "authorization",
    "scopes",
    "scope",
    "user",
)


class UnsupportedParameter(ProjectMistake):
    """`authenticate` requires a parameter that it is never called with."""


def parameter_names(function: Callable[..., Any], resolved: frozenset[str] = frozenset()) -> frozenset[str]:
    """The parameters to pass, besides those that are resolved. Raises UnsupportedParameter."""
    parameters = inspect.signature(function).parameters
    named = {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) and name not in resolved
    }
    unknown = [name for name, each in named.items() if name not in PARAMETERS and each.default is each.empty]
    if unknown:
        raise UnsupportedParameter(
            f"authenticate has parameters that svc does not pass: {', '.join(unknown)}. It may have {', '.join(PARAMETERS)}."
        )
    return frozenset(name for name in named if name in PARAMETERS)


def arguments_of(scope: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The arguments with these names for the ASGI scope of a request."""
    headers = dict(scope["headers"])
    makers: dict[str, Callable[[], Any]] = {
        "request": lambda: _request_of(scope),
        "path": lambda: scope["path"],
        "method": lambda: scope["method"],
        "path_params": lambda: scope["path_params"],
        "query_params": lambda: _query_of(scope),
        "headers": lambda: headers,
        "authorization": lambda: _text(headers.get(b"authorization")),
        "scopes": lambda: [],
        "scope": lambda: scope,
        "user": lambda: None,
    }
    return {name: makers[name]() for name in names}


def _request_of(scope: dict[str, Any]) -> Any:
    try:
        from starlette.requests import Request
    except ImportError:
        raise RuntimeError(
            "authenticate has the parameter request, whose class is in starlette, which is not installed: "
            "install it, or use headers, path, method and query_params"
        ) from None
    return Request(scope)


def _query_of(scope: dict[str, Any]) -> Any:
    try:
        from starlette.datastructures import QueryParams
    except ImportError:
        from urllib.parse import parse_qsl

        return dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    return QueryParams(scope["query_string"])


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")
