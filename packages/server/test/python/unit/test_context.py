"""The context that a graph gets of what a client has sent."""

import dataclasses
import unittest
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from svc_executor.context import context_for


@dataclasses.dataclass
class Plain:
    name: str
    made: str = dataclasses.field(default="", init=False)


class Base(TypedDict):
    name: str


class Typed(Base):
    tone: str


class Model(BaseModel):
    name: str = Field(validation_alias="userName")
    tone: str = Field(default="", validation_alias=AliasChoices("tone", "manner"))


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(alias="userName")


def seen_by(schema: Any, context: dict[str, Any]) -> Any:
    graph = StateGraph(dict, context_schema=schema).add_node("node", lambda state: state).add_edge(START, "node").compile()
    return context_for(graph, context)


class ContextTest(unittest.TestCase):
    """A schema gets all values that it takes, and none that it refuses."""

    def test_dataclass(self) -> None:
        self.assertEqual(Plain(**seen_by(Plain, {"name": "Ann", "made": "x", "other": 1})), Plain("Ann"))

    def test_typed_dict(self) -> None:
        self.assertEqual(seen_by(Typed, {"name": "Ann", "tone": "dry", "other": 1}), {"name": "Ann", "tone": "dry"})

    def test_model(self) -> None:
        made = Model(**seen_by(Model, {"userName": "Ann", "manner": "dry", "other": 1}))
        self.assertEqual((made.name, made.tone), ("Ann", "dry"))

    def test_model_that_takes_any_value(self) -> None:
        self.assertEqual(Open(**seen_by(Open, {"name": "Ann", "other": 1})).model_dump(), {"name": "Ann", "other": 1})

    def test_model_that_forbids_other_values(self) -> None:
        self.assertEqual(Strict(**seen_by(Strict, {"userName": "Ann", "other": 1})).name, "Ann")


if __name__ == "__main__":
    unittest.main()
