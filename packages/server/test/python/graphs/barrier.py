"""The graphs `barrier` and `probe` of the tests in TypeScript, in Python."""

import asyncio
import contextlib
import operator
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_store
from langgraph.graph import START, StateGraph


class State(TypedDict):
    do: str
    ms: int
    log: Annotated[list[str], operator.add]


async def wait(state: State, config: RunnableConfig) -> dict[str, Any]:
    """Waits until the test opens the barrier of the run, then adds the id of the run to the log."""
    key = str(config["configurable"]["run_id"])
    while await get_store().aget(("barriers",), key) is None:
        await asyncio.sleep(0.005)
    return {"log": [key]}


async def sleep(state: State) -> dict[str, Any]:
    """Waits."""
    await asyncio.sleep(state["ms"] / 1000)
    return {"log": []}


async def ignore(state: State) -> dict[str, Any]:
    """Waits, and ends as usual when it is cancelled."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    return {"log": ["ignored"]}


barrier = StateGraph(State).add_node("wait", wait).add_edge(START, "wait").compile()
probe = StateGraph(State).add_node("sleep", sleep).add_edge(START, "sleep").compile()
ignoring = StateGraph(State).add_sequence([ignore, sleep]).add_edge(START, "ignore").compile()
