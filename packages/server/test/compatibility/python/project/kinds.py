"""A graph whose state has values of many classes. Each step adds some, and looks at what it gets."""

import dataclasses
import datetime
import decimal
import enum
import operator
import pathlib
import re
import uuid
from typing import Annotated, Any, NamedTuple, TypedDict

from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk, ChatMessage
from langgraph.graph import START, StateGraph
from pydantic import BaseModel, computed_field


class Color(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Place:
    name: str
    at: Point
    _hidden: int = 1


class Item(BaseModel):
    name: str
    price: decimal.Decimal
    tags: set[str]
    when: datetime.datetime

    @computed_field
    @property
    def label(self) -> str:
        return f"{self.name}!"


class State(TypedDict, total=False):
    things: Annotated[dict[str, Any], operator.or_]
    item: Item
    place: Place
    color: Color
    seen: list[str]


def make(state: State) -> State:
    day = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc)
    things = {
        "bytes": b"\x00\xff",
        "set": {1},
        "tuple": (1, (2,)),
        "date": day.date(),
        "datetime": day,
        "timedelta": datetime.timedelta(days=1, seconds=2),
        "uuid": uuid.UUID(int=1),
        "decimal": decimal.Decimal("1.50"),
        "whole": decimal.Decimal("12"),
        "path": pathlib.Path("/tmp/x"),
        "regex": re.compile("a+"),
        "nan": float("nan"),
        "infinity": float("inf"),
        "float": 1.0,
        "keys": {1: "a", None: "b", True: "c"},
        "document": Document("text", metadata={"page": 1}),
        "chunk": AIMessageChunk("part"),
        "chat": ChatMessage("said", role="critic"),
        "error": ValueError("no"),
        "nul": "a\x00b",
        "lc": {"lc": 1, "type": "constructor", "id": ["x"], "kwargs": {}},
    }
    item = Item(name="n", price=decimal.Decimal("2.5"), tags={"t"}, when=day)
    return {"things": things, "item": item, "place": Place("here", Point(1, 2.0)), "color": Color.RED}


def look(state: State) -> State:
    values = [*state["things"].items(), ("item", state["item"]), ("place", state["place"]), ("color", state["color"])]
    return {"seen": [f"{name}: {type(value).__name__}" for name, value in values]}


builder = StateGraph(State)
builder.add_node("make", make)
builder.add_node("look", look)
builder.add_edge(START, "make")
builder.add_edge("make", "look")
kinds = builder.compile()
