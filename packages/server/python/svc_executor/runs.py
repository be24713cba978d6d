"""Executes a run: streams a graph with the saver and the store of the Node process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.types import Command, Send

try:
    from langgraph.runtime import RunControl
except ImportError:  # before langgraph 1.2: runs cannot end before their next superstep
    RunControl = None  # type: ignore[assignment, misc]

from .chunks import ChunkStream
from .context import context_for
from .direct_stream import DirectStream
from .failures import failure_of
from .frames import Header
from .graphs import Graphs, layout_of, with_storage
from .json_text import tree_of
from .own_server import current_credential
from .saver import EphemeralSaver, SvcSaver
from .session import Session, current_session
from .store import SvcStore
from .tool_events import TASKS_NAMED_BY
from .traces import RunTracer
from .users import with_user

# Modes that the engine does not know: their events are made here, or by the Node process.
_ENGINE_MODES = {"values", "updates", "custom", "messages", "checkpoints", "tasks", "debug", "tools"}
_ALWAYS = ("values", "checkpoints")


if RunControl is not None:

    class _Control(RunControl):
        """Ends a run before its next superstep: for good, or for a pause in which it takes inputs."""

        __slots__ = ("passes", "pauses")

        def __init__(self, header: Header) -> None:
            super().__init__()
            self.pauses: bool = header["pauses"]
            self.passes: bool = header["passes"]

        @property
        def drain_requested(self) -> bool:
            """Read before each superstep, also of a subgraph, whose node would be executed again after a pause."""
            if self.drain_reason is not None:
                return True
            if _READ in (var_child_runnable_config.get() or {}).get("configurable", {}):
                return False
            passes, self.passes = self.passes, False
            return self.pauses and not passes


_READ = "__pregel_read"
"""The key of the engine in the configuration of a node."""


class Run:
    """One attempt of a run, or its part until a pause."""

    def __init__(self, session: Session, header: Header, parts: list[bytes], graphs: Graphs) -> None:
        self._session = session
        self._header = header
        self._graphs = graphs
        self._input = tree_of(parts[0])
        self._context = tree_of(parts[1])
        session.names_tool_tasks = TASKS_NAMED_BY in header["modes"]
        subgraphs, shows_start = header["subgraphs"], header["shows_start"]
        self._chunks = ChunkStream(session, header["modes"], subgraphs=subgraphs, shows_start=shows_start)
        self._task: asyncio.Task[Any] | None = None
        self._is_cancelled = False
        self._control = _Control(header) if RunControl is not None else None

    def cancel(self) -> None:
        """Cancels the run. Before `execute` has begun, its task is not cancelled: it would end without reporting it."""
        self._is_cancelled = True
        if self._task is not None:
            self._task.cancel()

    def drain(self, *, for_input: bool) -> None:
        """Ends the run before its next superstep, if the engine can."""
        if self._control is not None:
            if for_input:
                self._control.pauses = True
            else:
                self._control.request_drain()

    async def execute(self) -> None:
        """Streams the graph and reports its end. Raises nothing."""
        current_session.set(self._session)
        self._task = asyncio.current_task()
        current_credential.set(self._header.get("credential"))
        error: dict[str, Any] | None = None
        try:
            if self._is_cancelled:
                raise asyncio.CancelledError
            await self._stream()
        except asyncio.CancelledError:
            message = "The run was cancelled" if self._is_cancelled else "A node has raised CancelledError"
            error = {"name": "CancelledError", "message": message}
        except BaseException as thrown:  # SystemExit and KeyboardInterrupt of a node end the run, and not the process
            error = failure_of(thrown)
        self._end(error)

    async def _stream(self) -> None:
        header = self._header
        config = run_config(header)
        if header.get("traced"):
            config["callbacks"] = [RunTracer(self._session)]
        store = SvcStore(self._session)
        access = "threads.create_run"
        async with self._graphs.use(header["graph"], config, access, store, self._context) as found:
            if self._graphs.is_made(header["graph"]):
                self._session.send({"kind": "layout", "layout": layout_of(found)})
            graph = with_storage(found, self._saver(), store)
            arguments: dict[str, Any] = {
                "input": _input_of(self._input),
                "config": config,
                "context": context_for(graph, self._context),
                "stream_mode": _engine_modes(header["modes"]),
                "subgraphs": True,
                "interrupt_before": header.get("interrupt_before"),
                "interrupt_after": header.get("interrupt_after"),
                "durability": header["durability"],
            }
            if self._control is not None:
                arguments["control"] = self._control
            if "events" in header["modes"]:
                await self._stream_events(graph, arguments)
                return
            if DirectStream.has(arguments["stream_mode"]):
                await self._stream_directly(graph, arguments, store)
                return
            chunks: AsyncIterator[Any] = graph.astream(**arguments)
            async for namespace, mode, payload in chunks:
                self._chunks.take(namespace, mode, payload)
                if self._session.is_behind:
                    await self._session.drain()

    async def _stream_directly(self, graph: Any, arguments: dict[str, Any], store: SvcStore) -> None:
        stream = DirectStream(self._chunks.take)
        stream.join(arguments["config"], arguments["stream_mode"], store)
        # The engine's own stream returns control after each superstep.
        try:
            async with aclosing(graph.astream(**{**arguments, "stream_mode": "values", "subgraphs": False})) as steps:
                async for _ in steps:
                    if self._is_cancelled:
                        raise asyncio.CancelledError
                    if self._session.is_behind:
                        await self._session.drain()
        except asyncio.CancelledError:
            if stream.failure is None:
                raise
        if stream.failure is not None:
            raise stream.failure

    async def _stream_events(self, graph: Any, arguments: dict[str, Any]) -> None:
        """Stream mode `events`: the callback events of all graphs of the tree. The chunks of the run itself are events of the other modes."""
        run_id = self._header["config"]["run_id"]
        async for event in graph.astream_events(**arguments, version="v2"):
            if "langsmith:hidden" in event.get("tags", ()):
                continue
            if event["event"] == "on_chain_stream" and event["run_id"] == run_id:
                chunk = event["data"].get("chunk")
                if isinstance(chunk, tuple) and len(chunk) == 3:
                    self._chunks.take(*chunk)
            else:
                self._chunks.event(event)
            if self._session.is_behind:
                await self._session.drain()

    def _saver(self) -> Any:
        if self._header["temporary"]:
            return EphemeralSaver()
        waits = self._header["durability"] == "sync"
        return SvcSaver(self._session, waits=waits, is_blank=self._header["blank"])

    def _end(self, error: dict[str, Any] | None) -> None:
        try:
            # A run that has failed has no result. The Node process decides by the values what a run that pauses takes.
            has_result = error is None or error["name"] in ("CancelledError", "GraphDrained")
            self._chunks.finish(has_result=has_result)
        except Exception as thrown:  # a value that cannot be sent
            error = error or failure_of(thrown)
        self._session.send({"kind": "end", **({} if error is None else {"error": error})})
        self._session.close()


def run_config(header: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's config of a run, an update or a read."""
    config = {**header["config"]}
    config["configurable"] = with_user(config.get("configurable", {}))
    if "run_id" in config:
        config["run_id"] = UUID(config["run_id"])
    return config


def _engine_modes(requested: list[str]) -> list[str]:
    modes = [*_ALWAYS]
    for mode in requested:
        known = "messages" if mode == "messages-tuple" else "tasks" if mode == "lifecycle" else mode
        if known in _ENGINE_MODES and known not in modes:
            modes.append(known)
    return modes


def _input_of(given: dict[str, Any]) -> Any:
    command = given.get("command")
    return given.get("input") if command is None else command_of(command)


def command_of(fields: Mapping[str, Any]) -> Command[Any]:
    """The command of a client."""
    goto = fields.get("goto")
    targets = () if goto is None else [_target(one) for one in goto] if isinstance(goto, list) else _target(goto)
    return Command(update=fields.get("update"), resume=fields.get("resume"), goto=targets)


def _target(target: Any) -> Any:
    return Send(target["node"], target.get("input")) if isinstance(target, dict) else target
