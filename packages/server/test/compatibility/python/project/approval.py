"""Interrupts."""

from langgraph.graph import START, StateGraph
from langgraph.types import Send, interrupt
from log import Log


def write(state: Log) -> Log:
    return {"log": ["written"]}


def review(state: Log) -> Log:
    return {"log": [f"answered {interrupt({'question': 'send?'})}"]}


def send(state: Log) -> Log:
    return {"log": ["sent"]}


builder = StateGraph(Log)
builder.add_node("write", write)
builder.add_node("review", review)
builder.add_node("send", send)
builder.add_edge(START, "write")
builder.add_edge("write", "review")
builder.add_edge("review", "send")
approval = builder.compile()


def ask(state: Log) -> Log:
    name = state["log"][0]
    return {"log": [f"{name}: {interrupt(name)}"]}


def both(state: Log) -> list[Send]:
    return [Send("ask", {"log": [name]}) for name in ("left", "right")]


asking = StateGraph(Log)
asking.add_node("ask", ask)
asking.add_conditional_edges(START, both, ["ask"])
questions = asking.compile()
