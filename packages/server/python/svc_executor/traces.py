"""Reports the steps of a run to the Node process, which stores traces."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

import orjson
from langchain_core.load.serializable import Serializable
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from pydantic import BaseModel

from .failures import stack_of
from .parts import Parts
from .session import Session

_BYTES_MAX = 10_000_000
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS

# Facts that are stored with a step. Others may hold secrets or objects.
_EXTRA = ("metadata", "invocation_params", "batch_size")


class RunTracer(BaseTracer):
    """The tracer of one run. Its callbacks are called on the event loop, and in the threads of synchronous nodes."""

    run_inline = True

    def __init__(self, session: Session) -> None:
        super().__init__(_schema_format="original+chat")
        self._session = session
        self._thread = threading.get_ident()

    def _persist_run(self, run: Run) -> None:
        """Nothing: each step is reported when it begins and when it ends."""

    def _add_child_run(self, parent_run: Run, child_run: Run) -> None:
        """Nothing: the parent would keep everything below it in memory until it ends."""

    @staticmethod
    def _get_stacktrace(error: BaseException) -> str:
        return f"{error}\n{stack_of(error)}"

    def _on_run_create(self, run: Run) -> None:
        if run.run_type == "chat_model":
            # As other tracers of LangChain report it: tokens are counted in the outputs of this type.
            run.run_type = "llm"
        self._report("start", run)

    def _on_run_update(self, run: Run) -> None:
        self._report("end", run)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> Any:
        """Keeps the time of the first token only: the outputs contain all tokens."""
        run = self.run_map.get(str(run_id))
        if run is not None and len(run.events) == 1:
            run.events.append({"name": "new_token", "time": datetime.now(timezone.utc)})
        return run

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> Any:
        """A graph that was interrupted, or that passes a command to its parent graph, has not failed."""
        run = self.run_map.get(str(run_id))
        if type(error).__name__ == "GraphDrained" and run is not None and run.parent_run_id is None:
            return run  # the graph goes on after a pause, or in the next attempt of the run
        if isinstance(error, GraphBubbleUp):
            return self.on_chain_end(_outputs_of(error), run_id=run_id)
        return super().on_chain_error(error, run_id=run_id, **kwargs)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> Any:
        """As for chains."""
        if isinstance(error, GraphBubbleUp):
            return self.on_tool_end(_outputs_of(error), run_id=run_id)
        return super().on_tool_error(error, run_id=run_id, **kwargs)

    def _report(self, event: str, run: Run) -> None:
        parts = Parts()
        fields: dict[str, Any] = {
            "id": str(run.id),
            "trace_id": str(run.trace_id),
            "dotted_order": run.dotted_order,
            "name": run.name,
            "run_type": run.run_type,
            "tags": list(run.tags or ()),
            "start_time": _ms(run.start_time),
            "events": [{"name": one["name"], "time": _time_text(one["time"])} for one in run.events or ()],
            "extra": {key: part for key, part in (run.extra or {}).items() if key in _EXTRA},
        }
        if run.parent_run_id is not None:
            fields["parent_run_id"] = str(run.parent_run_id)
        if run.end_time is not None:
            fields["end_time"] = _ms(run.end_time)
        if run.error is not None:
            fields["error"] = run.error
        payloads = {"inputs": parts.add(_text(run.inputs))}
        if run.outputs is not None:
            payloads["outputs"] = parts.add(_text(run.outputs))
        header = {"kind": "trace", "event": event, "run": fields, "payloads": payloads}
        if threading.get_ident() == self._thread:
            self._send(header, parts)
        else:
            self._session.call_soon(lambda: self._send(header, parts))

    def _send(self, header: dict[str, Any], parts: Parts) -> None:
        # A node that outlives its run is not traced any more.
        if self._session.is_open:
            self._session.send(header, parts)


def _outputs_of(error: GraphBubbleUp) -> dict[str, Any]:
    if isinstance(error, GraphInterrupt):
        return {"__interrupt__": [asdict(one) for one in (error.args[0] if error.args else ())]}
    return {"output": error.args[0] if error.args else None}


def _text(value: Any) -> bytes:
    try:
        text = orjson.dumps(value, default=_default, option=_OPTIONS)
    except (TypeError, ValueError) as error:
        return orjson.dumps({"unreadable": str(error)})
    return text if len(text) <= _BYTES_MAX else orjson.dumps({"omitted": f"{len(text)} bytes"})


def _default(value: Any) -> Any:
    if isinstance(value, Serializable):
        return value.to_json()
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return {key: part for key, part in vars(value).items()} if hasattr(value, "__dict__") else _slots(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if isinstance(value, int):
        return str(value)
    return repr(value)[:1_000]


def _slots(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name, None) for name in value.__dataclass_fields__}


def _ms(time: datetime) -> int:
    return int(_utc(time).timestamp() * 1000)


def _time_text(time: Any) -> str:
    return _utc(time).isoformat() if isinstance(time, datetime) else str(time)


def _utc(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)
