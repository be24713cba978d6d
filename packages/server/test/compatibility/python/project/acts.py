"""A graph with one node. The input names the action that the node executes."""

import asyncio
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime


class State(TypedDict, total=False):
    do: str
    out: Any


async def act(state: State, config: RunnableConfig, runtime: Runtime) -> State:
    match state["do"]:
        case "throw":
            raise TypeError("failed on purpose")
        case "wait":
            get_stream_writer()("waiting")
            await asyncio.Event().wait()
        case "context":
            return {"out": runtime.context}
        case "remember":
            await runtime.store.aput(("notes",), "one", {"text": "from the graph"})
            item = await runtime.store.aget(("notes",), "one")
            return {"out": item.value}
    return {"out": None}


builder = StateGraph(State)
builder.add_node("act", act)
builder.add_edge(START, "act")
acts = builder.compile()
