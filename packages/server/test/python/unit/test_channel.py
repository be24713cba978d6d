"""The channel sends and answers frames, and lets synchronous code in threads use it."""

import asyncio
import socket
import unittest
from collections.abc import Sequence
from typing import Any

from svc_executor.channel import CallFailed, Channel
from svc_executor.frames import Frame, FrameDecoder, Header, encode_frame


class Peer:
    """The other end of a channel."""

    def __init__(self, own: socket.socket) -> None:
        self._socket = own
        self._decoder = FrameDecoder()
        self._frames: list[Frame] = []

    async def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        await asyncio.get_running_loop().sock_sendall(self._socket, b"".join(encode_frame(header, parts)))

    async def next(self) -> Frame:
        while not self._frames:
            self._frames += self._decoder.push(await asyncio.get_running_loop().sock_recv(self._socket, 65536))
        return self._frames.pop(0)


class ChannelTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        own, other = socket.socketpair()
        own.setblocking(False)
        other.setblocking(False)
        self.other = other
        self.peer = Peer(other)
        loop = asyncio.get_running_loop()
        self.transport, self.channel = await loop.create_connection(lambda: Channel(self.answer, lambda: None), sock=own)

    async def asyncTearDown(self) -> None:
        self.transport.close()
        self.other.close()

    async def answer(self, header: Header, parts: list[bytes]) -> Any:
        if header["kind"] == "fail":
            raise ValueError("it failed")
        return {"doubled": 2 * header["number"]}, parts

    async def test_a_call_is_answered_with_parts_or_with_the_error(self) -> None:
        await self.peer.send({"kind": "double", "call": 1, "number": 4}, [b"[]"])
        self.assertEqual(await self.peer.next(), ({"kind": "reply", "call": 1, "doubled": 8}, [b"[]"]))
        await self.peer.send({"kind": "fail", "call": 2})
        header, _ = await self.peer.next()
        self.assertEqual((header["error"], header["error_type"]), ("it failed", "ValueError"))

    async def test_own_calls_wait_for_their_replies(self) -> None:
        first, second = (asyncio.create_task(self.channel.call({"kind": "get", "of": of})) for of in "ab")
        calls = {header["of"]: header["call"] for header, _ in [await self.peer.next(), await self.peer.next()]}
        await self.peer.send({"kind": "reply", "call": calls["b"], "error": "no such checkpoint"})
        await self.peer.send({"kind": "reply", "call": calls["a"], "found": True}, [b"1"])
        header, parts = await first
        self.assertEqual((header["found"], parts), (True, [b"1"]))
        with self.assertRaisesRegex(CallFailed, "no such checkpoint"):
            await second

    async def test_a_thread_may_wait_for_the_loop_and_the_loop_itself_may_not(self) -> None:
        async def work() -> int:
            return 7

        self.assertEqual(await asyncio.to_thread(lambda: self.channel.from_thread(work())), 7)
        with self.assertRaisesRegex(RuntimeError, "await its asynchronous form"):
            self.channel.from_thread(work())

    async def test_a_sender_waits_while_nobody_reads(self) -> None:
        self.channel.send({"kind": "chunks"}, [b"x" * 8_000_000])
        await asyncio.sleep(0)
        drained = asyncio.create_task(self.channel.drain())
        done, _ = await asyncio.wait([drained], timeout=0.05)
        self.assertFalse(done)
        await self.peer.next()
        await drained


if __name__ == "__main__":
    unittest.main()
