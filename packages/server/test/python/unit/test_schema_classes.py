"""The classes of a state are found in the annotations of its schemas."""

import dataclasses
import enum
import unittest
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict

from pydantic import BaseModel
from svc_executor.schema_classes import classes_in

if TYPE_CHECKING:
    from nowhere import Missing


class Mood(enum.Enum):
    CALM = 1


class Point(NamedTuple):
    x: int
    mood: Mood


@dataclasses.dataclass
class Place:
    at: Point
    near: "list[Place]"


class Item(BaseModel):
    parts: Mapping[str, Sequence["Item"]]


Named = NewType("Named", Item)


class State(TypedDict):
    places: Annotated[list[Place], "reducer"]
    item: NotRequired[Named | None]
    choice: Literal["a"]
    anything: Any


class Unknown(TypedDict):
    missing: "Missing"
    place: Place


class SchemaClassesTest(unittest.TestCase):
    def test_classes_are_found_as_fields_of_one_another(self) -> None:
        self.assertEqual(classes_in([State]), {Place, Point, Mood, Item})
        self.assertEqual(classes_in([Optional[Mood], dict[str, tuple[Point, ...]]]), {Mood, Point})

    def test_other_types_are_no_classes_of_a_project(self) -> None:
        self.assertEqual(classes_in([int, None, Any, list, "Place", Literal["x"], object()]), set())

    def test_annotations_that_cannot_be_evaluated_are_left_out(self) -> None:
        self.assertEqual(classes_in([Unknown]), {Place, Point, Mood})


if __name__ == "__main__":
    unittest.main()
