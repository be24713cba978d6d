"""Calls every public method of the Python clients (langgraph_sdk, RemoteGraph) on a server, and checks the results against the SDK's types.

Arguments: the URL, and the seconds after which the program ends. Prints the problems as a JSON list. A method of a client that has no call in this program is a problem.
"""

import asyncio
import builtins
import faulthandler
import inspect
import json
import sys
import typing
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import StateSnapshot
from langgraph_sdk import get_client, get_sync_client, schema

from conforms import differences

HI = {"messages": [{"role": "user", "content": "hi"}]}
NEVER = "0 0 1 1 *"
NOUNS = ("assistants", "threads", "runs", "crons", "store")

Seen = dict[str, Any]
Call = tuple[str, Callable[[Any, Seen], Any]] | tuple[str, Callable[[Any, Seen], Any], Any]

# Results whose annotation in the SDK differs from what its docstring shows.
TYPES = {
    "crons.create": schema.Cron,
    "crons.create_for_thread": schema.Cron,
    "threads.copy": schema.Thread,
    "threads.update": schema.Thread,
    "threads.prune": dict[str, Any],
}


def assistants() -> list[Call]:
    def of(seen: Seen) -> str:
        return seen["assistants.create"]["assistant_id"]

    return [
        ("assistants.create", lambda c, _: c.assistants.create("chat", name="x", metadata={"a": 1}, description="d")),
        ("assistants.get", lambda c, s: c.assistants.get(of(s))),
        ("assistants.get_graph", lambda c, s: c.assistants.get_graph(of(s), xray=True)),
        ("assistants.get_schemas", lambda c, s: c.assistants.get_schemas(of(s))),
        ("assistants.get_subgraphs", lambda c, _: c.assistants.get_subgraphs("nested", recurse=True)),
        ("assistants.update", lambda c, s: c.assistants.update(of(s), name="y", config={"configurable": {"k": 1}})),
        ("assistants.get_versions", lambda c, s: c.assistants.get_versions(of(s), limit=5)),
        ("assistants.set_latest", lambda c, s: c.assistants.set_latest(of(s), 1)),
        ("assistants.search", lambda c, _: c.assistants.search(metadata={"a": 1}, graph_id="chat", sort_by="name")),
        ("assistants.search", lambda c, _: c.assistants.search(response_format="object")),
        ("assistants.count", lambda c, _: c.assistants.count(metadata={"a": 1})),
    ]


def threads() -> list[Call]:
    def of(seen: Seen) -> str:
        return seen["threads.create"]["thread_id"]

    step = {"updates": [{"values": HI, "as_node": "__start__"}]}
    return [
        ("threads.create", lambda c, _: c.threads.create(graph_id="chat", supersteps=[step])),
        ("threads.create", lambda c, _: c.threads.create(metadata={"b": 2}, ttl=60, graph_id="chat")),
        ("threads.get", lambda c, s: c.threads.get(of(s), include=["ttl"])),
        ("threads.update", lambda c, s: c.threads.update(of(s), metadata={"c": 3})),
        ("threads.search", lambda c, s: c.threads.search(ids=[of(s)], status="idle", extract={"b": "metadata.b"})),
        ("threads.count", lambda c, _: c.threads.count(metadata={"b": 2})),
    ]


def runs() -> list[Call]:
    def of(seen: Seen) -> tuple[str, str]:
        return seen["runs.create"]["thread_id"], seen["runs.create"]["run_id"]

    def thread(seen: Seen) -> str:
        return seen["threads.create"]["thread_id"]

    def pending(c: Any, s: Seen) -> Any:
        return c.runs.create(thread(s), "chat", input=HI, after_seconds=3_600)

    def created_before(seen: Seen) -> str:
        return seen["runs.create"]["run_id"]

    return [
        ("runs.create", lambda c, s: c.runs.create(thread(s), "chat", input=HI, config={"tags": ["t"]}, stream_resumable=True)),
        ("runs.join", lambda c, s: c.runs.join(*of(s))),
        ("runs.get", lambda c, s: c.runs.get(*of(s))),
        ("runs.list", lambda c, s: c.runs.list(thread(s), status="success")),
        ("runs.join_stream", lambda c, s: c.runs.join_stream(*of(s), stream_mode="values", last_event_id="-1")),
        ("runs.stream", lambda c, s: c.runs.stream(thread(s), "chat", input=HI, stream_mode=typing.get_args(schema.StreamMode))),
        ("runs.stream", lambda c, _: c.runs.stream(None, "chat", input=HI, version="v2")),
        ("runs.wait", lambda c, _: c.runs.wait(None, "chat", input=HI)),
        ("runs.create_batch", lambda c, _: c.runs.create_batch([{"assistant_id": "chat", "input": HI}])),
        ("runs.create", pending),
        ("runs.cancel", lambda c, s: c.runs.cancel(*of(s), wait=True)),
        ("runs.create", pending),
        ("runs.cancel_many", lambda c, s: c.runs.cancel_many(thread_id=thread(s), run_ids=[created_before(s)])),
        ("runs.delete", lambda c, s: c.runs.delete(*of(s))),
    ]


def states() -> list[Call]:
    def of(seen: Seen) -> str:
        return seen["threads.create"]["thread_id"]

    def checkpoint(seen: Seen) -> Any:
        return seen["threads.update_state"]["checkpoint"]

    return [
        ("threads.update_state", lambda c, s: c.threads.update_state(of(s), HI, as_node="answer")),
        ("threads.get_state", lambda c, s: c.threads.get_state(of(s), subgraphs=True)),
        ("threads.get_state", lambda c, s: c.threads.get_state(of(s), checkpoint=checkpoint(s))),
        ("threads.get_state", lambda c, s: c.threads.get_state(of(s), checkpoint_id=checkpoint(s)["checkpoint_id"])),
        ("threads.get_history", lambda c, s: c.threads.get_history(of(s), limit=5)),
        ("threads.get_history", lambda c, s: c.threads.get_history(of(s), before=checkpoint(s))),
        ("threads.copy", lambda c, s: c.threads.copy(of(s))),
        ("threads.join_stream", lambda c, s: c.threads.join_stream(of(s), last_event_id="-"), RunDone()),
        ("threads.prune", lambda c, s: c.threads.prune([of(s)], strategy="keep_latest")),
    ]


def crons() -> list[Call]:
    def of(seen: Seen) -> str:
        return seen["crons.create"]["cron_id"]

    def thread(seen: Seen) -> str:
        return seen["threads.create"]["thread_id"]

    return [
        ("crons.create", lambda c, _: c.crons.create("chat", schedule=NEVER, input=HI, end_time=datetime(2030, 1, 1))),
        ("crons.create_for_thread", lambda c, s: c.crons.create_for_thread(thread(s), "chat", schedule=NEVER)),
        ("crons.update", lambda c, s: c.crons.update(of(s), schedule="0 1 1 1 *", enabled=False)),
        ("crons.search", lambda c, _: c.crons.search(sort_by="next_run_date")),
        ("crons.count", lambda c, s: c.crons.count(thread_id=thread(s))),
        ("crons.delete", lambda c, s: c.crons.delete(of(s))),
    ]


def store() -> list[Call]:
    return [
        ("store.put_item", lambda c, _: c.store.put_item(["a", "b"], "k", {"v": 1}, index=False, ttl=10)),
        ("store.get_item", lambda c, _: c.store.get_item(["a", "b"], "k", refresh_ttl=True)),
        ("store.search_items", lambda c, _: c.store.search_items(["a"], filter={"v": {"$eq": 1}})),
        ("store.list_namespaces", lambda c, _: c.store.list_namespaces(prefix=["a"], max_depth=2)),
        ("store.delete_item", lambda c, _: c.store.delete_item(["a", "b"], "k")),
    ]


def deletions() -> list[Call]:
    def thread(seen: Seen) -> str:
        return seen["threads.create"]["thread_id"]

    def assistant(seen: Seen) -> str:
        return seen["assistants.create"]["assistant_id"]

    return [
        ("threads.delete", lambda c, s: c.threads.delete(thread(s))),
        ("assistants.delete", lambda c, s: c.assistants.delete(assistant(s), delete_threads=True)),
    ]


def selections() -> list[Call]:
    """A search for each field that can be selected: the result has this field alone."""

    def thread(seen: Seen) -> str:
        return seen["threads.create"]["thread_id"]

    def each(name: str, fields: Any, search: Callable[[Any, Seen, list[Any]], Any]) -> list[Call]:
        return [
            (name, lambda c, s, field=field: search(c, s, [field]), Only(field)) for field in typing.get_args(fields)
        ]

    state_fields = next(one for one in typing.get_args(schema.ThreadStateSelectField) if one is not str)
    return [
        *each("assistants.search", schema.AssistantSelectField, lambda c, s, select: c.assistants.search(select=select)),
        *each("threads.search", schema.ThreadSelectField, lambda c, s, select: c.threads.search(select=select)),
        *each("runs.list", schema.RunSelectField, lambda c, s, select: c.runs.list(thread(s), select=select)),
        *each("crons.search", schema.CronSelectField, lambda c, s, select: c.crons.search(select=select)),
        *each("threads.get_state", state_fields, lambda c, s, select: c.threads.get_state(thread(s), select=select)),
        *each("threads.get_history", state_fields, lambda c, s, select: c.threads.get_history(thread(s), select=select)),
    ]


class Only:
    """Results with one selected field, which may be absent if it has no value."""

    optional = ("cancel_reason", "context")

    def __init__(self, field: str) -> None:
        self.field = field

    def differences(self, value: Any, where: str) -> Iterator[str]:
        rows = value if isinstance(value, list) else [value]
        if not rows:
            yield f"{where}: no result to check the selection of {self.field}"
        for row in rows:
            if list(row) != [self.field] and not (not row and self.field in self.optional):
                yield f"{where}: select={[self.field]} returned {sorted(row)}"


class Output:
    """The output of a RemoteGraph's stream, which is opened first."""

    async def of(self, stream: Any) -> Any:
        if hasattr(stream, "__aenter__"):
            async with stream as opened:
                return await opened.output()
        with stream as opened:
            return opened.output

    def differences(self, value: Any, where: str) -> Iterator[str]:
        return differences(value, dict[str, Any], where)


class RunDone:
    """The stream of a thread, which does not end by itself: it has a `run_done` event for each run."""

    def differences(self, value: Any, where: str) -> Iterator[str]:
        if value[-1].event != "run_done":
            yield f"{where}: no run_done event among {[part.event for part in value]}"


CALLS: list[Call] = [
    *assistants(),
    *threads(),
    *runs(),
    *states(),
    *crons()[:2],
    *selections(),
    *crons()[2:],
    *store(),
    ("threads.stream", lambda c, _: in_thread(c.threads.stream(assistant_id="chat")), dict[str, Any]),
    *deletions(),
]

CONFIG = {"configurable": {"thread_id": "3f8a3c0e-9f4e-4b0e-8d5d-3f5a7c1b2d10"}}
UPDATE = {"as_node": "answer"}
# Method, arguments, named arguments, type of the result. The async method has an `a` before the name.
GRAPH_CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("invoke", (HI, CONFIG), {}, dict[str, Any]),
    ("stream", (HI, CONFIG), {"stream_mode": ["values", "updates"]}, list[Any]),
    ("get_graph", (), {}, Any),
    ("get_state", (CONFIG,), {}, StateSnapshot),
    ("get_state_history", (CONFIG,), {}, list[StateSnapshot]),
    ("update_state", (CONFIG, HI), UPDATE, dict[str, Any]),
    ("stream_events", (HI, CONFIG), {"version": "v3"}, Output()),
    ("copy", ({"name": "other"},), {}, RemoteGraph),
    ("with_config", (CONFIG,), {}, RemoteGraph),
]
# The SDK raises NotImplementedError.
NOT_IMPLEMENTED = {"bulk_update_state", "abulk_update_state"}


def in_thread(stream: Any) -> Any:
    """Runs a thread stream to its end, with the sync or the async client."""
    if hasattr(stream, "__aenter__"):

        async def run() -> Any:
            async with stream as thread:
                await thread.run.start(input=HI)
                return await thread.output

        return run()
    with stream as thread:
        thread.run.start(input=HI)
        return thread.output


async def finished(result: Any, expected: Any) -> Any:
    """The value of a call, of whichever kind of client. Lists what a stream returns, of an endless one the first `run_done` last."""
    if inspect.isawaitable(result):
        result = await result
    if isinstance(expected, Output):
        return await expected.of(result)
    if not isinstance(result, Iterator) and not hasattr(result, "__aiter__"):
        return result
    parts: list[Any] = []
    if isinstance(result, Iterator):
        for part in result:
            parts.append(part)
            if isinstance(expected, RunDone) and part.event == "run_done":
                break
    else:
        async for part in result:
            parts.append(part)
            if isinstance(expected, RunDone) and part.event == "run_done":
                break
    return parts


def returned(method: Any, name: str) -> Any:
    """The annotated type of the result; a list of anything for streams."""
    annotation = method.__annotations__["return"]
    if "Iterator" in annotation:
        return list[Any]
    return TYPES.get(name) or eval(annotation, {**vars(schema), "builtins": builtins})


async def attempt(call: Callable[[], Any], expected: Any, at: str) -> tuple[Any, list[str]]:
    try:
        value = await asyncio.wait_for(finished(call(), expected), 30)
    except Exception as error:  # every exception is a problem to report
        return None, [f"{at}: {type(error).__name__}: {error}"]
    check = expected.differences if isinstance(expected, (Only, Output, RunDone)) else partial(differences, wanted=expected)
    return value, list(check(value, where=at))


async def call_client(client: Any) -> list[str]:
    problems: list[str] = []
    seen: Seen = {}
    for name, call, *given in CALLS:
        noun, method = name.split(".")
        expected = given[0] if given else returned(getattr(getattr(client, noun), method), name)
        value, wrong = await attempt(partial(call, client, seen), expected, f"{type(client).__name__} {name}")
        problems += wrong
        if not given:
            seen[name] = value
    return problems


async def call_graph(graph: RemoteGraph) -> list[str]:
    problems: list[str] = []
    called: set[str] = set()
    for sync_name, arguments, named, expected in GRAPH_CALLS:
        for name in {sync_name, f"a{sync_name}"} & public(RemoteGraph):
            called.add(name)
            call = partial(getattr(graph, name), *arguments, **named)
            problems += (await attempt(call, expected, f"RemoteGraph {name}"))[1]
    return problems + [f"RemoteGraph.{name} has no call" for name in public(RemoteGraph) - called - NOT_IMPLEMENTED]


def public(of: type) -> set[str]:
    return {name for name, value in vars(of).items() if not name.startswith("_") and callable(value)}


def without_a_call(client: Any) -> list[str]:
    """Methods of a client that no call names."""
    named = {name for name, *_ in CALLS}
    nouns = {name for name in vars(client) if not name.startswith("_")} - {"http"}
    missing = [f"{type(client).__name__}.{noun} has no calls" for noun in nouns - set(NOUNS)]
    for noun in NOUNS:
        of = type(getattr(client, noun))
        missing += [f"{of.__name__}.{name} has no call" for name in public(of) if f"{noun}.{name}" not in named]
    return missing


async def main(url: str) -> None:
    blocking, async_client = get_sync_client(url=url, api_key=None), get_client(url=url, api_key=None)
    problems: list[str] = []
    for client in (blocking, async_client):
        problems += [*without_a_call(client), *await call_client(client)]
    problems += await call_graph(RemoteGraph("chat", client=async_client, sync_client=blocking))
    json.dump(sorted(problems), sys.stdout)


# Shows where a call waits that does not return.
faulthandler.dump_traceback_later(float(sys.argv[2]), exit=True)
asyncio.run(main(sys.argv[1]))
