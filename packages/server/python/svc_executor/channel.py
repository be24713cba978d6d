"""The channel to the Node process: frames on a socket that user code does not know.

All methods are called on the event loop, except `from_thread` and `call_soon`.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from .frames import BrokenFrame, Frame, FrameDecoder, FrameTooLarge, Header, encode_frame

CHANNEL_FD = 3

# Descriptors from here on: user code that closes the first few does not close the channel.
_OWN_FD_MIN = 200

Handler = Callable[[Header, list[bytes]], Awaitable[tuple[Header, Sequence[bytes]] | Header | None]]
"""Handles a frame. What it returns is the reply of a call."""


class CallFailed(Exception):
    """The Node process could not answer a call. The message says why."""


def open_socket() -> socket.socket:
    """The socket of the channel. Programs that user code starts do not inherit it."""
    own = socket.socket(fileno=_moved(CHANNEL_FD))
    own.setblocking(False)
    return own


def _moved(fd: int) -> int:
    try:
        import fcntl

        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _OWN_FD_MIN)
    except (ImportError, OSError):
        os.set_inheritable(fd, False)
        return fd
    os.close(fd)
    return moved


class Channel(asyncio.Protocol):
    """Sends and receives frames. Frames of one turn of the event loop are written together."""

    def __init__(self, on_frame: Handler, on_close: Callable[[], None]) -> None:
        self._on_frame = on_frame
        self._on_close = on_close
        self._decoder = FrameDecoder()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._transport: asyncio.Transport | None = None
        self._out: list[bytes] = []
        self._is_scheduled = False
        self._calls = 0
        self._waiting: dict[int, asyncio.Future[Frame]] = {}
        self._handling: set[asyncio.Task[None]] = set()
        self._drained = asyncio.Event()
        self._drained.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_close()

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    def data_received(self, data: bytes) -> None:
        try:
            frames = self._decoder.push(data)
        except BrokenFrame:
            self._on_close()
            return
        for header, parts in frames:
            if header["kind"] == "reply":
                self._take_reply(header, parts)
            else:
                task = self._loop.create_task(self._handle(header, parts))
                self._handling.add(task)
                task.add_done_callback(self._handling.discard)

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Sends a frame at the end of this turn of the event loop. Raises FrameTooLarge."""
        self._out.extend(encode_frame(header, parts))
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._flush)

    async def call(self, header: Header, parts: Sequence[bytes] = ()) -> Frame:
        """Sends a frame and waits for its reply. Raises CallFailed."""
        self._calls += 1
        call = self._calls
        future: asyncio.Future[Frame] = self._loop.create_future()
        self._waiting[call] = future
        try:
            self.send({**header, "call": call}, parts)
            return await future
        finally:
            self._waiting.pop(call, None)

    @property
    def is_behind(self) -> bool:
        """True while the Node process does not read."""
        return not self._drained.is_set()

    async def drain(self) -> None:
        """Waits until the Node process reads again, when it has fallen behind."""
        await self._drained.wait()

    def call_soon(self, work: Callable[[], None]) -> None:
        """Calls a function on the event loop, from any thread."""
        self._loop.call_soon_threadsafe(work)

    def from_thread(self, work: Awaitable[Any]) -> Any:
        """Runs a coroutine on the event loop, for a synchronous node in a thread. Raises RuntimeError on the loop's own thread."""
        if threading.get_ident() == self._thread:
            if asyncio.iscoroutine(work):
                work.close()
            raise RuntimeError(
                "a synchronous call of the checkpointer or the store inside of an async function would block the event loop: "
                "await its asynchronous form, such as store.aget()"
            )
        return asyncio.run_coroutine_threadsafe(_awaited(work), self._loop).result()

    def _flush(self) -> None:
        self._is_scheduled = False
        out, self._out = self._out, []
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(out))

    def _take_reply(self, header: Header, parts: list[bytes]) -> None:
        future = self._waiting.get(header["call"])
        if future is None or future.done():
            return
        if "error" in header:
            future.set_exception(CallFailed(header["error"]))
        else:
            future.set_result((header, parts))

    async def _handle(self, header: Header, parts: list[bytes]) -> None:
        call = header.get("call")
        try:
            answer = await self._on_frame(header, parts)
        except Exception as error:
            if call is None:
                raise
            self.send({"kind": "reply", "call": call, "error": str(error), "error_type": type(error).__name__})
            return
        if call is None:
            return
        fields, more = answer if isinstance(answer, tuple) else (answer or {}, ())
        try:
            self.send({**fields, "kind": "reply", "call": call}, more)
        except FrameTooLarge as error:
            self.send({"kind": "reply", "call": call, "error": str(error), "error_type": "FrameTooLarge"})


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work
