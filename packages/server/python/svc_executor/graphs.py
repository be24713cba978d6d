"""The project's graphs. An object may be a compiled graph, a builder, or a function that makes one for each use."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore

from .allowlist import Allowlist
from .loaded_files import LoadedFiles
from .modules import ImportFailed, import_file
from .schema_classes import classes_in
from .users import AuthUser


class GraphNotLoaded(Exception):
    """A graph cannot be used. The message names the file and says what to do."""


class Graphs:
    """The graphs of the configuration, by id."""

    def __init__(self, sources: Mapping[str, Mapping[str, str]], allowed: Allowlist, files: LoadedFiles) -> None:
        self._sources = sources
        self._files = files
        self._allowed = allowed
        self._objects: dict[str, Any] = {}
        self._failures: dict[str, str] = {}
        self.notices: list[str] = []

    def load(self, graph_id: str) -> Pregel | None:
        """The compiled graph; None for a function that makes one. Raises GraphNotLoaded."""
        if graph_id in self._failures:
            raise GraphNotLoaded(self._failures[graph_id])
        if graph_id not in self._objects:
            try:
                self._objects[graph_id] = self._load(graph_id)
            except GraphNotLoaded as error:
                self._failures[graph_id] = str(error)
                raise
        found = self._objects[graph_id]
        return found if isinstance(found, Pregel) else None

    def is_made(self, graph_id: str) -> bool:
        """True when a function makes the graph for each use, so that the Node process does not know its layout."""
        return self.load(graph_id) is None

    @contextlib.asynccontextmanager
    async def use(
        self, graph_id: str, config: dict[str, Any], access: str, store: BaseStore | None, context: Any = None
    ) -> AsyncIterator[Pregel]:
        """The graph for one use. A function is called with the config of the use; a context manager is left at its end."""
        found = self.load(graph_id)
        if found is not None:
            yield found
            return
        async with contextlib.AsyncExitStack() as stack:
            made = _call(self._objects[graph_id], config, access, store, context)
            if inspect.isawaitable(made):
                made = await made
            if isinstance(made, contextlib.AbstractAsyncContextManager) and not isinstance(made, Pregel):
                made = await stack.enter_async_context(made)
            elif isinstance(made, contextlib.AbstractContextManager) and not isinstance(made, Pregel):
                made = stack.enter_context(made)
            graph = _compiled(made)
            if graph is None:
                raise GraphNotLoaded(f"{self._name(graph_id)} returns {type(made).__name__}, which is no graph")
            self._allow(graph)
            yield _named(graph, graph_id)

    def _load(self, graph_id: str) -> Any:
        source = self._sources[graph_id]
        try:
            module = import_file(source["file"])
        except ImportFailed as error:
            self._files.add_failure(error)
            raise GraphNotLoaded(f'Graph "{graph_id}" cannot be loaded: {error}') from error
        found = getattr(module, source["export"], None)
        if found is None:
            names = ", ".join(_names_of_graphs(vars(module))) or "no graph"
            raise GraphNotLoaded(
                f'Graph "{graph_id}": {source["file"]} has no {source["export"]}; it has {names}. Name one of them after the colon'
            )
        graph = _compiled(found)
        if graph is not None:
            self._note_replaced(graph_id, graph)
            self._allow(graph)
            return _named(graph, graph_id)
        if callable(found):
            return found
        raise GraphNotLoaded(
            f"{self._name(graph_id)} is a {type(found).__name__}, and neither a compiled graph nor a builder or a function of one"
        )

    def _name(self, graph_id: str) -> str:
        source = self._sources[graph_id]
        return f'Graph "{graph_id}": {source["export"]} in {source["file"]}'

    def _note_replaced(self, graph_id: str, graph: Pregel) -> None:
        for part, is_own in (("checkpointer", isinstance(graph.checkpointer, BaseCheckpointSaver)), ("store", graph.store)):
            if is_own:
                self.notices.append(
                    f'Graph "{graph_id}" is compiled with a {part} of its own, which is not used: '
                    "svc stores threads and items in its database"
                )

    def _allow(self, graph: Pregel) -> None:
        """Lets stored values have the classes of the schemas of a graph and of its subgraphs."""
        for one in [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]:
            if isinstance(one, Pregel):
                self._allowed.add(_schema_classes(one))


def with_storage(graph: Pregel, saver: BaseCheckpointSaver[Any], store: BaseStore | None) -> Pregel:
    """A copy of a graph that uses this saver and store instead of its own. Never changes the shared object."""
    own = copy.copy(graph)
    if graph.checkpointer is not False:
        own.checkpointer = saver
    own.store = store
    return own


def _named(graph: Pregel, graph_id: str) -> Pregel:
    """A graph without a name of its own has its id as its name, as in the stock server."""
    if graph.name != "LangGraph":
        return graph
    own = copy.copy(graph)
    own.name = graph_id
    return own


def _compiled(value: Any) -> Pregel | None:
    if isinstance(value, Pregel):
        return value
    compile_ = getattr(value, "compile", None)
    if callable(compile_) and hasattr(value, "add_node"):
        compiled = compile_()
        return compiled if isinstance(compiled, Pregel) else None
    # A graph with bound arguments, such as `graph.with_config(…)` of older versions.
    bound = getattr(value, "bound", None)
    return bound if isinstance(bound, Pregel) else None


def _schema_classes(graph: Pregel) -> Any:
    builder = getattr(graph, "builder", None)
    schemas = [getattr(builder, name, None) for name in ("state_schema", "input_schema", "output_schema")]
    nodes = getattr(builder, "nodes", {}) or {}
    schemas += [getattr(node, "input_schema", None) for node in nodes.values()]
    for channel in graph.channels.values():
        schemas += [getattr(channel, "ValueType", None), getattr(channel, "UpdateType", None)]
    return classes_in(schemas)


def _call(function: Callable[..., Any], config: dict[str, Any], access: str, store: BaseStore | None, context: Any) -> Any:
    if inspect.isasyncgenfunction(function):
        function = contextlib.asynccontextmanager(function)
    elif inspect.isgeneratorfunction(function):
        function = contextlib.contextmanager(function)
    parameters = inspect.signature(function).parameters
    given: dict[str, Any] = {}
    free: list[str] = []
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        annotation = str(parameter.annotation)
        if "ServerRuntime" in annotation or name == "runtime":
            given[name] = _runtime(config, access, store, context)
        elif "RunnableConfig" in annotation or name == "config":
            given[name] = config
        elif parameter.default is parameter.empty:
            free.append(name)
    if len(free) == 1 and not given:
        given[free[0]] = config
        free = []
    if free:
        raise GraphNotLoaded(
            f"{getattr(function, '__name__', function)} has the parameter {free[0]!r}: a function of a graph takes nothing, "
            "`config`, `runtime` (langgraph_sdk.runtime.ServerRuntime) or both"
        )
    positional = [given.pop(name) for name, one in parameters.items() if one.kind is one.POSITIONAL_ONLY and name in given]
    return function(*positional, **given)


def _runtime(config: dict[str, Any], access: str, store: BaseStore | None, context: Any) -> Any:
    from langgraph_sdk import runtime

    user = config.get("configurable", {}).get("langgraph_auth_user")
    fields: dict[str, Any] = {"access_context": access, "store": store, "user": user if isinstance(user, AuthUser) else None}
    if access == "threads.create_run":
        return runtime._ExecutionRuntime(**fields, context=context)
    return runtime._ReadRuntime(**fields)


def _names_of_graphs(members: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name, value in members.items()
        if not name.startswith("_") and (isinstance(value, Pregel) or (hasattr(value, "add_node") and not isinstance(value, type)))
    ]


def layout_of(graph: Pregel) -> dict[str, Any]:
    """What the Node process needs to know of a graph: its channels, its nodes, and the same of its subgraphs."""
    subgraphs = {path: _layout(inner) for path, inner in graph.get_subgraphs(recurse=True) if isinstance(inner, Pregel)}
    return {**_layout(graph), "subgraphs": subgraphs}


def _layout(graph: Pregel) -> dict[str, Any]:
    keys = graph.stream_channels_asis
    config = graph.config or {}
    return {
        "keys": keys if isinstance(keys, str) else list(keys),
        "nodes": {name: list(node.triggers) for name, node in graph.nodes.items()},
        "has_memory": graph.checkpointer is True,
        "recursion_limit": config.get("recursion_limit"),
    }
