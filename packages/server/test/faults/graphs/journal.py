"""The graph of journal.ts in Python."""

import asyncio
import json
import operator
import os
import time
from typing import Annotated, Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    marker: str
    steps: int
    ms: int
    file: str | None
    gate: str | None
    taken: int
    log: Annotated[list[str], operator.add]


async def step(state: State) -> dict[str, Any]:
    """One step."""
    entry = f"{state['marker']}:{state['taken']}"
    if file := state.get("file"):
        line = json.dumps({"entry": entry, "pid": os.getpid(), "at": round(time.time() * 1000)})
        # One write with O_APPEND: lines of several processes do not mix.
        with open(file, "ab", buffering=0) as journal_file:
            journal_file.write(f"{line}\n".encode())
    get_stream_writer()({"step": entry})
    if state["ms"] > 0:
        await asyncio.sleep(state["ms"] / 1000)
    while (gate := state.get("gate")) and not os.path.exists(gate):
        await asyncio.sleep(0.02)
    return {"taken": state["taken"] + 1, "log": [entry]}


journal = (
    StateGraph(State)
    .add_node("step", step)
    .add_edge(START, "step")
    .add_conditional_edges("step", lambda state: "step" if state["taken"] < state["steps"] else END, ["step", END])
    .compile()
)
