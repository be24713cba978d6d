"""A graph that tests the checkpointer of its run with the engine's own suite, and returns the outcome of each test."""

from collections.abc import AsyncGenerator
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import ProgressCallbacks
from langgraph.graph import START, StateGraph


class State(TypedDict):
    """`outcomes`: an error or None, by the name of the test. `missing`: what the checkpointer does not offer."""

    report: dict[str, Any]


async def run_suite(state: State, config: RunnableConfig) -> dict[str, Any]:
    saver = config["configurable"]["__pregel_checkpointer"]
    outcomes: dict[str, str | None] = {}
    missing: list[str] = []

    async def checkpointers() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        yield saver

    def on_start(capability: str, detected: bool) -> None:
        if not detected:
            missing.append(capability)

    def on_result(capability: str, test: str, passed: bool, error: str | None) -> None:
        outcomes[f"{capability}: {test}"] = None if passed else error

    progress = ProgressCallbacks(on_capability_start=on_start, on_test_result=on_result)
    await validate(checkpointer_test(name="svc")(checkpointers), progress=progress)
    return {"report": {"outcomes": outcomes, "missing": missing}}


graph = StateGraph(State).add_node("run_suite", run_suite).add_edge(START, "run_suite").compile()
