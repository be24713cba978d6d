"""Sends what a graph streams. The chunks of one turn of the event loop are sent in one frame."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from .checkpoint_shapes import checkpoint_shape, debug_shape
from .message_events import MessageEvents
from .parts import Parts
from .session import Session
from .shapes import Shape, interrupts_shape, shape_of
from .tool_events import tool_event

_FRAME_BYTES = 256 * 1024
"""A frame with more bytes is sent before the turn ends."""

# How many levels of a payload the Node process reads.
_DEPTHS = {"updates": 1, "tasks": 1, "tools": 1}


class ChunkStream:
    """The chunks of one run. `requested`: the stream modes of the client. `subgraphs`: also those of subgraphs. `shows_start`: the first report of
    a checkpoint has its values, to which an input was applied.
    """

    def __init__(self, session: Session, requested: Sequence[str], *, subgraphs: bool, shows_start: bool = False) -> None:
        self._session = session
        self._requested = frozenset(requested)
        self._subgraphs = subgraphs
        self._shows_start = shows_start
        self._events = MessageEvents(self._emit_message) if "messages" in self._requested else None
        self._loop = asyncio.get_running_loop()
        self._chunks: list[Any] = []
        self._parts = Parts()
        self._counted = self._bytes = 0
        self._is_scheduled = False
        self._metadata: dict[str, int] = {}
        self._result: Any = None
        self._has_result = False
        self._failure: Exception | None = None
        session.flush = self.flush

    def take(self, namespace: tuple[str, ...], mode: str, payload: Any) -> None:
        """Takes a chunk of the engine. Raises when an earlier one could not be sent."""
        if self._failure is not None:
            raise self._failure
        if mode == "values":
            self._take_values(namespace, payload)
        elif mode == "messages":
            self._take_message(namespace, payload)
        elif mode == "checkpoints":
            wants_values = self._shows_start or (mode in self._requested and (self._subgraphs or not namespace))
            self._shows_start = False
            self._add(namespace, mode, checkpoint_shape(payload, self._parts, self._session, wants_values=wants_values))
        elif mode in ("debug", "updates", "tools") and namespace and not self._subgraphs:
            return
        elif mode == "tools":
            self._add(namespace, mode, shape_of(tool_event(payload), self._parts, mode, _DEPTHS["tools"]))
        elif mode == "debug":
            self._add(namespace, mode, debug_shape(payload, self._parts))
        else:
            self._add(namespace, mode, shape_of(payload, self._parts, mode, _DEPTHS.get(mode, 0)))

    def event(self, event: Mapping[str, Any]) -> None:
        """Takes a callback event, for stream mode `events`."""
        self._add((), "events", shape_of(dict(event), self._parts, "events", 0))

    def finish(self, *, has_result: bool) -> None:
        """Sends what is left, and the final values if they were not streamed. Raises when a chunk could not be sent."""
        if self._failure is not None:
            raise self._failure
        if has_result and self._has_result and "values" not in self._requested:
            self._add_values((), self._result)
        self.flush()

    def flush(self) -> None:
        """Sends what was collected."""
        if not self._chunks:
            return
        chunks, parts = self._chunks, self._parts
        self._chunks, self._parts = [], Parts()
        self._counted = self._bytes = 0
        self._session.send({"kind": "chunks", "chunks": chunks}, parts)

    def _take_values(self, namespace: tuple[str, ...], payload: Any) -> None:
        is_root = not namespace
        if is_root and not (isinstance(payload, dict) and "__interrupt__" in payload):
            # The result of the run. A later state replaces it.
            self._result, self._has_result = payload, True
        is_shown = "values" in self._requested and (is_root or self._subgraphs)
        if is_shown or (is_root and isinstance(payload, dict) and "__interrupt__" in payload):
            self._add_values(namespace, payload)
        if self._events is not None and (is_root or self._subgraphs):
            self._events.values(payload)

    def _add_values(self, namespace: tuple[str, ...], payload: Any) -> None:
        if not isinstance(payload, dict) or not all(type(key) is str for key in payload):
            self._add(namespace, "values", shape_of(payload, self._parts, "values", 0))
            return
        # The lists that were described are sent with this frame.
        graph = "|".join(namespace)
        members: list[Any] = []
        for channel, value in payload.items():
            if channel == "__interrupt__":
                members.append([channel, interrupts_shape(value, self._parts, channel)])
            else:
                spec = self._describe((graph, channel), value, f"values.{channel}")
                members.append([channel, {"v": [f"{graph}\n{channel}", spec]}])
        self._add(namespace, "values", {"o": members})

    def _describe(self, key: tuple[str, str], value: Any, name: str) -> Any:
        # Values that are described for a frame of their own are sent after these chunks.
        flush, self._session.flush = self._session.flush, lambda: None
        try:
            return self._session.describe(key, value, self._parts, name)
        finally:
            self._session.flush = flush

    def _take_message(self, namespace: tuple[str, ...], payload: Any) -> None:
        message, metadata = payload
        is_shown = not namespace or self._subgraphs
        if self._events is not None and is_shown:
            self._events.token(message, metadata)
        if "messages-tuple" in self._requested and is_shown:
            shape: Shape = {"a": [self._parts.value(message, "messages"), self._metadata_shape(message, metadata)]}
            self._add(namespace, "messages", shape)

    def _metadata_shape(self, message: Any, metadata: Any) -> Shape:
        """The metadata of a message are about 1 kB: they are sent with its first token only."""
        key = f"{getattr(message, 'id', None)} {metadata.get('langgraph_checkpoint_ns')} {metadata.get('run_attempt')}"
        number = self._metadata.get(key)
        if number is not None:
            return {"m": number}
        number = self._metadata[key] = len(self._metadata)
        return {"m": number, "of": self._parts.value(metadata, "metadata")}

    def _emit_message(self, mode: str, value: Any) -> None:
        self._add((), mode, shape_of(value, self._parts, mode, 0))

    def _add(self, namespace: tuple[str, ...], mode: str, shape: Shape) -> None:
        self._chunks.append([list(namespace), mode, shape])
        texts = self._parts.texts
        self._bytes += sum(map(len, texts[self._counted :]))
        self._counted = len(texts)
        if self._bytes > _FRAME_BYTES:
            self.flush()
        elif not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._flush_turn)

    def _flush_turn(self) -> None:
        self._is_scheduled = False
        if not self._session.is_open:
            return
        try:
            self.flush()
        except Exception as error:  # a frame that is too large; the run ends with it
            self._failure = error
