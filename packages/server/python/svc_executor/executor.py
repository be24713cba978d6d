"""The work "graphs": loads the project's graphs and executes their runs."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .allowlist import Allowlist
from .channel import Channel, Handler
from .checkpoint_shapes import note_paths
from .frames import Header
from .garbage import collect_less_often, exclude_loaded
from .graphs import GraphNotLoaded, Graphs, layout_of
from .introspection import drawing, schemas, subgraphs
from .loaded_files import LoadedFiles
from .logs import send_logs
from .loop_watch import LoopWatch
from .own_server import connect_clients
from .runs import Run, run_config
from .session import Session, current_session
from .states import read_state, update_state
from .tool_events import name_tool_tasks

_THREADS_MAX = 128
"""Synchronous nodes that execute at the same time. Threads are started when they are needed."""

_PACKAGES = ("langgraph", "langgraph-checkpoint", "langchain-core", "langgraph-sdk")


async def start(setup: Header, channel: Channel) -> tuple[Header, Handler]:
    """Prepares the executor. Graphs are loaded by the frame `load`, or with their first use."""
    loop = asyncio.get_running_loop()
    collect_less_often()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS_MAX, thread_name_prefix="svc-node"))
    send_logs(channel, _session_number)
    note_paths()
    name_tool_tasks()
    connect_clients(channel)
    executor = Executor(channel, setup)
    return {"versions": _versions()}, executor.receive


def _session_number() -> int | None:
    session = current_session.get()
    return None if session is None else session.number


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


class Executor:
    """Handles the frames of the Node process."""

    def __init__(self, channel: Channel, setup: Header) -> None:
        self._channel = channel
        self._allowed = Allowlist.of(setup.get("stored_classes", ()))
        self._ids = tuple(setup["graphs"])
        self._files = LoadedFiles(setup["paths"])
        self._graphs = Graphs(setup["graphs"], self._allowed, self._files)
        self._running: dict[int, tuple[Run, asyncio.Task[None]]] = {}
        self._watch = LoopWatch()

    async def receive(self, header: Header, parts: list[bytes]) -> tuple[Header, Sequence[bytes]] | Header | None:
        """Handles a frame. Returns the reply of a call."""
        kind = header["kind"]
        if kind == "run":
            self._run(header, parts)
            return None
        if kind == "cancel":
            running = self._running.get(header["session"])
            if running is not None:
                running[0].cancel()
            return None
        if kind in ("drain", "pause"):
            running = self._running.get(header["session"])
            if running is not None:
                running[0].drain(for_input=kind == "pause")
            return None
        if kind == "load":
            return await self._load()
        if kind == "layout":
            return await self._layout(header)
        if kind == "introspect":
            return await self._introspect(header)
        session = Session(header["session"], self._channel, self._allowed)
        try:
            if kind == "update":
                return await update_state(session, header, parts, self._graphs)
            if kind == "state":
                return await read_state(session, header, self._graphs)
        finally:
            session.close()
        raise ValueError(f"the kind {kind} is unknown")

    def _run(self, header: Header, parts: list[bytes]) -> None:
        number = header["session"]
        run = Run(Session(number, self._channel, self._allowed), header, parts, self._graphs)
        task = asyncio.get_running_loop().create_task(run.execute())
        self._running[number] = (run, task)
        self._watch.begin()
        task.add_done_callback(lambda _: self._ended(number))

    def _ended(self, number: int) -> None:
        self._running.pop(number, None)
        self._watch.end()
        self._report_files()

    def _report_files(self) -> None:
        files = self._files.take()
        if files:
            self._channel.send({"kind": "modules", "files": files})

    async def _load(self) -> Header:
        """Imports all graphs, in a thread: a module may call `asyncio.run` while it is imported."""
        layouts: dict[str, Any] = {}
        failures: list[Header] = []
        for graph_id in self._ids:
            try:
                graph = await asyncio.to_thread(self._graphs.load, graph_id)
                layouts[graph_id] = None if graph is None else layout_of(graph)
            except GraphNotLoaded as error:
                failures.append({"graph_id": graph_id, "message": str(error)})
            except Exception as error:  # compiling or describing a graph executes code of the project
                failures.append({"graph_id": graph_id, "message": f'Graph "{graph_id}" cannot be loaded: {error!r}'})
        exclude_loaded()
        self._report_files()
        return {"layouts": layouts, "failures": failures, "notices": self._graphs.notices}

    async def _layout(self, header: Header) -> Header:
        """The layout of the graph that a function makes with a config."""
        async with self._graphs.use(header["graph"], run_config(header), header["access"], None) as graph:
            return {"layout": layout_of(graph)}

    async def _introspect(self, header: Header) -> Header:
        config = run_config(header)
        async with self._graphs.use(header["graph"], config, "assistants.read", None) as graph:
            what = header["what"]
            if what == "graph":
                return {"value": drawing(graph, config, header.get("xray", False))}
            if what == "schemas":
                return {"value": {"graph_id": header["graph"], **schemas(graph)}}
            found = subgraphs(graph, header.get("namespace"), header.get("recurse", False))
            return {"value": {path: {"graph_id": header["graph"], **own} for path, own in found.items()}}
