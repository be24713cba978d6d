"""Clients of the SDK without a URL: their requests go to the server that executes this code, and act for the caller of the code."""

from __future__ import annotations

import asyncio
import collections
import contextvars
import importlib
import os
import weakref
from typing import Any

from .channel import Channel

current_credential: contextvars.ContextVar[str | None] = contextvars.ContextVar("svc_credential", default=None)
"""The credential of the user for whom this code executes: the user of a run, or of a request."""

lifespan_task: contextvars.ContextVar[asyncio.Task[Any] | None] = contextvars.ContextVar("svc_lifespan", default=None)
"""The task of the app's lifespan: the server does not listen yet, and waits for it."""

_HEADER = "x-svc-caller"
_RETRIES = 5

# Where the SDK has `get_client`: since 0.3, and before.
_MODULES = ("langgraph_sdk._async.client", "langgraph_sdk.client")


def connect_clients(channel: Channel) -> None:
    """Makes `get_client()` work. The SDK would look for the stock server in this process."""
    for name in _MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module, "get_asgi_transport") and hasattr(module, "httpx"):
            _connect(module, OwnServer(channel, module.httpx))
            return


def _connect(module: Any, server: OwnServer) -> None:
    httpx = module.httpx

    class OwnTransport(httpx.AsyncBaseTransport):  # type: ignore[misc, name-defined]
        """Has the parameters of the transport that it replaces."""

        def __init__(self, app: Any = None, **_: Any) -> None:
            self.app = app

        async def handle_async_request(self, request: Any) -> Any:
            return await server.send(request)

    module.get_asgi_transport = lambda: OwnTransport
    # Transports wait there for the app of the stock server.
    module._registered_transports = collections.deque(maxlen=0)
    # With the packages of the stock server in the environment, the SDK would import its app.
    os.environ["__LANGGRAPH_DEFER_LOOPBACK_TRANSPORT"] = "true"


class OwnServer:
    """Sends requests to the server."""

    def __init__(self, channel: Channel, httpx: Any) -> None:
        self._channel = channel
        self._httpx = httpx
        self._loop = asyncio.get_running_loop()
        self._url: Any = None
        # Connections belong to an event loop, and synchronous nodes may have one of their own.
        self._transports: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    async def send(self, request: Any) -> Any:
        """Sends a request of httpx. Its host is a placeholder."""
        task = lifespan_task.get()
        if task is not None and task is asyncio.current_task():
            raise RuntimeError("a lifespan cannot call its own server, which listens only afterwards: start a task that calls it")
        url = self._url or await self._find_url()
        request.url = url.copy_with(raw_path=url.raw_path.rstrip(b"/") + request.url.raw_path)
        request.headers["host"] = url.netloc.decode()
        credential = current_credential.get()
        if credential is not None:
            request.headers[_HEADER] = credential
        return await self._transport().handle_async_request(request)

    def _transport(self) -> Any:
        loop = asyncio.get_running_loop()
        transport = self._transports.get(loop)
        if transport is None:
            # A run may wait for runs that wait for others: a limit would let them wait for each other.
            limits = self._httpx.Limits(max_connections=None, max_keepalive_connections=20)
            transport = self._transports[loop] = self._httpx.AsyncHTTPTransport(retries=_RETRIES, limits=limits)
        return transport

    async def _find_url(self) -> Any:
        call = self._channel.call({"kind": "address"})
        if asyncio.get_running_loop() is self._loop:
            header, _ = await call
        else:
            header, _ = await asyncio.to_thread(self._channel.from_thread, call)
        self._url = self._httpx.URL(header["url"])
        return self._url
