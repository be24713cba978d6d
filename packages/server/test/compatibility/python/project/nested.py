"""Graphs within graphs: one with an interrupt, one with a model."""

from langchain_core.language_models import FakeListChatModel
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from log import Log


def deep(state: Log) -> Log:
    get_stream_writer()({"at": "deep"})
    return {"log": ["deep"]}


def ask(state: Log) -> Log:
    return {"log": [f"asked {interrupt('deep question')}"]}


inner = StateGraph(Log)
inner.add_node("deep", deep)
inner.add_node("ask", ask)
inner.add_edge(START, "deep")
inner.add_edge("deep", "ask")


def outer(state: Log) -> Log:
    return {"log": ["outer"]}


builder = StateGraph(Log)
builder.add_node("outer", outer)
builder.add_node("inner", inner.compile())
builder.add_edge(START, "outer")
builder.add_edge("outer", "inner")
nested = builder.compile()


async def think(state: MessagesState) -> MessagesState:
    return {"messages": [await FakeListChatModel(responses=["deep thought"]).ainvoke(state["messages"])]}


thinker = StateGraph(MessagesState)
thinker.add_node("think", think)
thinker.add_edge(START, "think")

around = StateGraph(MessagesState)
around.add_node("sub", thinker.compile())
around.add_edge(START, "sub")
thinking = around.compile()
