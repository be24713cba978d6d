"""Work "auth": the auth object of the project, which authenticates requests and authorizes operations.

Its handlers are looked up and chosen in Node; this process calls the one that is named.
"""

from __future__ import annotations

import asyncio
import json
import traceback
import uuid
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langgraph_sdk import Auth

from .asgi_scope import http_scope
from .auth_dependencies import Dependencies, InvalidRequest, dependencies_of
from .auth_request import arguments_of, parameter_names
from .auth_user import plain, user_text
from .calls import result_of
from .channel import Channel, Handler
from .failures import ProjectMistake
from .frames import Header
from .loaded_files import LoadedFiles
from .logs import send_logs
from .modules import exported
from .own_server import connect_clients
from .users import AuthUser

Reply = tuple[Header, list[bytes]]

# For an `authenticate` that is no coroutine, which waits for other services.
_THREADS = 40

_UUIDS = ("thread_id", "run_id", "assistant_id", "cron_id")
_TUPLES = ("namespace", "suffix")


class InvalidAuth(ProjectMistake):
    """The auth object cannot be used."""


async def start(setup: Header, channel: Channel) -> tuple[Header, Handler]:
    """Loads the auth object. Reports the events that it has handlers for."""
    send_logs(channel)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "svc-auth"))
    connect_clients(channel)
    handlers = AuthHandlers(_load(setup["source"]), setup["authenticates"])
    return {"handlers": list(handlers.keys), "modules": LoadedFiles(()).take()}, handlers.receive


def _load(source: Header) -> Auth:
    file, name = source["file"], source["export"]
    auth = exported(file, name)
    if not isinstance(auth, Auth):
        raise InvalidAuth(
            f"{name} in {file} is not an Auth object, but {type(auth).__name__}. Write: from langgraph_sdk import Auth; {name} = Auth()"
        )
    return auth


class AuthHandlers:
    """Calls the handlers of an auth object."""

    def __init__(self, auth: Auth, authenticates: bool) -> None:
        self._authenticate = auth._authenticate_handler
        self._parameters: frozenset[str] = frozenset()
        self._dependencies = Dependencies({})
        if self._authenticate is not None:
            self._dependencies = dependencies_of(self._authenticate)
            self._parameters = parameter_names(self._authenticate, self._dependencies.names)
        elif authenticates:
            raise InvalidAuth("the auth object has no authenticate handler. Write: @auth.authenticate")
        self._handlers = dict(_handlers_of(auth))

    @property
    def keys(self) -> list[str]:
        """Events, resources and actions with a handler: `threads:create`, `threads`, `*:create`, `*`."""
        return list(self._handlers)

    async def receive(self, header: Header, parts: list[bytes]) -> Reply:
        """Answers a frame `authenticate` or `authorize`, within its time."""
        work = self._user_of(header) if header["kind"] == "authenticate" else self._decision_of(header, parts[0])
        limit = asyncio.timeout(header["timeout_ms"] / 1000)
        try:
            async with limit:
                return await work
        except BaseException as error:  # Whatever a handler raises concerns its request only.
            if limit.expired():
                return {"outcome": "timeout"}, []
            return _refusal_of(error, header) or _failure(error), []

    async def _user_of(self, header: Header) -> Reply:
        assert self._authenticate is not None
        scope = http_scope(header["request"])
        arguments = {**arguments_of(scope, self._parameters), **await self._dependencies.resolve(scope)}
        return {"outcome": "done"}, [user_text(await result_of(self._authenticate, **arguments)).encode()]

    async def _decision_of(self, header: Header, text: bytes) -> Reply:
        given = json.loads(text)
        value = _as_handlers_expect(given)
        user = _user_for_handlers(header["user"])
        context = Auth.types.AuthContext(
            permissions=header["user"].get("permissions", []),
            user=user,
            resource=header["resource"],
            action=header["action"],
        )
        handler = self._handlers[header["handler"]]
        decision = await result_of(handler, ctx=context, value=value)
        if decision is not None and not isinstance(decision, (bool, Mapping)):
            raise InvalidAuth(
                f"the handler for {header['handler']} must return a filter, True, False or None, and returned {type(decision).__name__}"
            )
        changed, removed = _changes(json.loads(text), value)
        return {"outcome": "done", "removed": removed}, [_json(decision), _json(changed)]


def _handlers_of(auth: Auth) -> list[tuple[str, Callable[..., Awaitable[Any]]]]:
    named = [(_key(resource, action), each[-1]) for (resource, action), each in auth._handlers.items() if each]
    # Of two handlers for everything, the one with stars is the more specific one.
    return [*(("*", each) for each in auth._global_handlers[-1:]), *named]


def _key(resource: str, action: str) -> str:
    if action == "*":
        return resource
    return f"{resource}:{action}"


def _as_handlers_expect(value: dict[str, Any]) -> dict[str, Any]:
    """Ids as UUIDs and namespaces as tuples, as the SDK declares them."""
    changed = dict(value)
    for name in _UUIDS:
        if isinstance(changed.get(name), str):
            changed[name] = _uuid(changed[name])
    if isinstance(changed.get("ids"), list):
        changed["ids"] = [_uuid(each) for each in changed["ids"]]
    for name in _TUPLES:
        if isinstance(changed.get(name), list):
            changed[name] = tuple(changed[name])
    return changed


def _uuid(text: Any) -> Any:
    try:
        return uuid.UUID(text)
    except (ValueError, TypeError, AttributeError):
        return text


def _changes(given: dict[str, Any], value: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The members that the handler has set, and the names of those that it has removed."""
    changed = {name: each for name, each in value.items() if name not in given or _json(given[name]) != _json(each)}
    return changed, [name for name in given if name not in value]


def _json(value: Any) -> bytes:
    return json.dumps(value, default=plain, allow_nan=False).encode()


class _StudioUser(Auth.types.StudioUser, AuthUser):
    """The developer who uses the Studio, for `isinstance` and for `is_studio_user`."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        Auth.types.StudioUser.__init__(self, fields["identity"], is_authenticated=True)
        AuthUser.__init__(self, fields)


def _user_for_handlers(fields: dict[str, Any]) -> AuthUser:
    return _StudioUser(fields) if fields.get("kind") == "StudioUser" else AuthUser(fields)


def _refusal_of(error: BaseException, header: Header) -> Header | None:
    """The status, detail and headers of an HTTPException of the SDK, of Starlette or of FastAPI. Of a failed assertion of a handler, 403."""
    if isinstance(error, InvalidRequest):
        return {"outcome": "refused", "status": 422, "detail": str(error), "headers": {}}
    if isinstance(error, AssertionError) and header["kind"] == "authorize":
        return {"outcome": "refused", "status": 403, "detail": str(error) or "Forbidden", "headers": {}}
    if not any(each.__name__ == "HTTPException" for each in type(error).__mro__):
        return None
    detail = getattr(error, "detail", None)
    headers = getattr(error, "headers", None) or {}
    return {
        "outcome": "refused",
        "status": getattr(error, "status_code", 500),
        "detail": detail if isinstance(detail, str) else _json(detail).decode(),
        "headers": {str(name): str(each) for name, each in headers.items()},
    }


def _failure(error: BaseException) -> Header:
    text = "".join(traceback.format_exception(error)).rstrip()
    return {"outcome": "failed", "name": type(error).__name__, "message": str(error), "stack": text}
