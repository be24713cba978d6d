"""Drives Python graphs with the stock Python client: sdk.py <url> <seconds>."""

import asyncio
import json
import sys
from typing import Any

from langgraph_sdk import get_client


async def main(url: str) -> dict[str, Any]:
    client = get_client(url=url)
    thread = (await client.threads.create())["thread_id"]
    events: list[str] = []
    async for part in client.runs.stream(
        thread, "model", input={"messages": "hi"}, stream_mode=["values", "updates", "messages-tuple", "custom"], stream_subgraphs=True
    ):
        events.append(part.event)
    state = await client.threads.get_state(thread)
    waiting = (await client.threads.create())["thread_id"]
    asked = await client.runs.wait(waiting, "outer", input={"items": ["start"]})
    answered = await client.runs.wait(waiting, "outer", command={"resume": "yes"})
    history = await client.threads.get_history(waiting)
    return {
        "events": sorted(set(events)),
        "messages": [message["content"] for message in state["values"]["messages"]],
        "asked": asked["__interrupt__"][0]["value"]["question"],
        "answered": answered["items"],
        "steps": [one["metadata"]["step"] for one in history],
    }


print(json.dumps(asyncio.run(asyncio.wait_for(main(sys.argv[1]), float(sys.argv[2])))))
