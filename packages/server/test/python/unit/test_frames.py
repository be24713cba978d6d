"""Frames have the bytes of the vectors, which the Node process runs as well."""

import json
import unittest
from pathlib import Path
from typing import Any, NamedTuple

from svc_executor.frames import BrokenFrame, FrameDecoder, encode_frame

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "frames.json").read_text(encoding="utf-8"))


class Place(NamedTuple):
    row: Any
    column: Any


class FramesTest(unittest.TestCase):
    def decoded(self, data: bytes, size: int) -> list:
        decoder = FrameDecoder()
        found = []
        for at in range(0, len(data), size):
            for header, parts in decoder.push(data[at : at + size]):
                found.append((header, [part.decode() for part in parts]))
        return found

    def expected(self) -> list:
        return [(frame["header"], frame["parts"]) for frame in VECTORS["frames"]]

    def test_frames_of_the_vectors_are_decoded_from_any_pieces(self) -> None:
        data = bytes.fromhex("".join(frame["hex"] for frame in VECTORS["frames"]))
        for size in (1, 7, len(data)):
            self.assertEqual(self.decoded(data, size), self.expected())

    def test_encoded_frames_are_decoded(self) -> None:
        for header, parts in self.expected():
            data = b"".join(encode_frame(header, [part.encode() for part in parts]))
            self.assertEqual(self.decoded(data, len(data)), [(header, parts)])

    def test_what_json_lacks_is_sent_without_breaking_the_frame(self) -> None:
        data = b"".join(encode_frame({"kind": "put", "metadata": {"score": float("nan"), "of": [b"x"], (1, 2): 3}}))
        self.assertEqual(self.decoded(data, len(data))[0][0]["metadata"], {"score": None, "of": ["b'x'"], "(1, 2)": 3})

    def test_named_tuples_are_sent_as_lists(self) -> None:
        data = b"".join(encode_frame({"kind": "put", "metadata": {"at": Place(1, Place("x", None))}}))
        self.assertEqual(self.decoded(data, len(data))[0][0]["metadata"], {"at": [1, ["x", None]]})

    def test_other_bytes_are_refused(self) -> None:
        for vector in VECTORS["broken"]:
            with self.subTest(vector["why"]), self.assertRaises(BrokenFrame):
                FrameDecoder().push(bytes.fromhex(vector["hex"]))


if __name__ == "__main__":
    unittest.main()
