"""Work "app": the Starlette or FastAPI app of the project. Requests that match none of its routes reach the built-in routes of the server."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .asgi_exchange import Exchange
from .asgi_lifespan import Lifespan
from .channel import Channel, Handler
from .failures import ProjectMistake, failure_of
from .frames import Header
from .loaded_files import LoadedFiles
from .logs import send_logs
from .modules import exported
from .own_server import connect_clients, current_credential

_THREADS = 40
"""Synchronous endpoints that execute at the same time outside of Starlette's own pool."""

_log = logging.getLogger(__name__)


async def start(setup: Header, channel: Channel) -> tuple[Header, Handler]:
    """Loads the app and starts its lifespan. Reports its routes."""
    send_logs(channel)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "svc-app"))
    connect_clients(channel)
    app = _load(setup["source"])
    from .built_in_routes import BuiltInRoutes, routes_of

    facts: Header = {**routes_of(app), "modules": LoadedFiles(()).take()}
    # The last one, so that it is reached by what no route of the app serves.
    app.router.routes.append(BuiltInRoutes())
    lifespan = Lifespan(app)
    await lifespan.start()
    return facts, AppHost(app, lifespan, channel).receive


def _load(source: Header) -> Any:
    file, name = source["file"], source["export"]
    app = exported(file, name)
    try:
        from starlette.applications import Starlette
    except ImportError:
        raise ProjectMistake("starlette is not installed. An app in http.app is one of Starlette or FastAPI") from None
    if not isinstance(app, Starlette):
        raise ProjectMistake(f"{name} in {file} is not an app of Starlette or FastAPI, but {type(app).__name__}")
    return app


class AppHost:
    """Serves requests of the Node process by the app."""

    def __init__(self, app: Any, lifespan: Lifespan, channel: Channel) -> None:
        self._app = app
        self._lifespan = lifespan
        self._channel = channel
        self._exchanges: dict[int, Exchange] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, header: Header, parts: list[bytes]) -> Header | None:
        """Handles a frame. Returns the reply of a call."""
        kind = header["kind"]
        if kind == "request":
            self._begin(header)
            return None
        if kind == "shutdown":
            await self._lifespan.stop()
            return None
        exchange = self._exchanges.get(header["request"])
        if exchange is None:
            return None  # it has ended: what comes late is dropped
        if kind == "chunk":
            await exchange.take_body(b"".join(parts), header["more"])
        elif kind == "inner_chunk":
            await exchange.take_inner(b"".join(parts), header["more"])
        elif kind == "disconnect":
            exchange.disconnect()
        return None

    def _begin(self, header: Header) -> None:
        number = header["request"]
        exchange = Exchange(number, header, self._channel, self._lifespan.state)
        self._exchanges[number] = exchange
        task = asyncio.get_running_loop().create_task(self._serve(number, exchange, header.get("credential")))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, number: int, exchange: Exchange, credential: str | None) -> None:
        current_credential.set(credential)
        try:
            await self._app(exchange.scope, exchange.receive, exchange.send)
            failure = None
        except BaseException as error:  # what an endpoint raises concerns its request only
            failure = failure_of(error)
            _log.error("%s", failure["stack"])
        finally:
            self._exchanges.pop(number, None)
        if not exchange.is_complete:
            self._channel.send({"kind": "failed", "request": number, "error": failure})
