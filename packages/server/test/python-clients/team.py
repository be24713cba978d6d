"""Custom events of each form, a tool call, a model inside a subgraph, and two models that stream at the same time."""

import asyncio

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from nested import thinker
from tools import ask as ask_for_weather
from tools import weather


def ask(state: MessagesState) -> MessagesState:
    write = get_stream_writer()
    write("a text")
    write({"at": 1})
    write({"name": "progress", "done": 1})
    write({"name": "progress", "payload": {"done": 2}})
    return ask_for_weather(state)


async def reply(state: MessagesState) -> MessagesState:
    def answer(text: str, sleep: float) -> "asyncio.Task[BaseMessage]":
        return asyncio.ensure_future(FakeListChatModel(responses=[text], sleep=sleep).ainvoke(state["messages"]))

    return {"messages": await asyncio.gather(answer("it snows", 0.005), answer("in Oslo", 0.006))}


builder = StateGraph(MessagesState)
builder.add_node("ask", ask)
builder.add_node("tools", ToolNode([weather]))
builder.add_node("sub", thinker.compile())
builder.add_node("reply", reply)
builder.add_edge(START, "ask")
builder.add_edge("ask", "tools")
builder.add_edge("tools", "sub")
builder.add_edge("sub", "reply")
team = builder.compile()
