"""The graph `steps` of the tests in TypeScript, in Python."""

import asyncio
import operator
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import interrupt


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    plan: list[str]
    at: int
    note: str
    seen: Annotated[list[str], operator.add]


async def gate(name: str, config: RunnableConfig) -> None:
    """Counts the execution, and waits until the test opens the gate."""
    thread = str(config["configurable"]["thread_id"])
    store = get_store()
    begun = await store.aget(("begun", thread), name)
    await store.aput(("begun", thread), name, {"times": 1 + (begun.value["times"] if begun else 0)})
    while await store.aget(("open", thread), name) is None:
        await asyncio.sleep(0.005)


def texts(state: State) -> str:
    return ",".join(str(message.content) for message in state.get("messages", []))


async def step(state: State, config: RunnableConfig) -> dict[str, Any]:
    at = state.get("at", 0)
    await gate(str(at), config)
    return {"at": at + 1, "seen": [f"{at} {texts(state)}"]}


async def call(state: State, config: RunnableConfig) -> dict[str, Any]:
    """Calls a tool. The next step gives its result."""
    at = state.get("at", 0)
    await gate(str(at), config)
    calls = [{"id": f"call-{at}", "name": "tool", "args": {}}]
    return {"at": at + 1, "messages": [AIMessage(id=f"ai-{at}", content="calls", tool_calls=calls)]}


async def tool(state: State, config: RunnableConfig) -> dict[str, Any]:
    at = state.get("at", 0)
    await gate(str(at), config)
    return {"at": at + 1, "messages": [ToolMessage(id=f"tool-{at}", content="result", tool_call_id=f"call-{at - 1}")]}


async def ask(state: State, config: RunnableConfig) -> dict[str, Any]:
    at = state.get("at", 0)
    await gate(str(at), config)
    answer = interrupt("go on?")
    return {"at": at + 1, "seen": [f"{at} {answer} {texts(state)}"]}


def inner(name: str) -> Callable[[State, RunnableConfig], Awaitable[dict[str, Any]]]:
    async def node(state: State, config: RunnableConfig) -> dict[str, Any]:
        at = state.get("at", 0)
        await gate(f"{at}-{name}", config)
        return {"at": at + 1} if name == "second" else {}

    return node


sub = (
    StateGraph(State)
    .add_node("first", inner("first"))
    .add_node("second", inner("second"))
    .add_edge(START, "first")
    .add_edge("first", "second")
    .compile()
)


async def sub_node(state: State, config: RunnableConfig) -> dict[str, Any]:
    return {"at": (await sub.ainvoke(state, config))["at"]}


def following(state: State) -> str:
    plan, at = state["plan"], state.get("at", 0)
    return plan[at] if at < len(plan) else END


builder = StateGraph(State)
for name, node in {"step": step, "call": call, "tool": tool, "ask": ask, "sub": sub_node}.items():
    builder.add_node(name, node)
    builder.add_conditional_edges(name, following, ["step", "call", "tool", "sub", "ask", END])
builder.add_conditional_edges(START, following, ["step", "call", "tool", "sub", "ask", END])
steps = builder.compile()
