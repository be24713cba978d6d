"""Everything that a graph may be, and what it may use."""

import contextlib
import operator
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import tool
from langgraph.channels.delta import DeltaChannel
from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy, interrupt
from langgraph_sdk.runtime import ServerRuntime


@task
def double(number: int) -> int:
    return 2 * number


@entrypoint()
async def function(numbers: list[int], *, previous: int | None = None) -> Any:
    doubled = [await double(number) for number in numbers]
    answer = interrupt("add?")
    total = sum(doubled) + answer + (previous or 0)
    return entrypoint.final(value={"total": total}, save=total)


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


class ToolModel(GenericFakeChatModel):
    """A model that calls a tool, and then answers."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def make_agent() -> Any:
    call = ToolCall(name="weather", args={"city": "Rome"}, id="call-1")
    model = ToolModel(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("It is sunny.")]))
    return create_agent(model, [weather])


class Items(TypedDict):
    items: Annotated[list[str], operator.add]


@dataclass
class Context:
    name: str = "nobody"


def greet(state: Items, runtime: Runtime[Context]) -> dict[str, Any]:
    configurable = get_config()["configurable"]
    return {"items": [f"hello {runtime.context.name}", f"{configurable['thread_id'] is not None}"]}


context_graph = StateGraph(Items, context_schema=Context).add_node("greet", greet).add_edge(START, "greet").compile()

opened: list[str] = []


@contextlib.asynccontextmanager
async def open_graph(runtime: ServerRuntime[Context]) -> AsyncIterator[CompiledStateGraph[Any, Any, Any, Any]]:
    running = runtime.execution_runtime

    def show(state: Items) -> dict[str, Any]:
        return {"items": [runtime.access_context, str(running.context) if running else "", *opened]}

    opened.append("open")
    try:
        yield StateGraph(Items).add_node("show", show).add_edge(START, "show").compile()
    finally:
        opened.append("closed")


def count(state: Items) -> dict[str, Any]:
    return {"items": [f"{len(state['items'])}"]}


counting = StateGraph(Items).add_node("count", count).add_edge(START, "count").compile(checkpointer=True)
memory_graph = StateGraph(Items).add_node("counting", counting).add_edge(START, "counting").compile()


def append(state: list[str], writes: list[list[str]]) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


class Deltas(TypedDict):
    log: Annotated[list[str], DeltaChannel(append)]
    kept: str


def add(state: Deltas) -> dict[str, Any]:
    return {"log": [f"after {len(state['log'])}"], "kept": "yes"}


delta_graph = StateGraph(Deltas).add_node("add", add).add_node("again", add).add_edge(START, "add").add_edge("add", "again").compile()

tried = {"times": 0}


def flaky(state: Items) -> dict[str, Any]:
    tried["times"] += 1
    if tried["times"] < 3:
        raise ConnectionError("not yet")
    return {"items": [f"try {tried['times']}"]}


retry_graph = (
    StateGraph(Items)
    .add_node("flaky", flaky, retry_policy=RetryPolicy(initial_interval=0.01, max_attempts=3))
    .add_edge(START, "flaky")
    .compile()
)


def keep_last(state: list[Any], writes: list[Any]) -> list[Any]:
    # What the reducer makes cannot be stored, although what the node has written can.
    return [*state, *writes, object()]


class Unstorable(TypedDict):
    first: Annotated[list[Any], operator.add]
    second: Annotated[list[Any], keep_last]


def write(state: Unstorable) -> dict[str, Any]:
    return {"first": [{"text": "x" * 100}], "second": ["x"]}


unstorable_graph = StateGraph(Unstorable).add_node("write", write).add_edge(START, "write").compile()
