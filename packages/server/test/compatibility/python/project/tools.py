"""A tool call, its result, and an answer that no model has streamed."""

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"snow in {city}"


def ask(state: MessagesState) -> MessagesState:
    calls = [{"id": "call_1", "name": "weather", "args": {"city": "Oslo"}}]
    return {"messages": [AIMessage(id="asking", content="", tool_calls=calls)]}


def answer(state: MessagesState) -> MessagesState:
    return {"messages": [AIMessage(id="answer", name="reporter", content=str(state["messages"][-1].content))]}


builder = StateGraph(MessagesState)
builder.add_node("ask", ask)
builder.add_node("tools", ToolNode([weather]))
builder.add_node("answer", answer)
builder.add_edge(START, "ask")
builder.add_edge("ask", "tools")
builder.add_edge("tools", "answer")
tools = builder.compile()
