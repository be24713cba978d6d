"""State updates, and states as the engine derives them with the graph."""

from __future__ import annotations

import copy
from typing import Any

from langgraph.pregel import Pregel
from langgraph.types import PregelTask, StateSnapshot, StateUpdate

from .checkpoint_shapes import path_of
from .frames import Header
from .graphs import Graphs, layout_of, with_storage
from .json_text import tree_of
from .parts import Parts
from .runs import command_of, run_config
from .saver import SvcSaver
from .session import Session, current_session
from .shapes import Shape
from .store import SvcStore


async def update_state(session: Session, header: Header, parts: list[bytes], graphs: Graphs) -> Header:
    """Applies one superstep. Returns the place of the new checkpoint."""
    current_session.set(session)
    config = run_config(header)
    store = SvcStore(session)
    async with graphs.use(header["graph"], config, "threads.update", store) as found:
        graph = with_storage(found, SvcSaver(session), store)
        updates = [_update(tree_of(parts[at]), one) for at, one in enumerate(header["updates"])]
        made = await graph.abulk_update_state(config, [updates])
        layout = layout_of(found) if graphs.is_made(header["graph"]) else None
    conf = made["configurable"]
    return {"checkpoint_ns": conf.get("checkpoint_ns", ""), "checkpoint_id": conf.get("checkpoint_id"), "layout": layout}


def _update(values: Any, one: Header) -> StateUpdate:
    return StateUpdate(command_of(values) if one["is_command"] else values, one.get("as_node"))


async def read_state(session: Session, header: Header, graphs: Graphs) -> tuple[Header, list[bytes]]:
    """The state of a checkpoint of the graph or of a subgraph, with the states of subgraphs if these are asked for."""
    current_session.set(session)
    config = run_config(header)
    store = SvcStore(session)
    parts = Parts()
    async with graphs.use(header["graph"], config, "threads.read", store) as found:
        chosen = _subgraph(found, header.get("path"))
        graph = copy.copy(chosen)
        graph.store = store
        # With the saver in the config, the engine reads the checkpoint with this graph, and does not look for a subgraph below it.
        config["configurable"]["__pregel_checkpointer"] = SvcSaver(session)
        state = await graph.aget_state(config, subgraphs=header.get("subgraphs", False))
        layout = layout_of(found) if graphs.is_made(header["graph"]) else None
        return {"state": _state(state, parts), "layout": layout}, parts.texts


def _subgraph(graph: Pregel, path: str | None) -> Pregel:
    if not path:
        return graph
    for found, inner in graph.get_subgraphs(recurse=True):
        if found == path and isinstance(inner, Pregel):
            return inner
    raise ValueError(f'There is no subgraph "{path}"')


def _state(state: StateSnapshot, parts: Parts) -> Shape:
    values = state.values
    if isinstance(values, dict):
        shown: Shape = {"o": [[key, parts.value(part, f"values.{key}")] for key, part in values.items()]}
    else:
        shown = parts.value(values, "values")
    return {
        "o": [
            ["values", shown],
            ["next", {"j": list(state.next)}],
            ["metadata", {"j": state.metadata}],
            ["config", {"j": {"configurable": _place(state.config)}}],
            ["tasks", {"a": [_task(task, parts) for task in state.tasks]}],
        ]
    }


def _place(config: Any) -> Header:
    conf = (config or {}).get("configurable", {})
    return {key: conf[key] for key in ("thread_id", "checkpoint_ns", "checkpoint_id") if key in conf}


def _task(task: PregelTask, parts: Parts) -> Shape:
    members: list[Any] = [["id", {"s": task.id}], ["name", {"s": task.name}], ["path", {"j": path_of(task.path)}]]
    if isinstance(task.state, StateSnapshot):
        members.append(["state", _state(task.state, parts)])
    elif task.state:
        members.append(["state", {"j": {"configurable": _place(task.state)}}])
    return {"o": members}
