"""An element of a list is sent once, as long as it does not change."""

import unittest
from typing import Any

import value_classes
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from svc_executor.lists import RunValues
from svc_executor.refusal import ValueRefused
from svc_executor.values import decode
from value_scope import allowed


class Host:
    """The side of the host, in Python: what src/engine/python/run-values.ts does."""

    def __init__(self) -> None:
        self.elements: dict[int, bytes] = {}
        self.lists: dict[Any, list[int]] = {}

    def read(self, key: Any, spec: dict[str, Any], parts: list[bytes]) -> Any:
        if "t" in spec:
            return decode(parts[spec["t"]], allowed())
        if spec.get("reset"):
            self.elements.clear()
            self.lists.clear()
        for handle, part in spec["n"]:
            self.elements[handle] = parts[part]
        shared, added = spec["l"]
        self.lists[key] = self.lists.get(key, [])[:shared] + added
        return [decode(self.elements[handle], allowed()) for handle in self.lists[key]]


class ListsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.values = RunValues(allowed())
        self.host = Host()

    def sent(self, value: Any, key: Any = "messages") -> int:
        """Sends a value, checks that the host has it, and returns how many texts were sent."""
        parts: list[bytes] = []
        spec = self.values.describe(key, value, parts)
        self.assertEqual(self.host.read(key, spec, parts), value)
        return len(parts)

    def test_what_a_list_adds_is_sent(self) -> None:
        messages = [HumanMessage(f"m{index}") for index in range(50)]
        self.assertEqual(self.sent(messages), 50)
        self.assertEqual(self.sent(messages), 0)
        self.assertEqual(self.sent([*messages, AIMessage("x")]), 1)
        self.assertEqual(self.sent(messages[10:]), 0)
        self.assertEqual(self.sent(messages, key="other"), 0)

    def test_a_change_in_place_is_sent(self) -> None:
        message = AIMessage("x", tool_calls=[{"name": "f", "args": {"a": [1]}, "id": "c"}])
        tool = ToolMessage("r", tool_call_id="c", artifact={"deep": {"list": []}})
        item = value_classes.Item(name="n")
        record: dict[str, Any] = {"a": {"b": 1}}
        elements: list[Any] = [message, tool, item, record]
        self.assertEqual(self.sent(elements), 4)
        self.assertEqual(self.sent(elements), 0)
        message.tool_calls[0]["args"]["a"].append(2)
        self.assertEqual(self.sent(elements), 1)
        message.content = "y"
        self.assertEqual(self.sent(elements), 1)
        message.additional_kwargs["n"] = 1
        self.assertEqual(self.sent(elements), 1)
        message.additional_kwargs["n"] = True
        self.assertEqual(self.sent(elements), 1)
        message.mood = "calm"
        self.assertEqual(self.sent(elements), 1)
        tool.artifact["deep"]["list"].append(1)
        item.tags.add("t")
        record["a"]["b"] = 1.0
        self.assertEqual(self.sent(elements), 3)
        self.assertEqual(self.sent(elements), 0)

    def test_other_values_are_texts(self) -> None:
        for value in ({"a": 1}, "x", [], [1, "a"], (1,), None):
            self.assertEqual(self.sent(value, key="other"), 1)

    def test_scalars_between_objects_are_sent_again(self) -> None:
        elements: list[Any] = [1, HumanMessage("x"), "a"]
        self.sent(elements)
        self.assertEqual(self.sent(elements), 2)

    def test_what_the_host_sends_is_known(self) -> None:
        texts = [b'{"$":"human","content":"a"}', b"1", b'{"$":"ai","content":"b"}']
        spec = {"l": [[-1, 0], [-2, 1], [-3, 2]]}
        self.host.elements = dict(zip((-1, -2, -3), texts, strict=True))
        self.host.lists["messages"] = [-1, -2, -3]
        found = self.values.read("messages", spec, texts)
        self.assertEqual(found, [HumanMessage("a"), 1, AIMessage("b")])
        self.assertEqual(self.sent([found[0], found[2], AIMessage("c")]), 1)
        found[0].content = "changed"
        self.assertEqual(self.sent([found[0], found[2]]), 1)

    def test_nothing_changes_when_an_element_cannot_be_stored(self) -> None:
        first = HumanMessage("a")
        with self.assertRaises(ValueRefused) as caught:
            self.values.describe("messages", [first, {"x": print}], [])
        self.assertIn("value[1].x is of type", str(caught.exception))
        self.assertEqual(self.sent([first]), 1)

    def test_elements_are_forgotten_at_a_limit(self) -> None:
        self.values = RunValues(allowed(), elements_max=10)
        for turn in range(30):
            self.sent([HumanMessage(f"{turn}"), AIMessage("x")])
        self.assertLessEqual(len(self.host.elements), 14)


if __name__ == "__main__":
    unittest.main()
