"""Values are stored and restored as the vectors say, which the server reads as well; what cannot be stored is refused with its path."""

import dataclasses
import datetime
import json
import math
import random
import sys
import threading
import unittest
from pathlib import Path
from typing import Any

import value_classes
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel
from svc_executor.allowlist import Allowlist
from svc_executor.refusal import ValueRefused
from svc_executor.values import BYTES_MAX, DEPTH_MAX, decode, encode
from value_scope import SCOPE, allowed

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "values.json").read_text(encoding="utf-8"))


def evaluate(expression: str) -> Any:
    return eval(expression, dict(SCOPE))


class VectorsTest(unittest.TestCase):
    def assert_same(self, actual: Any, expected: Any) -> None:
        self.assertIs(type(actual), type(expected))
        if isinstance(expected, float):
            self.assertEqual(math.copysign(1, actual), math.copysign(1, expected))
        if actual != expected:
            # NaN does not equal itself.
            self.assertEqual(repr(actual), repr(expected))

    def test_values_are_stored_and_restored(self) -> None:
        for vector in VECTORS["values"]:
            with self.subTest(vector["python"]):
                value = evaluate(vector["python"])
                self.assertEqual(encode(value).decode(), vector["stored"])
                read = decode(vector["stored"].encode(), allowed())
                self.assert_same(read, evaluate(vector.get("restored", vector["python"])))
                if "restored" not in vector:
                    self.assertEqual(encode(read).decode(), vector["stored"])

    def test_values_of_javascript_are_read(self) -> None:
        for vector in VECTORS["fromJavaScript"]:
            with self.subTest(vector["stored"]):
                self.assert_same(decode(vector["stored"].encode(), allowed()), evaluate(vector["python"]))


class RefusalTest(unittest.TestCase):
    def assert_refused(self, value: Any, message: str) -> None:
        with self.assertRaises(ValueRefused) as caught:
            encode(value)
        self.assertEqual(caught.exception.message("values.x"), message)

    def test_the_path_of_what_cannot_be_stored_is_named(self) -> None:
        lock = threading.Lock()
        self.assert_refused(lock, "values.x is of type _thread.lock, which cannot be stored")
        self.assert_refused(
            {"items": [1, {"a b": (lock,)}]}, "values.x.items[1]['a b'][0] is of type _thread.lock, which cannot be stored"
        )
        self.assert_refused(
            [HumanMessage("x", additional_kwargs={"client": print})],
            "values.x[0].additional_kwargs.client is of type builtin_function_or_method, which cannot be stored",
        )
        self.assert_refused(
            value_classes.Place("here", at=lock), "values.x.at is of type _thread.lock, which cannot be stored"
        )
        self.assert_refused({"of": lock}, "values.x.of is of type _thread.lock, which cannot be stored")

    def test_code_is_refused(self) -> None:
        for value in (print, lambda: 1, int, sys, (part for part in ()), object()):
            with self.subTest(value), self.assertRaises(ValueRefused):
                encode([value])

    def test_cycles_are_refused(self) -> None:
        value: dict[str, Any] = {"a": {"list": []}}
        value["a"]["list"].append({"up": value["a"]})
        self.assert_refused(value, "values.x.a.list[0].up refers back to values.x.a: a cycle cannot be stored")
        place = value_classes.Job("j")
        place.steps = [place]
        self.assert_refused(place, "values.x.steps[0] refers back to values.x: a cycle cannot be stored")

    def test_the_depth_is_limited(self) -> None:
        def nested(levels: int) -> Any:
            value: Any = 1
            for _ in range(levels):
                value = [value]
            return value

        self.assertEqual(decode(encode(nested(DEPTH_MAX)), allowed()), nested(DEPTH_MAX))
        self.assert_refused(nested(DEPTH_MAX + 1), f"values.x{'[0]' * 8}… is nested more than {DEPTH_MAX} levels deep")
        self.assert_refused(nested(5_000), f"values.x{'[0]' * 8}… is nested more than {DEPTH_MAX} levels deep")

    def test_what_is_stored_can_be_read_at_any_depth(self) -> None:
        shells: list[Any] = [
            lambda value: (value,),
            lambda value: {1: value},
            lambda value: {"$": value},
            lambda value: value_classes.Place("p", value),
            lambda value: value_classes.Item.model_construct(name=value),
            lambda value: ToolMessage.model_construct(content="x", tool_call_id="c", artifact=value),
            lambda value: SCOPE["Send"]("n", value),
        ]
        for shell in shells:
            value: Any = 1
            depth = 0
            while True:
                try:
                    text = encode(value)
                except ValueRefused:
                    break
                value = shell(value)
                depth += 1
            with self.subTest(shell(0)):
                self.assertGreater(depth, DEPTH_MAX // 4)
                self.assertEqual(encode(decode(text, allowed())), text)

    def test_the_size_is_limited(self) -> None:
        self.assertGreater(len(encode("x" * (BYTES_MAX - 2))), 50_000_000)
        self.assert_refused(
            "x" * BYTES_MAX,
            "values.x has 52 MB, and at most 50 MB can be stored. Keep large data outside of the state, and store a reference to it",
        )

    def test_an_integer_with_too_many_digits_is_refused(self) -> None:
        self.assert_refused([10**5000], "values.x[0] is an integer with too many digits to be stored")


class InterruptTest(unittest.TestCase):
    def test_the_schema_of_an_answer_is_json(self) -> None:
        tree = json.loads(encode(SCOPE["Interrupt"]("ask", id="i", response_schema=value_classes.Item)))
        self.assertEqual(tree["response_schema"]["title"], "Item")


class ClassesTest(unittest.TestCase):
    def test_objects_of_other_classes_become_plain_data_with_one_warning(self) -> None:
        text = encode([value_classes.Place("here"), value_classes.Place("there"), value_classes.Color.RED])
        with self.assertLogs("svc_executor.allowlist", "WARNING") as logs:
            found = decode(text, Allowlist())
        self.assertEqual(found, [{"name": "here", "at": None}, {"name": "there", "at": None}, "red"])
        self.assertEqual(len(logs.output), 2)
        self.assertIn('allowed_msgpack_modules": [["value_classes", "Place"]]', logs.output[0])

    def test_a_class_is_allowed_by_its_name(self) -> None:
        text = encode(value_classes.Place("here"))
        for allowed_ in (
            Allowlist.of([["value_classes", "Place"]]),
            Allowlist.of("all"),
        ):
            self.assertEqual(decode(text, allowed_), value_classes.Place("here"))

    def test_a_class_that_is_gone_becomes_plain_data(self) -> None:
        text = encode(value_classes.Item(name="n")).replace(b'"name":"Item"', b'"name":"Gone"')
        with self.assertLogs("svc_executor.allowlist", "WARNING") as logs:
            found = decode(text, Allowlist([("value_classes", "Gone"), ("value_classes", "Color")]))
        self.assertEqual(found["name"], "n")
        self.assertIn("it cannot be imported", logs.output[0])

    def test_no_module_is_imported_that_is_not_allowed(self) -> None:
        sys.modules.pop("this", None)
        text = b'{"$":"py","kind":"dataclass","module":"this","name":"X","of":{}}'
        with self.assertLogs("svc_executor.allowlist", "WARNING"):
            self.assertEqual(decode(text, allowed()), {})
        self.assertNotIn("this", sys.modules)

    def test_only_classes_are_created(self) -> None:
        text = b'{"$":"py","kind":"enum","module":"os","name":"system","of":"true"}'
        with self.assertLogs("svc_executor.allowlist", "WARNING") as logs:
            self.assertEqual(decode(text, Allowlist([("os", "system")])), "true")
        self.assertIn("it is no class", logs.output[0])

    def test_nothing_is_validated_and_no_init_runs(self) -> None:
        class Strict(BaseModel):
            count: int

            def __init__(self, **fields: Any) -> None:
                raise AssertionError("no __init__")

        text = encode(Strict.model_construct(count="many"))
        accepted = allowed()
        accepted.add([Strict])
        found = decode(text, accepted)
        self.assertIs(type(found), Strict)
        self.assertEqual(found.count, "many")

    def test_private_attributes_of_a_model_have_their_defaults(self) -> None:
        order = value_classes.Order(items=[])
        order._cache["a"] = 1
        self.assertEqual(decode(encode(order), allowed())._cache, {})

    def test_the_newest_version_of_a_class_is_used(self) -> None:
        def version(**fields: Any) -> type:
            made = dataclasses.make_dataclass("Note", list(fields.values()))
            made.__module__ = "notes"
            return made

        first = version(a=("text", str))
        second = version(a=("text", str), b=("stars", int, dataclasses.field(default=5)))
        third = version(b=("stars", int))
        text = encode(first("x"))
        accepted = Allowlist()
        accepted.add([first, second])
        self.assertEqual(decode(text, accepted), second("x", 5))
        accepted.add([third])
        with self.assertLogs("svc_executor.allowlist", "WARNING") as logs:
            self.assertEqual(decode(text, accepted), {"text": "x"})
        self.assertIn("it has no field 'text' any more", logs.output[0])

    def test_a_subclass_of_a_message_that_is_not_allowed_becomes_the_message(self) -> None:
        with self.assertLogs("svc_executor.allowlist", "WARNING"):
            found = decode(encode(value_classes.Reply("yo", mood="happy", id="1")), Allowlist())
        self.assertEqual(found, AIMessage("yo", id="1", mood="happy"))

    def test_models_of_pydantic_1_are_restored(self) -> None:
        if sys.version_info >= (3, 14):
            return  # pydantic has no version 1 there
        from pydantic import v1

        class Old(v1.BaseModel):
            name: str
            count: int = 3

        accepted = Allowlist()
        accepted.add([Old])
        self.assertEqual(decode(encode(Old(name="n")), accepted), Old(name="n"))


class RandomTest(unittest.TestCase):
    """Random values are restored. A failure names the seed."""

    def value(self, source: random.Random, depth: int = 0) -> Any:
        leaves = [vector for vector in VECTORS["values"] if "restored" not in vector]
        if depth > 3 or source.random() < 0.4:
            return evaluate(source.choice(leaves)["python"])
        parts = [self.value(source, depth + 1) for _ in range(source.randrange(4))]
        names = source.choices(["a", "$", "of", "type", "py", "é\ud800", "__class__", ""], k=len(parts))
        match source.randrange(7):
            case 0:
                return tuple(parts)
            case 1:
                return {index: part for index, part in enumerate(parts)}
            case 2:
                return value_classes.Place("p", parts)
            case 3:
                return ToolMessage("x", tool_call_id="c", artifact=parts)
            case 4:
                return value_classes.Point(1, dict(zip(names, parts)))
            case 5:
                return dict(zip(names, parts))
            case _:
                return parts

    def test_random_values_are_restored(self) -> None:
        seed = random.SystemRandom().randrange(2**32)
        source = random.Random(seed)
        accepted = allowed()
        for number in range(400):
            value = self.value(source)
            with self.subTest(seed=seed, number=number):
                text = encode(value)
                read = decode(text, accepted)
                self.assertEqual(repr(read), repr(value))
                self.assertEqual(encode(read), text)
                text.decode("utf-8")


class LoadedModulesTest(unittest.TestCase):
    def test_no_library_is_imported_that_the_project_does_not_use(self) -> None:
        encode([datetime.date(2026, 1, 1)])
        self.assertNotIn("numpy", sys.modules)
        self.assertNotIn("pandas", sys.modules)


if __name__ == "__main__":
    unittest.main()
