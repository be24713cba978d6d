"""Takes chunks when the engine emits them. Its own queue costs an asyncio task for each superstep, and another one for each node."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from langgraph._internal._constants import CONFIG_KEY_RUNTIME, CONFIG_KEY_STREAM
from langgraph.pregel.protocol import StreamProtocol
from langgraph.runtime import DEFAULT_RUNTIME
from langgraph.store.base import BaseStore

Take = Callable[[tuple[str, ...], str, Any], None]

_MODES = {"values", "updates", "checkpoints", "tasks", "debug"}
"""Chunks of the other modes are emitted by handlers and nodes, which know only the queue."""


class DirectStream:
    """A stream for the engine's config: the one that graphs give to their subgraphs. `failure`: what `take` has raised."""

    def __init__(self, take: Take) -> None:
        self.failure: Exception | None = None
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._task = asyncio.current_task()

    @staticmethod
    def has(modes: list[str]) -> bool:
        """True when all chunks of these modes can be taken directly."""
        return _MODES.issuperset(modes)

    def join(self, config: dict[str, Any], modes: list[str], store: BaseStore) -> None:
        """Makes the graph, and the graphs that its nodes call, emit to this stream."""
        config["configurable"][CONFIG_KEY_STREAM] = StreamProtocol(self._emit, set(modes))  # type: ignore[arg-type]
        # The engine expects the runtime of a parent graph beside its stream.
        config["configurable"][CONFIG_KEY_RUNTIME] = DEFAULT_RUNTIME.override(store=store)

    def _emit(self, chunk: tuple[tuple[str, ...], str, Any]) -> None:
        if threading.get_ident() == self._thread:
            self._take_one(chunk)
        else:  # a graph that a synchronous node calls
            self._loop.call_soon_threadsafe(self._take_one, chunk)

    def _take_one(self, chunk: tuple[tuple[str, ...], str, Any]) -> None:
        if self.failure is not None:
            return
        try:
            self._take(*chunk)
        except Exception as error:  # a value that cannot be sent: no fault of the code that the engine executes now
            self.failure = error
            if self._task is not None:
                self._task.cancel()
