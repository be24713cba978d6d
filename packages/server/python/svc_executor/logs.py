"""Sends the records of Python's logging to the log of the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from .channel import Channel

_TEXT_MAX = 8_000


class ChannelLog(logging.Handler):
    """Sends each record as a frame, from any thread, with the run that has logged it."""

    def __init__(self, channel: Channel, session_of: Callable[[], int | None]) -> None:
        super().__init__()
        self._session_of = session_of
        self._channel = channel
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            session = self._session_of()
            header = {
                "kind": "log",
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": self.format(record)[:_TEXT_MAX],
                **({} if session is None else {"session": session}),
            }
            self._loop.call_soon_threadsafe(self._channel.send, header)
        except Exception:  # as other handlers: a record that cannot be sent must not fail the node that logs it
            self.handleError(record)


def send_logs(channel: Channel, session_of: Callable[[], int | None] = lambda: None) -> None:
    """Sends records from now on. `session_of` names the session of the code that logs. A `logging.basicConfig()` of the project then changes nothing."""
    root = logging.getLogger()
    if root.level > logging.INFO or root.level == logging.NOTSET:
        root.setLevel(logging.INFO)
    root.addHandler(ChannelLog(channel, session_of))
