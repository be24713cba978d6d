"""Describes a graph without executing it: its drawing and its schemas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

from langgraph.pregel import Pregel
from pydantic import create_model


def drawing(graph: Pregel, config: Any, xray: bool | int) -> dict[str, Any]:
    """Nodes and edges."""
    drawn = graph.get_graph(config, xray=xray).to_json()
    nodes = [{**node, "id": str(node["id"])} for node in drawn["nodes"]]
    edges = [{**edge, "source": str(edge["source"]), "target": str(edge["target"])} for edge in drawn["edges"]]
    return {"nodes": nodes, "edges": edges}


def schemas(graph: Pregel) -> dict[str, Any]:
    """JSON Schemas. One that cannot be derived is None."""
    return {
        "input_schema": _derived(graph.get_input_jsonschema) or _derived(lambda: _channels_schema(graph, "input_schema")),
        "output_schema": _derived(graph.get_output_jsonschema) or _derived(lambda: _channels_schema(graph, "output_schema")),
        "state_schema": _derived(lambda: _state_schema(graph, graph.stream_channels_list)),
        "config_schema": _derived(lambda: _config_schema(graph)),
        "context_schema": _derived(graph.get_context_jsonschema),
    }


def subgraphs(graph: Pregel, namespace: str | None, recurse: bool) -> dict[str, Any]:
    """The schemas of subgraphs, under their long and their short names, because clients read either."""
    found: dict[str, Any] = {}
    for path, inner in graph.get_subgraphs(recurse=True):
        if not isinstance(inner, Pregel) or not _is_requested(path, namespace, recurse):
            continue
        own = schemas(inner)
        short = {name.removesuffix("_schema"): own[name] for name in ("input_schema", "output_schema", "state_schema", "config_schema")}
        found[path] = {**own, **short}
    return found


def _is_requested(path: str, namespace: str | None, recurse: bool) -> bool:
    if namespace is None:
        return recurse or "|" not in path
    return path == namespace or (recurse and path.startswith(f"{namespace}|"))


def _derived(derive: Callable[[], Any]) -> Any:
    try:
        return derive()
    except Exception:  # a type of the project without a JSON Schema
        return None


def _channels_schema(graph: Pregel, kind: str) -> Any:
    """For a class that pydantic refuses, such as typing.TypedDict before Python 3.12: its keys, with the types of their channels."""
    keys = get_type_hints(getattr(graph.builder, kind))
    return _state_schema(graph, [name for name in keys if name in graph.channels])


def _state_schema(graph: Pregel, names: Sequence[str]) -> Any:
    fields: dict[str, Any] = {}
    for name in names:
        value_type = getattr(graph.channels[name], "UpdateType", Any)
        try:
            create_model(name, value=(value_type, None)).model_json_schema()
        except Exception:  # a type of the project without a JSON Schema
            value_type = Any
        fields[name] = (value_type, None)
    return create_model(graph.get_name("State"), **fields).model_json_schema()


def _config_schema(graph: Pregel) -> Any:
    schema = graph.config_schema().model_json_schema()
    configurable = schema.get("properties", {}).get("configurable")
    if configurable is None:
        return {}
    reference = configurable.get("$ref", "")
    defined = schema.get("$defs", {}).get(reference.rsplit("/", 1)[-1]) if reference else None
    return {**(defined or configurable), "$defs": schema["$defs"]} if "$defs" in schema else configurable
