"""A request of an app and its response. Bodies are sent in pieces, each of which the other side has to take before the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from .asgi_scope import http_scope
from .channel import CallFailed, Channel
from .frames import Header
from .users import AuthUser

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Exchange:
    """What the app receives and sends for one request."""

    def __init__(self, number: int, header: Header, channel: Channel, state: dict[str, Any]) -> None:
        self._number = number
        self._channel = channel
        self._body: asyncio.Queue[Message] = asyncio.Queue(1)
        self._inner: asyncio.Queue[Message] = asyncio.Queue(1)
        self._is_body_wanted = False
        self._is_body_done = False
        self._disconnected = asyncio.Event()
        self.is_complete = False
        self._path = header["path"]
        self.scope = {**http_scope(header), "state": dict(state), "svc.exchange": self}
        if header.get("user") is not None:
            self.scope.update(_user_fields(header["user"], header.get("scopes", [])))

    async def receive(self) -> Message:
        """The next piece of the body, then the end of the connection."""
        if not self._is_body_done:
            if not self._is_body_wanted:
                self._is_body_wanted = True
                self._send({"kind": "want_body"})
            message = await self._unless_disconnected(self._body.get())
            if message is not None:
                self._is_body_done = not message["more_body"]
                return message
        await self._disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Sends the response, as fast as the client takes it."""
        if message["type"] == "http.response.start":
            headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in message.get("headers", ())]
            self._send({"kind": "response", "status": message["status"], "headers": headers})
        elif message["type"] == "http.response.body":
            more = bool(message.get("more_body", False))
            await self._call({"kind": "body", "more": more}, message.get("body", b""))
            self.is_complete = self.is_complete or not more
            if self.is_complete:
                self._disconnected.set()

    async def serve_inner(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serves the request by the built-in routes, with the changes of the middleware."""
        is_streamed = self._is_body_wanted
        self._is_body_done = True  # unless the middleware has read it, the Node process has the body still
        unchanged = scope["path"] == self._path
        header = {
            "kind": "inner",
            "method": scope["method"],
            "path": scope["raw_path"].decode("latin-1") if unchanged else quote(scope["path"]),
            "query": scope["query_string"].decode("latin-1"),
            "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
            "streamed": is_streamed,
        }
        pump = asyncio.ensure_future(self._pump(receive)) if is_streamed else None
        try:
            answer, _ = await self._channel.call({**header, "request": self._number})
            headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer["headers"]]
            await send({"type": "http.response.start", "status": answer["status"], "headers": headers})
            while True:
                message = await self._unless_disconnected(self._inner.get())
                if message is None:
                    return
                await send(message)
                if not message["more_body"]:
                    return
        finally:
            if pump is not None:
                pump.cancel()

    async def take_body(self, data: bytes, more: bool) -> None:
        """Takes a piece of the request, when the app has taken the one before."""
        await self._unless_disconnected(self._body.put({"type": "http.request", "body": data, "more_body": more}))

    async def take_inner(self, data: bytes, more: bool) -> None:
        """Takes a piece of the response of a built-in route."""
        await self._unless_disconnected(self._inner.put({"type": "http.response.body", "body": data, "more_body": more}))

    def disconnect(self) -> None:
        """The client has gone, or has the whole response."""
        self._disconnected.set()

    async def _pump(self, receive: Receive) -> None:
        more = True
        while more:
            message = await receive()
            more = message["type"] == "http.request" and message.get("more_body", False)
            await self._call({"kind": "inner_body", "more": more}, message.get("body", b""))

    async def _unless_disconnected(self, work: Awaitable[Any]) -> Any:
        waiting = asyncio.ensure_future(self._disconnected.wait())
        working = asyncio.ensure_future(work)
        try:
            await asyncio.wait((waiting, working), return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            waiting.cancel()
            working.cancel()

    def _send(self, header: Header) -> None:
        self._channel.send({**header, "request": self._number})

    async def _call(self, header: Header, data: bytes) -> None:
        if self._disconnected.is_set():
            return
        try:
            await self._channel.call({**header, "request": self._number}, [data] if data else [])
        except CallFailed:
            self._disconnected.set()


def _user_fields(user: dict[str, Any], scopes: list[str]) -> dict[str, Any]:
    from starlette.authentication import AuthCredentials

    return {"user": AuthUser(user), "auth": AuthCredentials(scopes)}
