"""Parameters of `authenticate` that FastAPI resolves: `token: Annotated[str, Depends(oauth2_scheme)]`."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

Scope = dict[str, Any]

_RESOLVED = "svc.resolved"


class InvalidRequest(Exception):
    """The request lacks what a dependency requires, such as a header."""


class Dependencies:
    """Resolves parameters for a request, as a route of FastAPI does."""

    def __init__(self, parameters: dict[str, inspect.Parameter]) -> None:
        self.names = frozenset(parameters)
        self._route = _route_with(parameters) if parameters else None

    async def resolve(self, scope: Scope) -> dict[str, Any]:
        """The values by parameter. Raises InvalidRequest, or what a dependency has raised."""
        if self._route is None:
            return {}
        from fastapi.exceptions import RequestValidationError

        resolved: dict[str, Any] = {}
        # Dependencies with `yield` end here. An app of FastAPI has the same stack for each request.
        async with AsyncExitStack() as stack:
            try:
                await self._route.app({**scope, _RESOLVED: resolved, "fastapi_middleware_astack": stack}, _nothing, _ignore)
            except RequestValidationError as error:
                faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
                raise InvalidRequest("; ".join(faults)) from error
        return resolved


def dependencies_of(function: Callable[..., Any]) -> Dependencies:
    """The dependencies of a function. A project that has some has imported FastAPI."""
    params = sys.modules.get("fastapi.params")
    if params is None:
        return Dependencies({})
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception:  # an annotation names what is only imported for type checkers
        hints = {}
    found: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, parameter.annotation)
        marks = (parameter.default, *getattr(hint, "__metadata__", ()))
        if any(isinstance(mark, params.Depends) for mark in marks):
            found[name] = parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY)
    return Dependencies(found)


def _route_with(parameters: dict[str, inspect.Parameter]) -> Any:
    from fastapi import Request, Response
    from fastapi.routing import APIRoute

    async def keep(svc_request: Request, **resolved: Any) -> Response:
        svc_request.scope[_RESOLVED].update(resolved)
        return Response()

    request = inspect.Parameter("svc_request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
    keep.__signature__ = inspect.Signature([request, *parameters.values()])  # type: ignore[attr-defined]
    return APIRoute("/", keep, response_model=None)


async def _nothing() -> dict[str, Any]:
    """There is no body: a caller is authenticated before it is read."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(message: dict[str, Any]) -> None:
    """Takes the response of the route, which has no content."""
