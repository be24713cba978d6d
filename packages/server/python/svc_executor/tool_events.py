"""Stream mode `tools`: the calls of tools. Events have the form of LangGraph.js, so that logs of both languages are read alike."""

from __future__ import annotations

import json
from typing import Any

from .session import current_session

TASKS_NAMED_BY = "checkpoint_refs"
"""With this stream mode, the namespace of an event is the task that calls the tool, and not only its graph."""

_KINDS = {
    "tool-started": "on_tool_start",
    "tool-output-delta": "on_tool_event",
    "tool-finished": "on_tool_end",
    "tool-error": "on_tool_error",
}


def name_tool_tasks() -> None:
    """Lets the engine name the tasks that call tools, in the runs that need it. Older versions of the engine have no such events."""
    try:
        from langgraph.pregel._tools import StreamToolCallHandler
    except ImportError:
        return
    original = getattr(StreamToolCallHandler, "_ns_for_emit", None)
    if original is None or getattr(original, "_svc", False):
        return

    def task_namespace(self: Any, metadata: dict[str, Any] | None, tags: list[str] | None) -> tuple[str, ...] | None:
        namespace: tuple[str, ...] | None = original(self, metadata, tags)
        session = current_session.get()
        if namespace is None or metadata is None or session is None or not session.names_tool_tasks:
            return namespace
        task = metadata.get("langgraph_checkpoint_ns")
        return tuple(task.split("|")) if task else namespace

    task_namespace._svc = True  # type: ignore[attr-defined]
    StreamToolCallHandler._ns_for_emit = task_namespace  # type: ignore[method-assign]


def tool_event(event: dict[str, Any]) -> dict[str, Any]:
    """An event of the engine, as LangGraph.js has it."""
    kind = _KINDS.get(event.get("event", ""))
    if kind is None:
        return event
    shown: dict[str, Any] = {"event": kind, "toolCallId": event.get("tool_call_id")}
    if kind == "on_tool_start":
        return {**shown, "name": event.get("tool_name"), "input": json.dumps(event.get("input"), default=str)}
    if kind == "on_tool_event":
        return {**shown, "data": event.get("delta")}
    if kind == "on_tool_end":
        return {**shown, "output": event.get("output")}
    return {**shown, "error": event.get("message")}
