"""The executor ends every run that it has received, and searches for garbage less often."""

import asyncio
import gc
import json
import logging
import socket
import unittest
from pathlib import Path
from typing import Any

from svc_executor import executor
from svc_executor.channel import Channel
from svc_executor.frames import Header, encode_frame
from test_channel import Peer

GRAPHS = Path(__file__).parents[1] / "graphs"


def run_frame(graph: str, values: dict[str, Any]) -> list[bytes]:
    run = {
        "kind": "run",
        "session": 1,
        "graph": graph,
        "config": {"configurable": {"thread_id": "1"}},
        "modes": ["values"],
        "subgraphs": False,
        "durability": "async",
        "temporary": False,
        "blank": True,
        "pauses": False,
        "passes": False,
        "shows_start": False,
    }
    return encode_frame(run, [json.dumps({"input": values}).encode(), b"null"])


class ExecutorTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.addCleanup(gc.set_threshold, *gc.get_threshold())
        self.addCleanup(gc.unfreeze)
        log = logging.getLogger()
        self.addCleanup(setattr, log, "handlers", [*log.handlers])
        own, self.other = socket.socketpair()
        own.setblocking(False)
        self.other.setblocking(False)
        self.peer = Peer(self.other)
        loop = asyncio.get_running_loop()
        self.transport, channel = await loop.create_connection(lambda: Channel(self.receive, lambda: None), sock=own)
        file = str(GRAPHS / "barrier.py")
        sources = {name: {"file": file, "export": name} for name in ("probe", "ignoring")}
        setup = {"graphs": sources, "paths": [str(GRAPHS)]}
        _, self.handler = await executor.start(setup, channel)

    async def asyncTearDown(self) -> None:
        self.transport.close()
        self.other.close()

    async def receive(self, header: Header, parts: list[bytes]) -> Any:
        return await self.handler(header, parts)

    async def end(self) -> Header:
        while (frame := await self.peer.next())[0]["kind"] != "end":
            pass
        return frame[0]

    async def test_a_run_that_is_cancelled_before_it_begins_ends(self) -> None:
        # Both frames arrive in one turn of the event loop.
        frames = [*run_frame("probe", {"ms": 60_000}), *encode_frame({"kind": "cancel", "session": 1})]
        await asyncio.get_running_loop().sock_sendall(self.other, b"".join(frames))
        async with asyncio.timeout(20):
            self.assertEqual((await self.end())["error"]["name"], "CancelledError")

    async def test_a_run_whose_node_ignores_the_cancel_executes_no_further_node(self) -> None:
        await asyncio.get_running_loop().sock_sendall(self.other, b"".join(run_frame("ignoring", {"ms": 60_000})))
        async with asyncio.timeout(20):
            while '"next":["ignore"]' not in json.dumps((await self.peer.next())[0], separators=(",", ":")):
                pass
            await self.peer.send({"kind": "cancel", "session": 1})
            self.assertEqual((await self.end())["error"]["name"], "CancelledError")

    async def test_loaded_graphs_are_excluded_from_garbage_collection_and_cycles_of_runs_are_not(self) -> None:
        await self.handler({"kind": "load"}, [])
        self.assertFalse(any(found is type(self) for found in gc.get_objects()))
        cycle: list[Any] = []
        cycle.append(cycle)
        self.assertTrue(any(found is cycle for found in gc.get_objects()))

    async def test_a_project_chooses_the_threshold_of_garbage_collection(self) -> None:
        self.assertEqual(gc.get_threshold()[0], 5_000)
        for chosen in (0, 50_000):
            gc.set_threshold(chosen)
            await self.handler({"kind": "load"}, [])
            self.assertEqual(gc.get_threshold()[0], chosen)


if __name__ == "__main__":
    unittest.main()
