"""The smallest graphs, because the servers are measured and not the agents."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import START, MessagesState, StateGraph


class Wait(TypedDict):
    ms: int


async def answer(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(str(state["messages"][-1].content))]}


async def wait(state: Wait) -> Wait:
    await asyncio.sleep(state["ms"] / 1000)
    return state


class TokenModel(BaseChatModel):
    """Streams 50 tokens without a pause."""

    @property
    def _llm_type(self) -> str:
        return "tokens"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("hello"))])

    async def _astream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        for token in range(50):
            yield ChatGenerationChunk(message=AIMessageChunk(f"token{token} "))


_model = TokenModel()


async def speak(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await _model.ainvoke(state["messages"])]}


def _chain() -> StateGraph[Any, Any, Any, Any]:
    builder = StateGraph(MessagesState)
    names = [START, *(f"step{at}" for at in range(5))]
    for before, name in zip(names, names[1:], strict=False):
        builder.add_node(name, answer).add_edge(before, name)
    return builder


builders = {
    "one-node": StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer"),
    "chain": _chain(),
    "waiter": StateGraph(Wait).add_node("wait", wait).add_edge(START, "wait"),
    "speaker": StateGraph(MessagesState).add_node("speak", speak).add_edge(START, "speak"),
}

one_node = builders["one-node"].compile()
chain = builders["chain"].compile()
waiter = builders["waiter"].compile()
speaker = builders["speaker"].compile()
