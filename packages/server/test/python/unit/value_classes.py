"""Classes of a project whose objects the tests store."""

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, computed_field, field_serializer


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int
    y: Any = 0


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    at: Any = None


@dataclass
class Job:
    title: str
    _token: str = "t"
    steps: list[str] = field(default_factory=list)


class Item(BaseModel):
    name: str
    price: float = 1.0
    color: Color = Color.RED
    tags: set[str] = Field(default_factory=set)


class Order(BaseModel):
    model_config = ConfigDict(extra="allow")
    items: list[Item]
    _cache: dict[str, int] = PrivateAttr(default_factory=dict)


class Rectangle(BaseModel):
    width: int
    secret: str = Field(default="s", exclude=True)

    @computed_field
    @property
    def area(self) -> int:
        return self.width * self.width

    @field_serializer("width")
    def print_width(self, width: int) -> str:
        return f"{width} cm"


class Login(BaseModel):
    password: SecretStr


class Reply(AIMessage):
    """A message of a project."""

    mood: str = "calm"


CLASSES = [Color, Level, Point, Place, Job, Item, Order, Rectangle, Login, Reply]
