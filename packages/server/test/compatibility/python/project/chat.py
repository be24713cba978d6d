"""Answers every message with an echo of it, token by token."""

from langchain_core.language_models import FakeListChatModel
from langgraph.graph import START, MessagesState, StateGraph


async def answer(state: MessagesState) -> MessagesState:
    text = f"echo {state['messages'][-1].content}"
    return {"messages": [await FakeListChatModel(responses=[text]).ainvoke(state["messages"])]}


builder = StateGraph(MessagesState)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
chat = builder.compile()
