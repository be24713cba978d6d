"""The engine alone, with its saver in memory. Reads a measurement from each line of its input, and writes the figures as a line."""

import asyncio
import json
import sys
import time
import uuid
from typing import Any

from graph import builders
from langgraph.checkpoint.memory import InMemorySaver

saver = InMemorySaver()
graphs = {name: builder.compile(checkpointer=saver) for name, builder in builders.items()}


async def run(work: dict[str, Any]) -> float:
    """One run. Returns its milliseconds, until its end or its first token."""
    graph = graphs[work["graph"]]
    config: Any = {"configurable": {"thread_id": work.get("thread") or str(uuid.uuid4())}}
    started = time.perf_counter()
    if not work["streams"]:
        await graph.ainvoke(work["input"], config)
        return (time.perf_counter() - started) * 1000
    first = 0.0
    async for _ in graph.astream(work["input"], config, stream_mode="messages"):
        first = first or (time.perf_counter() - started) * 1000
    return first


async def measure(work: dict[str, Any]) -> dict[str, Any]:
    """Executes `count` runs by `clients` at once."""
    each = work["count"] // work["clients"]
    cpu, started = time.process_time(), time.perf_counter()

    async def client() -> list[float]:
        return [await run(work) for _ in range(each)]

    found = await asyncio.gather(*(client() for _ in range(work["clients"])))
    took = time.perf_counter() - started
    return {"ms": sum(found, []), "tookMs": took * 1000, "cpuMs": (time.process_time() - cpu) * 1000}


def main() -> None:
    """Serves measurements until the input ends."""
    print(json.dumps({"ready": True}), flush=True)
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            print(json.dumps(runner.run(measure(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
