"""Two steps that add to a list, and a custom event."""

import operator
from typing import Annotated, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


def first(state: Log) -> Log:
    get_stream_writer()({"at": "first"})
    return {"log": ["one"]}


def second(state: Log) -> Log:
    return {"log": ["two"]}


builder = StateGraph(Log)
builder.add_node("first", first)
builder.add_node("second", second)
builder.add_edge(START, "first")
builder.add_edge("first", "second")
log = builder.compile()
