"""Arrays of numpy and tables of pandas are stored and restored. Needs both libraries."""

import json
import unittest
from typing import Any

import numpy as np
import pandas as pd
from svc_executor.allowlist import Allowlist
from svc_executor.refusal import ValueRefused
from svc_executor.values import decode, encode


def restored(value: Any) -> Any:
    return decode(encode(value), Allowlist())


class ArraysTest(unittest.TestCase):
    def test_arrays_are_restored(self) -> None:
        arrays = [
            np.array([[1, 2], [3, 4]], dtype="int32"),
            np.array([0.1, -0.0, np.nan, np.inf], dtype="float64"),
            np.array([0.1, 1 / 3, np.nan], dtype="float32"),
            np.array([0.1, 65504], dtype="float16"),
            np.array([True, False]),
            np.array([2**63, 1], dtype="uint64"),
            np.array([-(2**63)], dtype="int64"),
            np.array(["a", "bc"]),
            np.array([b"a\xff"]),
            np.array([1 + 2j], dtype="complex128"),
            np.array(["2026-01-02T03:04:05.678901", "NaT"], dtype="datetime64[us]"),
            np.array([1, 2], dtype="timedelta64[s]"),
            np.zeros((0, 3)),
            np.array(5),
            np.asfortranarray(np.arange(6).reshape(2, 3)),
            np.arange(10)[::2],
            np.array([1], dtype=">i4"),
        ]
        for array in arrays:
            with self.subTest(array=array):
                read = restored({"a": array})["a"]
                self.assertEqual(read.dtype, array.dtype)
                self.assertEqual(read.shape, array.shape)
                np.testing.assert_array_equal(read, array)
                read.flat[:] = read.flat[:]  # it can be written to

    def test_scalars_are_restored(self) -> None:
        for scalar in (np.float32(0.1), np.float64(0.1), np.int64(2**60), np.bool_(True), np.str_("x")):
            with self.subTest(scalar=scalar):
                read = restored(scalar)
                self.assertIs(type(read), type(scalar))
                self.assertEqual(read, scalar)

    def test_the_numbers_of_small_floats_are_short(self) -> None:
        tree = json.loads(encode(np.array([0.1], dtype="float32")))
        self.assertEqual(tree["of"], [0.1])

    def test_other_arrays_are_refused(self) -> None:
        for array in (np.array([object()]), np.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")])):
            with self.assertRaisesRegex(ValueRefused, "value.a is an array of .*, which cannot be stored"):
                encode({"a": array})


class TablesTest(unittest.TestCase):
    def test_tables_are_restored(self) -> None:
        frame = pd.DataFrame(
            {
                "number": [1, 2],
                "float": [0.5, np.nan],
                "text": ["a", None],
                "flag": [True, False],
                "day": pd.to_datetime(["2026-01-02", None]),
            },
            index=["x", "y"],
        )
        pd.testing.assert_frame_equal(restored(frame), frame)
        pd.testing.assert_frame_equal(restored(pd.DataFrame()), pd.DataFrame())
        series = pd.Series([1, 2], name="s", index=[5, 6])
        pd.testing.assert_series_equal(restored(series), series)

    def test_other_tables_are_refused(self) -> None:
        frame = pd.DataFrame({"a": pd.Categorical(["x"])})
        with self.assertRaisesRegex(ValueRefused, "has the type category, which cannot be stored"):
            encode(frame)


if __name__ == "__main__":
    unittest.main()
