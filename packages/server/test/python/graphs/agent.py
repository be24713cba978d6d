"""Graphs of the tests."""

import asyncio
import logging
import operator
import os
import sys
import time
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_store, get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, interrupt


class Items(TypedDict):
    items: Annotated[list[str], operator.add]


def echo(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"echo: {state['messages'][-1].content}")]}


echo_graph = StateGraph(MessagesState).add_node("echo", echo).add_edge(START, "echo")


async def say(state: MessagesState) -> dict[str, Any]:
    model = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))
    get_stream_writer()({"progress": "begins"})
    return {"messages": [await model.ainvoke(state["messages"])]}


model_graph = StateGraph(MessagesState).add_node("say", say).add_edge(START, "say").compile()


def ask(state: Items) -> dict[str, Any]:
    answer = interrupt({"question": "go on?", "so far": state["items"]})
    return {"items": [f"answered {answer}"]}


def before(state: Items) -> dict[str, Any]:
    return {"items": ["before"]}


def after(state: Items) -> dict[str, Any]:
    return {"items": ["after"]}


ask_graph = (
    StateGraph(Items)
    .add_node("before", before)
    .add_node("ask", ask)
    .add_node("after", after)
    .add_edge(START, "before")
    .add_edge("before", "ask")
    .add_edge("ask", "after")
    .compile()
)

inner_graph = StateGraph(Items).add_node("ask", ask).add_edge(START, "ask").compile()

outer_graph = (
    StateGraph(Items)
    .add_node("before", before)
    .add_node("inner", inner_graph)
    .add_edge(START, "before")
    .add_edge("before", "inner")
    .compile()
)


def fan(state: Items) -> list[Send]:
    return [Send("work", {"items": [name]}) for name in ("a", "b", "c")]


def work(state: Items) -> dict[str, Any]:
    return {"items": [f"worked on {state['items'][0]}"]}


send_graph = (
    StateGraph(Items).add_node("before", before).add_node("work", work).add_edge(START, "before").add_conditional_edges("before", fan, ["work"]).compile()
)


async def remember(state: Items, runtime: Runtime[Any]) -> dict[str, Any]:
    store = get_store()
    await store.aput(("notes",), "last", {"items": state["items"]})
    found = await store.aget(("notes",), "last")
    assert runtime.store is not None and runtime.server_info is not None
    listed = await runtime.store.asearch(("notes",))
    return {"items": [f"stored {found.value['items'][0] if found else None}", f"{len(listed)} of {runtime.server_info.graph_id}"]}


def recall(state: Items) -> dict[str, Any]:
    found = get_store().get(("notes",), "last")
    return {"items": [f"recalled {found.value['items'][0] if found else None}"]}


store_graph = (
    StateGraph(Items).add_node("remember", remember).add_node("recall", recall).add_edge(START, "remember").add_edge("remember", "recall").compile()
)


class Chosen(TypedDict):
    items: Annotated[list[str], operator.add]
    how: str


async def fail(state: Chosen) -> Any:
    how = state.get("how")
    if how == "raise":
        raise ValueError("this is wrong")
    if how == "exit":
        raise SystemExit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "value":
        return {"items": [object()]}
    if how == "forever":
        return Command(goto="fail")
    if how == "wait":
        await asyncio.sleep(60)
    if how == "block":
        time.sleep(60)
    if how == "crash":
        os.kill(os.getpid(), 9)
    if how == "leave":
        os._exit(7)
    if how == "store":
        get_store().get(("notes",), "last")
    if how == "cycle":
        items: list[Any] = []
        items.append(items)
        return {"items": items}
    if how == "print":
        print("printed by a node")
        logging.getLogger("agent").warning("logged by a node")
        assert sys.stdin.read() == ""
    if how == "cancel":
        raise asyncio.CancelledError
    if how == "fork" and os.fork() == 0:
        os.write(1, b"in the fork\n")
        os._exit(0)
    return {"items": ["done"]}


fail_graph = StateGraph(Chosen).add_node("fail", fail).add_edge(START, "fail").compile()


def hold(state: Items) -> dict[str, Any]:
    time.sleep(20)
    return {"items": ["held"]}


hold_graph = StateGraph(Items).add_node("hold", hold).add_edge(START, "hold").compile()


async def step(state: Items, name: str) -> dict[str, Any]:
    folder = os.environ.get("SVC_TEST_STEPS")
    if folder:
        with open(os.path.join(folder, name), "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
        while name == "three" and not os.path.exists(os.path.join(folder, "go")):
            await asyncio.sleep(0.02)
    return {"items": [name]}


steps = StateGraph(Items)
for at, name in enumerate(("one", "two", "three", "four")):

    async def node(state: Items, name: str = name) -> dict[str, Any]:
        return await step(state, name)

    steps.add_node(name, node)
    steps.add_edge(START if at == 0 else ("one", "two", "three")[at - 1], name)
steps_graph = steps.compile()

made = {"times": 0}


def make_graph(config: dict[str, Any]) -> Any:
    made["times"] += 1
    greeting = config["configurable"].get("greeting", "hello")
    times = made["times"]

    def greet(state: Items) -> dict[str, Any]:
        return {"items": [f"{greeting} {'once' if made['times'] == times else 'again'}"]}

    return StateGraph(Items).add_node("greet", greet).add_edge(START, "greet")
