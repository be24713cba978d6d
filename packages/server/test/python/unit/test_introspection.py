"""Descriptions of graphs."""

import typing
import unittest

from langgraph.graph import START, StateGraph
from svc_executor.introspection import schemas


class Form(typing.TypedDict):
    title: str
    pages: int


class Schemas(unittest.TestCase):
    def test_a_state_that_pydantic_refuses_has_the_types_of_its_channels(self) -> None:
        # pydantic refuses typing.TypedDict before Python 3.12.
        builder = StateGraph(Form).add_node("write", lambda state: {"pages": 1}).add_edge(START, "write")
        found = schemas(builder.compile())
        for name in ("input_schema", "output_schema", "state_schema"):
            types = {key: field["type"] for key, field in found[name]["properties"].items()}
            self.assertEqual(types, {"title": "string", "pages": "integer"})


if __name__ == "__main__":
    unittest.main()
