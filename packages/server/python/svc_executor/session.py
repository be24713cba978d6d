"""What the Node process has opened for a run, a state update or a read: the saver and the store use it."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from .allowlist import Allowlist
from .channel import Channel
from .frames import Frame, Header
from .lists import RunValues, Spec
from .parts import Parts, ValueNotStored
from .refusal import ValueRefused

current_session: contextvars.ContextVar[Session | None] = contextvars.ContextVar("svc_session", default=None)
"""The session of the code that executes, for log records."""


class SessionClosed(RuntimeError):
    """A node that outlives its run has called the checkpointer or the store."""


class Session:
    """Sends frames of one run, update or read. After its end, late calls of its nodes are refused."""

    def __init__(self, number: int, channel: Channel, allowed: Allowlist) -> None:
        self.number = number
        self.allowed = allowed
        self.values = RunValues(allowed)
        self.task_paths: dict[str, Any] = {}
        """Paths of tasks by their ids."""
        self.names_tool_tasks = False
        """Events of tools name the task that calls the tool."""
        self.flush: Callable[[], None] = lambda: None
        """Sends what was collected before: frames have to be sent in the order in which their values were described."""
        self._channel = channel
        self.is_open = True

    def close(self) -> None:
        """The run, update or read has ended."""
        self.is_open = False

    def describe(self, key: Hashable, value: Any, parts: Parts, name: str) -> Spec:
        """Adds a value to a frame that is sent next. Raises ValueNotStored; `name` is what the path of the part begins with."""
        self.flush()
        try:
            return self.values.describe(key, value, parts.texts)
        except ValueRefused as refused:
            raise ValueNotStored(refused.message(name)) from None

    def send(self, header: Header, parts: Parts | None = None) -> None:
        """Sends a frame. Raises SessionClosed."""
        self._assert_open()
        self._channel.send({**header, "session": self.number}, parts.texts if parts else ())

    async def call(self, header: Header, parts: Parts | None = None) -> Frame:
        """Sends a frame and waits for its reply. Raises SessionClosed and CallFailed."""
        self._assert_open()
        return await self._channel.call({**header, "session": self.number}, parts.texts if parts else ())

    def call_soon(self, work: Callable[[], None]) -> None:
        """Calls a function on the event loop, from any thread."""
        self._channel.call_soon(work)

    def from_thread(self, work: Awaitable[Any]) -> Any:
        """The result of a coroutine, for a synchronous node in a thread."""
        return self._channel.from_thread(work)

    @property
    def is_behind(self) -> bool:
        """True while the Node process does not read."""
        return self._channel.is_behind

    async def drain(self) -> None:
        """Waits until the Node process reads."""
        await self._channel.drain()

    def _assert_open(self) -> None:
        if not self.is_open:
            raise SessionClosed("the run has ended: a node that still executes cannot read or write its state or the store")


